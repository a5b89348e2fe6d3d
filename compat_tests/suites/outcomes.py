"""What became of each test of a suite, and whether the suite's lists say so.

Made by the runners, judged for `__main__`, kept for `page`.
Source: README.md beside this file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compat_tests.suites.definition import Suite
from compat_tests.suites.lists import matches, reason_for

PASSED, FAILED, SKIPPED, EXCLUDED, COLLECTED = "passed", "failed", "skipped", "excluded", "collected"
SEVERITY = (COLLECTED, PASSED, SKIPPED, EXCLUDED, FAILED)
NEVER_RAN = "never ran: the suite's seconds were over, or its process ended"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test's end."""

    test: str
    outcome: str
    why: str  # of a failure, skip or exclusion


def worst_of(file: Path) -> list[Outcome]:
    """Read a run's outcomes, a line each; a test has several, and the worst counts."""
    worst: dict[str, Outcome] = {}
    lines = file.read_text().splitlines() if file.exists() else []
    for line in lines:
        outcome = Outcome(**json.loads(line))
        before = worst.get(outcome.test)
        if before is None or SEVERITY.index(outcome.outcome) > SEVERITY.index(before.outcome):
            worst[outcome.test] = outcome
    return [
        Outcome(outcome.test, FAILED, NEVER_RAN) if outcome.outcome == COLLECTED else outcome
        for outcome in worst.values()
    ]


def complaints(suite: Suite, broker: str, outcomes: Iterable[Outcome]) -> list[str]:
    """Say where outcomes and lists disagree; empty when every failure is listed and every entry is true."""
    found = list(outcomes)
    listed = suite.failing[broker]
    complained = [] if found else [f"{suite.name}: no test was collected"]
    for outcome in found:
        reason = reason_for(listed, outcome.test)
        if outcome.outcome == FAILED and reason is None:
            complained.append(f"{suite.name}: {outcome.test} failed and is not listed: {outcome.why}")
        if outcome.outcome == PASSED and reason is not None:
            complained.append(f"{suite.name}: {outcome.test} passed, but is listed as failing: {reason}")
    for name in (*suite.excluded[broker], *listed):
        if not any(matches(name, outcome.test) for outcome in found):
            complained.append(f"{suite.name}: {name} is listed, and no such test was found")
    return complained
