"""An answer in a file: `bench/results/NAME.json`. Written by `question`, read by `page`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from instrument.answers import Answer, Bars, Cell, Lines, Plot, Series, Spread, Table
from instrument.figures import Figure

RESULTS = Path(__file__).resolve().parent.parent / "results"


@dataclass(frozen=True, slots=True)
class Result:
    """An answer, and how it came about."""

    name: str
    title: str
    command: str
    begun: str
    """Date and time, UTC."""
    seconds: float
    rounds: int
    quick: bool
    machine: Mapping[str, str]
    answer: Answer


def write(result: Result, folder: Path) -> Path:
    """Put it into the folder, under its question's name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.name}.json"
    data = asdict(result)
    for plot, kept in zip(result.answer.plots, data["answer"]["plots"], strict=True):
        kept["kind"] = type(plot).__name__
    lines = [f"{json.dumps(key)}: {json.dumps(_rounded(value))}" for key, value in data.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return path


def _rounded(value: Any) -> Any:
    """Numbers to six figures, in whatever they stand in: a clock knows no more."""
    match value:
        case float():
            return float(f"{value:.6g}")
        case dict():
            return {key: _rounded(one) for key, one in value.items()}
        case list() | tuple():
            return [_rounded(one) for one in value]
    return value


def read(path: Path) -> Result:
    """Give back what was written."""
    data = json.loads(path.read_text(encoding="utf-8"))
    found = data.pop("answer")
    answer = Answer(
        figures=[Figure(**figure) for figure in found["figures"]],
        tables=[_table(table) for table in found["tables"]],
        plots=[_plot(plot) for plot in found["plots"]],
        notes=found["notes"],
    )
    return Result(**data, answer=answer)


def plot_file(question: str, plot: Plot) -> str:
    """The name of a plot's picture: that of the question stands first."""
    stem = plot.name if plot.name.startswith(question) else f"{question}-{plot.name}"
    return f"{stem}.svg"


# What json.loads gives has no types.
def _table(data: dict[str, Any]) -> Table:
    rows = [[_cell(value) for value in row] for row in data["rows"]]
    return Table(data["title"], data["columns"], rows)


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        return Spread(**value)
    kept: Cell = value
    return kept


def _plot(data: dict[str, Any]) -> Plot:
    kind, series = data.pop("kind"), data.pop("series")
    if kind == Lines.__name__:
        return Lines(**data, series=[Series(**one) for one in series])
    bars = {name: [Spread(**one) for one in spreads] for name, spreads in series.items()}
    return Bars(**data, series=bars)
