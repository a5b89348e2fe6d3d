"""Numbers, figures and tables as text: on the terminal, and in Markdown. Called by `question` and `page`."""

from collections.abc import Sequence

from instrument.answers import Answer, Cell, Spread, Table
from instrument.figures import Figure


def number(value: float) -> str:
    """Three figures, and thousands apart; whole numbers as they are."""
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 0.0995 or value == 0 else f"{value:.2g}"


def spread(samples: Sequence[float], unit: str = "") -> str:
    """The median, with the least and the most where there are several; a dash for none."""
    if not samples:
        return "-"
    text = number(Spread(samples).median) + (f" {unit}" if unit else "")
    if len(samples) < 2:
        return text
    return f"{text} ({number(min(samples))} to {number(max(samples))})"


def cell(value: Cell) -> str:
    """What stands in a table."""
    if isinstance(value, str):
        return value
    return spread(value.samples, value.unit) if isinstance(value, Spread) else number(value)


def target(figure: Figure) -> str:
    """What it should be; empty where there is no target."""
    if figure.target is None:
        return ""
    unit = f" {figure.unit}" if figure.unit else ""
    return f"{'at most' if figure.at_most else 'at least'} {figure.target:g}{unit}"


def verdict(figure: Figure) -> str:
    """Whether the target is met; empty where there is none."""
    if figure.target is None:
        return ""
    return "MISSED" if figure.missed else "met"


def figure_table(figures: Sequence[Figure], title: str = "") -> Table:
    """Figures one a row; targets and details have columns where any has one."""
    columns = [("figure", [_name(figure) for figure in figures])]
    columns.append(("median (least to most)", [spread(figure.samples, figure.unit) for figure in figures]))
    columns.append(("runs", [number(len(figure.samples)) for figure in figures]))
    if any(figure.target is not None for figure in figures):
        columns.append(("target", [target(figure) for figure in figures]))
        columns.append(("", [verdict(figure) for figure in figures]))
    if any(figure.detail for figure in figures):
        columns.append(("detail", [figure.detail for figure in figures]))
    cells = [column for _, column in columns]
    return Table(title, [name for name, _ in columns], list(zip(*cells, strict=True)))


def _name(figure: Figure) -> str:
    """One that is set in belongs to the one above it."""
    return f"- {figure.name.strip()}" if figure.name.startswith(" ") else figure.name


def markdown(table: Table) -> list[str]:
    """The lines of a table, as wide as they must be, so that they are read on a terminal too."""
    cells = [list(table.columns)] + [[cell(value) for value in row] for row in table.rows]
    widths = [max(3, *(len(row[n]) for row in cells)) for n in range(len(table.columns))]
    right = [False] + [all(_is_number(row[n]) for row in cells[1:]) for n in range(1, len(widths))]
    rule = "|".join(
        ("-" * (width + 1) + ":") if r else "-" * (width + 2) for width, r in zip(widths, right, strict=True)
    )
    lines = [_line(row, widths, right) for row in cells]
    return [lines[0], f"|{rule}|", *lines[1:]]


def _is_number(text: str) -> bool:
    """Or a gap among numbers."""
    return text == "" or text.lstrip("-")[:1].isdigit() or text == "-"


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        text.rjust(width) if r else text.ljust(width)
        for text, width, r in zip(row, widths, right, strict=True)
    )
    return f"| {' | '.join(padded)} |"


def terminal(answer: Answer) -> str:
    """All that can be said without a picture."""
    parts = ["\n".join([table.title, *markdown(table)]) for table in answer.tables]
    if answer.figures:
        parts.append("\n".join(markdown(figure_table(answer.figures))))
    return "\n\n".join([*parts, *answer.notes])
