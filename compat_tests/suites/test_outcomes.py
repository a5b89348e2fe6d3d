"""Tests outcomes.py and lists.py: the rule that lists and outcomes agree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compat_tests.suites.definition import WIREKAFKA, Suite, suites
from compat_tests.suites.lists import reason_for
from compat_tests.suites.outcomes import FAILED, NEVER_RAN, PASSED, Outcome, complaints, worst_of

SUITE = Suite(
    name="a-client",
    version="1.0",
    kind="pytest",
    get="clone it",
    tests=("tests",),
    copied=("tests",),
    seconds=1,
    test_seconds=1,
    broker={},
    environment={},
    files={},
    excluded={WIREKAFKA: {}},
    failing={WIREKAFKA: {"tests/t.py::listed": "not built"}},
)


def test_listed_failure_is_no_complaint() -> None:
    """A failing test that is listed is in order."""
    assert complaints(SUITE, WIREKAFKA, [Outcome("tests/t.py::listed", FAILED, "boom")]) == []


def test_failure_that_is_not_listed_is_a_complaint() -> None:
    """A failing test that is not listed is an error, and its failure is told."""
    found = [Outcome("tests/t.py::listed", FAILED, ""), Outcome("tests/t.py::new", FAILED, "boom")]

    assert complaints(SUITE, WIREKAFKA, found) == ["a-client: tests/t.py::new failed and is not listed: boom"]


def test_listed_test_that_passes_is_a_complaint() -> None:
    """A listed failing test that passes is an error: the list only shrinks."""
    found = [Outcome("tests/t.py::listed", PASSED, "")]

    assert complaints(SUITE, WIREKAFKA, found) == [
        "a-client: tests/t.py::listed passed, but is listed as failing: not built"
    ]


def test_listed_name_without_a_test_is_a_complaint() -> None:
    """A name in a list that no test has is an error."""
    suite = replace(SUITE, excluded={WIREKAFKA: {"tests/gone.py::*": "needs TLS"}})
    found = [Outcome("tests/t.py::listed", FAILED, "")]

    assert complaints(suite, WIREKAFKA, found) == [
        "a-client: tests/gone.py::* is listed, and no such test was found"
    ]


def test_run_without_any_test_is_a_complaint() -> None:
    """A suite that could not even be collected has not passed."""
    suite = replace(SUITE, failing={WIREKAFKA: {}})

    assert complaints(suite, WIREKAFKA, []) == ["a-client: no test was collected"]


@pytest.mark.parametrize(
    ("name", "expected"), [("t.py::one", "why"), ("t.py::two", None), ("u.py::x", "all")]
)
def test_star_stands_for_all_it_begins(name: str, expected: str | None) -> None:
    """A listed name is one test, or with a star at its end every test it begins."""
    assert reason_for({"t.py::one": "why", "u.py::*": "all"}, name) == expected


def test_worst_outcome_of_a_test_counts(tmp_path: Path) -> None:
    """A test that passed and failed at its tear-down has failed; one that was only collected never ran."""
    lines = [("a", "collected"), ("b", "collected"), ("a", "passed"), ("a", "failed")]
    file = tmp_path / "outcomes.jsonl"
    file.write_text("".join(json.dumps({"test": t, "outcome": o, "why": o}) + "\n" for t, o in lines))

    assert worst_of(file) == [Outcome("a", FAILED, "failed"), Outcome("b", FAILED, NEVER_RAN)]


def test_every_suite_file_can_be_read() -> None:
    """Each TOML file beside the runners tells a suite with a version and a way to get it."""
    assert all(suite.version and suite.get and suite.tests for suite in suites())
