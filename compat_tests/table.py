"""The table of stories and clients that a run prints: passed, failed, or not supported by the client.

Called by `conftest.py` with every report of a run.
Source: none.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

NOT_SUPPORTED = "not supported by "


class CompatibilityTable:
    """Outcomes by subject and client, counted."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))

    def add(self, report: pytest.TestReport, client: str) -> None:
        """Count one report; a story counts once, by its call or by what kept it from being called."""
        if report.when != "call" and report.outcome == "passed":
            return
        file, _, story = report.nodeid.partition("::")
        subject = file.rpartition("test_")[2].removesuffix(".py")
        name = story.partition("[")[0].removeprefix("test_").replace("_", " ")
        self._counts[f"{subject}: {name}"][client][_outcome(report)] += 1

    def lines(self) -> list[str]:
        """Give the table as Markdown; a cell says how many variants passed, failed, were not supported."""
        clients = sorted({client for row in self._counts.values() for client in row})
        lines = [f"| story | {' | '.join(clients)} |", "|---" * (len(clients) + 1) + "|"]
        for story, row in self._counts.items():
            lines.append(f"| {story} | {' | '.join(_cell(row[client]) for client in clients)} |")
        total = [sum((row[client] for row in self._counts.values()), Counter()) for client in clients]
        lines.append(f"| **all** | {' | '.join(_cell(counts) for counts in total)} |")
        return lines


def _outcome(report: pytest.TestReport) -> str:
    if report.outcome != "skipped":
        return str(report.outcome)
    return "not supported" if NOT_SUPPORTED in str(report.longrepr) else "skipped"


def _cell(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "-"
