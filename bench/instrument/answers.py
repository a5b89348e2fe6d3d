"""What a question gives back: figures, tables, plots and notes. Made by the questions, kept by `results`."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from instrument.figures import Figure


@dataclass(frozen=True, slots=True)
class Spread:
    """Measurements of one thing: shown as the median, the least and the most. None stand for a gap."""

    samples: Sequence[float]
    unit: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


Cell = str | float | int | Spread


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below a head. The first column names the row."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a plot; between `low` and `high` lie its measurements."""

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """A plot of lines. `name` is that of its file, within the question."""

    name: str
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """A plot of bars: for each group one of each series. `name` is that of its file, within the question."""

    name: str
    title: str
    y_label: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[Spread]]
    log_y: bool = False


Plot = Lines | Bars


@dataclass(frozen=True, slots=True)
class Answer:
    """All that a question found."""

    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    """What the reader must know to read the rest: a sentence or a few each."""
