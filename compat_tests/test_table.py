"""What a run's reports become in the table: one cell a story and client, the worst outcome shown.

Tests `table`; needs no broker.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import pytest

from compat_tests.table import NOT_OFFERED, NOT_SUPPORTED, Outcome, Results, cell_of

NODE = "compat_tests/stories/test_sharing.py::test_two_members_share[java-range]"


def report(
    outcome: Literal["passed", "failed", "skipped"],
    *,
    when: Literal["setup", "call", "teardown"] = "call",
    told: str | tuple[str, int, str] = "",
    node: str = NODE,
) -> pytest.TestReport:
    """Give a report as pytest makes one."""
    return pytest.TestReport(node, ("file", 1, "name"), {}, outcome, told, when)


def test_story_is_named_by_file_and_function() -> None:
    """A story's subject is its file's, its variant what the brackets hold."""
    results = Results()
    results.add(report("passed"), "java")

    assert results.stories() == [("sharing", "test_two_members_share")]
    assert results.counts("java") == Counter({Outcome.PASSED: 1})


def test_failing_teardown_fails_the_story() -> None:
    """A story that passed its call but failed its teardown has failed, and counts once."""
    results = Results()
    results.add(report("passed"), "java")
    results.add(report("failed", when="teardown", told="E   OSError: left open"), "java")

    assert results.counts("java") == Counter({Outcome.FAILED: 1})
    assert [failure.reason for failure in results.failures()] == ["OSError: left open"]


def test_failing_setup_fails_the_story() -> None:
    """A story whose fixtures failed was never called, and has failed."""
    results = Results()
    results.add(report("failed", when="setup", told="broken"), "java")

    assert results.counts("java", "test_two_members_share") == Counter({Outcome.FAILED: 1})


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (f"{NOT_SUPPORTED}java: seek: cannot", Outcome.NOT_SUPPORTED),
        (f"{NOT_OFFERED}no such request", Outcome.NOT_OFFERED),
        ("it rains", Outcome.SKIPPED),
    ],
)
def test_skip_is_told_by_its_reason(reason: str, outcome: Outcome) -> None:
    """What the client cannot do, what the broker does not offer, and other skips are told apart."""
    results = Results()
    results.add(report("skipped", when="setup", told=("file", 1, f"Skipped: {reason}")), "java")

    assert results.counts("java") == Counter({outcome: 1})


def test_results_are_read_as_written(tmp_path: Path) -> None:
    """Kept results give the same counts, clients and failures."""
    results = Results()
    results.add(report("failed", told="E   AssertionError: no"), "java")
    results.add(report("passed", node=NODE.replace("java", "kcat")), "kcat")
    results.write(tmp_path / "results.json")
    read = Results.read(tmp_path / "results.json")

    assert read.clients() == ["java", "kcat"]
    assert read.failures() == results.failures()
    assert read.counts("kcat") == Counter({Outcome.PASSED: 1})


def test_cell_counts_only_where_variants_differ() -> None:
    """One sign stands for all variants; numbers say how many went which way."""
    alike = cell_of(Counter({Outcome.PASSED: 3}))
    mixed = cell_of(Counter({Outcome.NOT_SUPPORTED: 1, Outcome.PASSED: 4}))

    assert [alike, mixed, cell_of(Counter())] == ["✓", f"4✓ 1{Outcome.NOT_SUPPORTED}", ""]
