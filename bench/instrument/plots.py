"""Plots as SVG, all in one style: by matplotlib, and where that is not installed not at all.

Called by `question`. A line has its measurements as a band around it, a bar as a whisker; names stand at the
lines' ends where there is room, else in a legend. One broker has one colour in all plots.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
"""By the rival's name; other names have the others in their order."""
OTHERS = ("#30638e", "#3d9a6d", "#e0a030", "#8a6fb0", "#d1495b", "#5aa0b8", "#7a5c45", "#9a9a9a")
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


def colours(names: Sequence[str]) -> list[str]:
    """A colour for each, the brokers always their own."""
    free = [colour for colour in OTHERS if colour not in {COLOURS[name] for name in names if name in COLOURS}]
    found = []
    for name in names:
        found.append(COLOURS[name] if name in COLOURS else free[0])
        free = [*free[1:], free[0]] if name not in COLOURS else free
    return found


def _draw_lines(axes: "Axes", plot: Lines) -> None:
    axes.set_xlabel(plot.x_label)
    for series, colour in zip(plot.series, colours([one.name for one in plot.series]), strict=True):
        marker = "o" if len(series.xs) <= _MOST_MARKED else ""
        axes.plot(
            series.xs, series.ys, color=colour, linewidth=2, marker=marker, markersize=4.5, label=series.name
        )
        if series.low is not None and series.high is not None:
            axes.fill_between(series.xs, series.low, series.high, color=colour, alpha=0.18, linewidth=0)
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
    for n, (name, colour) in enumerate(zip(plot.series, colours(list(plot.series)), strict=True)):
        spreads = plot.series[name]
        places = [group - 0.4 + width * (n + 0.5) for group in range(len(plot.groups))]
        heights = [spread.median for spread in spreads]
        lows = [spread.median - min(spread.samples) for spread in spreads]
        highs = [max(spread.samples) - spread.median for spread in spreads]
        axes.bar(places, heights, width * 0.92, color=colour, label=name)
        axes.errorbar(places, heights, [lows, highs], fmt="none", ecolor=_INK, elinewidth=1, capsize=2.5)
        for place, spread in zip(places, spreads, strict=True) if few else ():
            _write_number(axes, place, spread)
    axes.set_xticks(range(len(plot.groups)), plot.groups)
    axes.tick_params(axis="x", length=0)
    _scale_axis(axes, "y", is_log=plot.log_y)
    if len(plot.series) > 1:
        _put_legend(axes)


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
    elif which == "y":
        axes.set_ylim(bottom=0)
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.10g}"


def _put_legend(axes: "Axes") -> None:
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=5, columnspacing=1.4, handlelength=1.2, borderpad=0
    )


def _end_together(axes: "Axes", every: Sequence[Series]) -> bool:
    """Whether the names can stand behind the lines: few lines, which end at the right."""
    ends = [_place(axes, series)[0] for series in every]
    return len(every) <= _MOST_NAMES_AT_ENDS and min(ends) > _LEAST_RIGHT


def _name_at_ends(axes: "Axes", every: Sequence[Series]) -> None:
    """Write the name of each line behind its last point, moved up where two would touch."""
    names = colours([series.name for series in every])
    places = [_place(axes, series) for series in every]
    height = -1.0
    for (x, y), series, colour in sorted(zip(places, every, names, strict=True), key=lambda one: one[0][1]):
        height = max(y, height + _LEAST_BETWEEN_NAMES)
        axes.annotate(
            series.name,
            (x, height),
            xycoords="axes fraction",
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
            annotation_clip=False,
        )


def _place(axes: "Axes", series: Series) -> tuple[float, float]:
    """Where a line ends, as fractions of the plot's width and height."""
    axes.get_xlim(), axes.get_ylim()  # both are found when they are asked for
    x, y = (axes.transData + axes.transAxes.inverted()).transform((series.xs[-1], series.ys[-1]))
    return float(x), float(y)
