"""Plots as SVG, all in one style: by matplotlib, and where that is not installed not at all.

Called by `question`. A line has its measurements as a band around it, a bar as a whisker; names stand at the
lines' ends where there is room, else in a legend. One broker has one colour in all plots.
"""

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from instrument.answers import Bars, Lines, Plot, Series, Spread
from instrument.results import plot_file
from instrument.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "wirekafka": "#d1495b",
    "apache-kafka": "#30638e",
    "kfake": "#3d9a6d",
    "tansu": "#e0a030",
    "librdkafka-mock": "#8a6fb0",
    "rabbitmq": "#e0752d",
    "activemq": "#6d8b3c",
}
"""By what a name begins with; other names have the others in their order."""
OTHERS = ("#30638e", "#3d9a6d", "#e0a030", "#8a6fb0", "#d1495b", "#5aa0b8", "#7a5c45", "#9a9a9a")
BESIDE = "Apache Kafka: "
"""A line whose name is this and another line's has the same colour, and is dashed."""
_NO_LABEL = "_"
_DASHES = ("-", "--", ":", "-.")
_INK, _FAINT = "#333333", "#e3e3e3"
_STYLE: dict[Any, object] = {  # matplotlib knows its keys one by one
    "figure.figsize": (8.0, 4.5),
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 11,
    "text.color": _INK,
    "axes.edgecolor": "#999999",
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _FAINT,
    "xtick.color": "#666666",
    "ytick.color": "#666666",
    "legend.frameon": False,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.1,
    "svg.fonttype": "none",
    "svg.hashsalt": "wirekafka",
}
_WITHOUT_DATE = {"Date": None}
_MOST_NAMES_AT_ENDS = 8
_LEAST_BETWEEN_NAMES, _LEAST_RIGHT = 0.055, 0.85
"""Fractions of the plot's height and width."""
_LONGEST_AT_ENDS, _LETTERS_A_LINE, _LETTERS_OF_A_HANDLE = 22, 84, 6
_MILLION = 1_000_000
_MOST_MARKED, _MOST_BARS_WITH_NUMBERS = 25, 18


def draw(question: str, plots: Sequence[Plot], folder: Path) -> None:
    """Draw every plot of a question into the folder."""
    if not plots:
        return
    try:
        import matplotlib
    except ImportError:
        print("  no matplotlib here: no plots (pip install 'wirekafka[bench]')", flush=True)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    with matplotlib.rc_context(_STYLE):
        for plot in plots:
            figure, axes = pyplot.subplots(layout="constrained")
            figure.suptitle(plot.title, x=0.015, ha="left", fontweight="bold", fontsize=13)
            axes.set_ylabel(plot.y_label)
            if isinstance(plot, Lines):
                _draw_lines(axes, plot)
            else:
                _draw_bars(axes, plot)
            figure.savefig(folder / plot_file(question, plot), metadata=_WITHOUT_DATE)
            pyplot.close(figure)


class Look(NamedTuple):
    """How a line or bar is told from the others."""

    colour: str
    dashes: str
    opacity: float


def looks(names: Sequence[str]) -> list[Look]:
    """A look for each: a broker has its own colour, a second line of the same broker other dashes."""
    alone = [name for name in names if _with(name, names) is None]
    brokers = [_broker(name) for name in alone]
    free = [colour for colour in OTHERS if colour not in {COLOURS.get(broker) for broker in brokers}]
    found: dict[str, Look] = {}
    for place, (name, broker) in enumerate(zip(alone, brokers, strict=True)):
        colour = COLOURS.get(broker) or free[brokers[:place].count("") % len(free)]
        earlier = sum(look.colour == colour for look in found.values())
        found[name] = Look(colour, _DASHES[earlier % len(_DASHES)], 0.6**earlier)
    for name in names:
        if (beside := _with(name, names)) is not None:
            found[name] = found[beside]._replace(dashes="--", opacity=0.6)
    return [found[name] for name in names]


def _with(name: str, names: Sequence[str]) -> str | None:
    """The line that this one stands beside."""
    other = name.removeprefix(BESIDE)
    return other if other != name and other in names else None


def _broker(name: str) -> str:
    """The broker that a name begins with; empty for none."""
    plain = name.lower().replace(" ", "-")
    return next((broker for broker in COLOURS if plain.startswith(broker)), "")


def _draw_lines(axes: "Axes", plot: Lines) -> None:
    axes.set_xlabel(plot.x_label)
    names = [one.name for one in plot.series]
    marker = "o" if max(len(one.xs) for one in plot.series) <= _MOST_MARKED else ""
    for series, look in zip(plot.series, looks(names), strict=True):
        label = series.name if _with(series.name, names) is None else _NO_LABEL
        (line,) = axes.plot(series.xs, series.ys, color=look.colour, linestyle=look.dashes, label=label)
        line.set(linewidth=2, marker=marker, markersize=4.5)
        if series.low is not None and series.high is not None:
            axes.fill_between(series.xs, series.low, series.high, color=look.colour, alpha=0.18, linewidth=0)
    if any(_with(name, names) for name in names):
        axes.plot([], [], color=_INK, linestyle="--", linewidth=2, label=BESIDE.rstrip(": "))
    _scale_axis(axes, "x", is_log=plot.log_x)
    _scale_axis(axes, "y", is_log=plot.log_y)
    if _end_together(axes, plot.series):
        _name_at_ends(axes, plot.series)
    else:
        _put_legend(axes)


def _draw_bars(axes: "Axes", plot: Bars) -> None:
    axes.grid(visible=False, axis="x")
    width = 0.8 / len(plot.series)
    few = len(plot.series) * len(plot.groups) <= _MOST_BARS_WITH_NUMBERS
    for n, (name, look) in enumerate(zip(plot.series, looks(list(plot.series)), strict=True)):
        at = [group - 0.4 + width * (n + 0.5) for group in range(len(plot.groups))]
        measured = [(place, one) for place, one in zip(at, plot.series[name], strict=True) if one.samples]
        places, spreads = [place for place, _ in measured], [spread for _, spread in measured]
        heights = [spread.median for spread in spreads]
        lows = [spread.median - min(spread.samples) for spread in spreads]
        highs = [max(spread.samples) - spread.median for spread in spreads]
        axes.bar(places, heights, width * 0.92, color=look.colour, alpha=look.opacity, label=name)
        axes.errorbar(places, heights, [lows, highs], fmt="none", ecolor=_INK, elinewidth=1, capsize=2.5)
        for place, spread in measured if few else ():
            _write_number(axes, place, spread)
    axes.set_xticks(range(len(plot.groups)), [_in_lines(group, len(plot.groups)) for group in plot.groups])
    axes.tick_params(axis="x", length=0)
    _scale_axis(axes, "y", is_log=plot.log_y)
    if len(plot.series) > 1:
        _put_legend(axes)


def _in_lines(group: str, groups: int) -> str:
    """A group's name broken where it would touch the next one's."""
    most = max(_LETTERS_A_LINE // groups, max((len(word) for word in group.split()), default=1))
    return "\n".join(textwrap.wrap(group, most, break_long_words=False)) or group


def _write_number(axes: "Axes", place: float, spread: Spread) -> None:
    axes.annotate(
        number(spread.median),
        (place, max(spread.samples)),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        fontsize=9,
    )


def _scale_axis(axes: "Axes", which: Literal["x", "y"], *, is_log: bool) -> None:
    """Logarithmic, or from 0 on; with numbers as people write them."""
    from matplotlib.ticker import FuncFormatter

    axis = {"x": axes.xaxis, "y": axes.yaxis}[which]
    if is_log:
        axes.set(**{f"{which}scale": "log"})
        axis.set_minor_formatter(FuncFormatter(lambda *_: ""))
        if which == "y":
            axes.set_ylim(_decades(*axes.get_ylim()))
    elif which == "y":
        axes.set_ylim(bottom=0)
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))


def _decades(least: float, most: float) -> tuple[float, float]:
    """Whole powers of ten around, so that what is flat looks flat."""
    return 10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(most))


def _tick(value: float) -> str:
    if value >= _MILLION:
        return f"{value / _MILLION:,.10g}M"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.10g}"


def _put_legend(axes: "Axes") -> None:
    widths = [len(name) + _LETTERS_OF_A_HANDLE for name in axes.get_legend_handles_labels()[1]]
    fits_one_line = sum(widths) <= _LETTERS_A_LINE
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=len(widths) if fits_one_line else max(1, _LETTERS_A_LINE // max(widths)),
        columnspacing=1.4,
        handlelength=2.0,
        borderpad=0,
    )


def _end_together(axes: "Axes", every: Sequence[Series]) -> bool:
    """Whether the names can stand behind the lines: few, short, and all lines end at the right."""
    ends = [_place(axes, series)[0] for series in every]
    longest = max(len(series.name) for series in every)
    return len(every) <= _MOST_NAMES_AT_ENDS and longest <= _LONGEST_AT_ENDS and min(ends) > _LEAST_RIGHT


def _name_at_ends(axes: "Axes", every: Sequence[Series]) -> None:
    """Write the name of each line behind its last point, moved up where two would touch."""
    names = looks([series.name for series in every])
    places = [_place(axes, series) for series in every]
    height = -1.0
    for (x, y), series, look in sorted(zip(places, every, names, strict=True), key=lambda one: one[0][1]):
        height = max(y, height + _LEAST_BETWEEN_NAMES)
        axes.annotate(
            series.name,
            (x, height),
            xycoords="axes fraction",
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=look.colour,
            fontweight="bold",
            annotation_clip=False,
        )


def _place(axes: "Axes", series: Series) -> tuple[float, float]:
    """Where a line ends, as fractions of the plot's width and height."""
    axes.get_xlim(), axes.get_ylim()  # both are found when they are asked for
    x, y = (axes.transData + axes.transAxes.inverted()).transform((series.xs[-1], series.ys[-1]))
    return float(x), float(y)
