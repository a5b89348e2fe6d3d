"""RESULTS.md out of answers."""

import dataclasses

from instrument.answers import Answer, Lines, Series, Table
from instrument.figures import Figure
from instrument.page import render
from instrument.results import Result

RESULT = Result(
    name="latency",
    title="How soon is a record acknowledged?",
    command="python bench/latency.py",
    begun="2026-11-30 22:00",
    seconds=61.4,
    rounds=5,
    quick=False,
    machine={"Python": "3.11.7", "kernel": "Linux 6"},
    answer=Answer(
        figures=[
            Figure("p50 / Kafka", [0.5, 0.7, 0.6], 1.0, at_most=True),
            Figure("p99 / Kafka", [1.5], 1.0, at_most=True, detail="the collector"),
            Figure("p50", [0.2], unit="ms"),
        ],
        tables=[Table("At 1,000 a second", ("client", "p50"), [("confluent", 0.2)])],
        plots=[Lines("percentiles", "Percentiles", "%", "ms", [Series("wirekafka", [1], [1])])],
        notes=["Tansu was not there."],
    ),
)
OTHER = dataclasses.replace(
    RESULT,
    name="codec",
    title="How fast?",
    quick=True,
    machine={"Python": "3.12.1", "kernel": "Linux 6"},
    answer=Answer(),
)


def lines(*results: Result, **unanswered: str) -> list[str]:
    return render(results, {"kfake": "v1"}, unanswered).splitlines()


def cells(line: str) -> list[str]:
    return [part.strip() for part in line.strip("|").split("|")]


def test_targets_stand_at_the_top_with_those_missed_counted_and_marked() -> None:
    """Whoever opens the page sees first what was not reached."""
    page = lines(RESULT)
    top = page[page.index("## Targets") : page.index("## Machine and versions")]

    assert "1 of 2 are met." in top
    assert "- [latency](#latency) p99 / Kafka" in top
    assert [cells(line) for line in top if line.startswith("| [")] == [
        ["[latency](#latency)", "p50 / Kafka", "0.60 (0.50 to 0.70)", "at most 1", "met"],
        ["[latency](#latency)", "p99 / Kafka", "1.50", "at most 1", "**MISSED**"],
    ]


def test_page_without_any_target_has_no_table_of_them() -> None:
    """Zero of zero are met says nothing."""
    assert "## Targets" not in lines(OTHER)


def test_machine_is_what_all_results_say_alike() -> None:
    """What differs stands with the question, so that no figure is laid to another machine."""
    page = lines(RESULT, OTHER)
    table = [cells(line) for line in page if line.startswith("| k")]

    assert table == [["kernel", "Linux 6"], ["kfake", "v1"]]
    assert any(line.startswith("`python bench/latency.py`") and "Python 3.11.7" in line for line in page)


def test_section_has_command_figures_details_plots_tables_and_notes() -> None:
    """All of an answer, under the name of its question."""
    page = lines(RESULT)
    section = page[page.index("## latency") :]

    assert section[2] == "*How soon is a record acknowledged?*"
    assert section[4] == "`python bench/latency.py`; rounds: 5; 61 s; 2026-11-30 22:00 UTC."
    assert ["p99 / Kafka", "1.50", "1", "at most 1", "MISSED", "the collector"] in map(cells, section)
    assert "![Percentiles](results/latency-percentiles.svg)" in section
    assert "**At 1,000 a second**" in section
    assert section[-1] == "Tansu was not there."


def test_quick_run_is_said_to_be_one() -> None:
    """Nobody is to quote it."""
    (line,) = [line for line in lines(RESULT, OTHER) if "quick run" in line]

    assert line.startswith("`python bench/latency.py`")


def test_question_without_an_answer_is_told_with_the_reason() -> None:
    """A page that leaves it out in silence would look whole."""
    page = lines(RESULT, paper="failed with status 1")

    assert ["paper", "failed with status 1"] in [cells(line) for line in page]


def test_long_table_is_folded() -> None:
    """So that the next question is still found."""
    table = Table("Every message", ("message", "us"), [(f"m{n}", n) for n in range(31)])
    page = lines(dataclasses.replace(RESULT, answer=Answer(tables=[table])))

    assert "<details><summary><b>Every message</b></summary>" in page
    assert page[-1] == "</details>"
