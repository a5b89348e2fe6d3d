"""Keeps the latest outcomes of each suite and broker, and writes results/suites.md from them.

Called by `__main__`. What is kept lies beside the checkouts, ignored by git; the page is committed.
Source: README.md beside this file.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from compat_tests.suites.definition import APACHE_KAFKA, CHECKOUTS, WIREKAFKA, Suite, suites
from compat_tests.suites.lists import matches, reason_for
from compat_tests.suites.outcomes import EXCLUDED, FAILED, PASSED, SKIPPED, Outcome

PAGE = Path(__file__).resolve().parents[1] / "results" / "suites.md"
KEPT = CHECKOUTS / "outcomes"
BROKERS = (WIREKAFKA, APACHE_KAFKA)
TITLES = {WIREKAFKA: "wirekafka", APACHE_KAFKA: "Apache Kafka 4.4"}
Kept = tuple[str, list[Outcome]]  # the day of the run, and what came of it


def keep(suite: Suite, broker: str, outcomes: Iterable[Outcome]) -> None:
    """Keep the outcomes of a run for the page, in place of those before."""
    KEPT.mkdir(parents=True, exist_ok=True)
    day = datetime.date.today().isoformat()
    kept = {"day": day, "outcomes": [asdict(outcome) for outcome in outcomes]}
    _file(suite, broker).write_text(json.dumps(kept, indent=1))


def write_page() -> None:
    """Write the page from what is kept."""
    lines = ["## The clients' own suites", ""]
    lines += ["Written by `python -m compat_tests.suites`; `compat_tests/suites/` holds the lists.", ""]
    lines += ["| suite | version | broker | day | ran | passed | failed | skipped by the suite | excluded |"]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    all_kept = {(suite.name, broker): _read(suite, broker) for suite in suites() for broker in BROKERS}
    lines += [_row(suite, broker, all_kept[suite.name, broker]) for suite in suites() for broker in BROKERS]
    for suite in suites():
        lines += _reasons(suite, {broker: all_kept[suite.name, broker] for broker in BROKERS})
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(lines) + "\n")


def _file(suite: Suite, broker: str) -> Path:
    return KEPT / f"{suite.name}-{broker}.json"


def _read(suite: Suite, broker: str) -> Kept | None:
    if not _file(suite, broker).exists():
        return None
    read = json.loads(_file(suite, broker).read_text())
    return read["day"], [_as_listed(suite, broker, Outcome(**outcome)) for outcome in read["outcomes"]]


def _as_listed(suite: Suite, broker: str, outcome: Outcome) -> Outcome:
    # A test that was run and has been excluded since counts as excluded.
    excluded = reason_for(suite.excluded[broker], outcome.test)
    return outcome if excluded is None else Outcome(outcome.test, EXCLUDED, excluded)


def _row(suite: Suite, broker: str, kept: Kept | None) -> str:
    start = f"| {suite.name} | {suite.version} | {TITLES[broker]} |"
    if kept is None:
        return f"{start} not run here | | | | | |"
    day, outcomes = kept
    count = Counter(outcome.outcome for outcome in outcomes)
    ran = count[PASSED] + count[FAILED]
    return (
        f"{start} {day} | {ran} | {count[PASSED]} | {count[FAILED]} | {count[SKIPPED]} | {count[EXCLUDED]} |"
    )


def _reasons(suite: Suite, kept: dict[str, Kept | None]) -> list[str]:
    lines = ["", f"### {suite.name}", ""]
    runs = {broker: run[1] for broker, run in kept.items() if run is not None}
    failed = {outcome.test for run in runs.values() for outcome in run if outcome.outcome == FAILED}
    rows = sorted({_listed_name(suite, test) for test in failed})
    if rows:
        lines += ["| failed | wirekafka | Apache Kafka 4.4 |", "|---|---|---|"]
        cells = [[_cell(suite, broker, name, runs.get(broker, [])) for broker in BROKERS] for name in rows]
        lines += [
            f"| `{name}` | {ours} | {judges} |" for name, (ours, judges) in zip(rows, cells, strict=True)
        ]
    everywhere = suite.excluded[APACHE_KAFKA]
    excluded = {
        name: reason if name in everywhere else f"on wirekafka alone: {reason}"
        for name, reason in suite.excluded[WIREKAFKA].items()
    }
    if excluded:
        lines += ["", "| excluded | why |", "|---|---|"]
        lines += [f"| `{name}` | {reason} |" for name, reason in excluded.items()]
    return lines


def _listed_name(suite: Suite, test: str) -> str:
    listed = [name for broker in BROKERS for name in suite.failing[broker]]
    return next((name for name in listed if matches(name, test)), test)


def _cell(suite: Suite, broker: str, name: str, run: list[Outcome]) -> str:
    found = [outcome for outcome in run if matches(name, outcome.test)]
    failed = [outcome for outcome in found if outcome.outcome == FAILED]
    if not found:
        return "not run"
    passed = sum(outcome.outcome == PASSED for outcome in found)
    parts = [f"{passed} passed"] if passed else []
    if failed:
        why = reason_for(suite.failing[broker], failed[0].test) or f"**not listed:** {failed[0].why}"
        parts.append(f"{len(failed)} failed: {why}")
    return ", ".join(parts or [found[0].outcome]).replace("|", "\\|")
