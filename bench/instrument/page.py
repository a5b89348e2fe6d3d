"""All answers on one page of Markdown: bench/RESULTS.md. Called by `all.py`."""

from collections.abc import Iterator, Mapping, Sequence

from instrument.answers import Table
from instrument.results import Result, plot_file
from instrument.text import figure_table, markdown, spread, target, verdict

_HEAD = """# Results

Written by `make bench` (`bench/all.py`) from `bench/results/*.json`; not by hand. [README.md](README.md) says
what each question means. A figure is the median of its runs, with the least and the most; a ratio is of two
turns, one right after the other in one run. Absolute times belong to the machine, ratios travel."""

_MOST_ROWS_UNFOLDED = 30


def render(results: Sequence[Result], rivals: Mapping[str, str], unanswered: Mapping[str, str]) -> str:
    """The whole page. `rivals` are their versions, `unanswered` says why by the question's name."""
    parts = [_HEAD, *_targets(results), *_machine(results, rivals)]
    if unanswered:
        rows = [(name, reason) for name, reason in unanswered.items()]
        parts.append(_block("## Without an answer", *markdown(Table("", ("question", "why"), rows))))
    common = _common(results)
    for result in results:
        parts += _section(result, common)
    return "\n\n".join(parts) + "\n"


def _block(title: str, *lines: str) -> str:
    return "\n".join([title, "", *lines])


def _targets(results: Sequence[Result]) -> Iterator[str]:
    """Every figure that has a target, with those that are missed counted."""
    rows = [
        (
            f"[{result.name}](#{result.name})",
            figure.name.strip(),
            spread(figure.samples, figure.unit),
            target(figure),
            f"**{verdict(figure)}**" if figure.missed else verdict(figure),
        )
        for result in results
        for figure in result.answer.figures
        if figure.target is not None
    ]
    if not rows:
        return
    missed = [f"{row[0]} {row[1]}" for row in rows if "MISSED" in row[-1]]
    yield f"## Targets\n\n{len(rows) - len(missed)} of {len(rows)} are met."
    if missed:
        yield "\n".join(["Missed:", *(f"- {name}" for name in missed)])
    columns = ("question", "figure", "median (least to most)", "target", "")
    yield "\n".join(markdown(Table("", columns, rows)))


def _machine(results: Sequence[Result], rivals: Mapping[str, str]) -> Iterator[str]:
    rows = [*_common(results).items(), *(rivals.items())]
    yield _block("## Machine and versions", *markdown(Table("", ("what", "which"), rows)))


def _common(results: Sequence[Result]) -> dict[str, str]:
    """What all results say alike of the machine."""
    if not results:
        return {}
    return {
        name: value
        for name, value in results[0].machine.items()
        if all(result.machine.get(name) == value for result in results)
    }


def _section(result: Result, common: Mapping[str, str]) -> Iterator[str]:
    yield f"## {result.name}"
    yield f"*{result.title}*"
    yield _how(result, common)
    answer = result.answer
    if answer.figures:
        yield "\n".join(markdown(figure_table(answer.figures)))
    yield from (f"![{plot.title}](results/{plot_file(result.name, plot)})" for plot in answer.plots)
    yield from map(_table, answer.tables)
    yield from answer.notes


def _table(table: Table) -> str:
    """A long one is folded."""
    if len(table.rows) <= _MOST_ROWS_UNFOLDED:
        return _block(f"**{table.title}**", *markdown(table))
    return _block(f"<details><summary><b>{table.title}</b></summary>", *markdown(table), "", "</details>")


def _how(result: Result, common: Mapping[str, str]) -> str:
    words = [
        f"`{result.command}`",
        f"rounds: {result.rounds}",
        f"{result.seconds:,.0f} s",
        f"{result.begun} UTC",
    ]
    words += [f"{name} {value}" for name, value in result.machine.items() if name not in common]
    said = "; ".join(words)
    return f"{said}. **A quick run, whose figures say little.**" if result.quick else f"{said}."
