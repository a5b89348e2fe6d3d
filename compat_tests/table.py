"""What became of each story with each client: gathered from a run, printed as a table or kept as JSON.

Called by `conftest.py` with every report of a run, and by `report` with the kept results of two runs.
Source: none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import pytest

NOT_SUPPORTED = "not supported by "
NOT_OFFERED = "not offered by the broker: "


class Outcome(StrEnum):
    """What became of one story with one client; the value is how a table shows it."""

    PASSED = "✓"
    FAILED = "✗"
    NOT_SUPPORTED = "–"  # noqa: RUF001  # a dash, as tables have it
    NOT_OFFERED = "○"
    SKIPPED = "·"


@dataclass(frozen=True, slots=True)
class Result:
    """One story, in one of its variants, told by one client."""

    subject: str
    story: str
    variant: str
    client: str
    outcome: Outcome
    reason: str

    @property
    def where(self) -> str:
        """Name the story, its variant and its client."""
        return f"{self.subject}: {words_of(self.story)} [{self.variant}]"


class Results:
    """The results of one run, one for each test."""

    def __init__(self, found: Iterable[Result] = ()) -> None:
        self._found = {(result.story, result.variant, result.client): result for result in found}

    @classmethod
    def read(cls, path: Path) -> Results:
        """Give the results that `write` kept."""
        entries = json.loads(path.read_text())
        return cls(Result(**{**entry, "outcome": Outcome(entry["outcome"])}) for entry in entries)

    def write(self, path: Path) -> None:
        """Keep the results as JSON."""
        path.write_text(json.dumps([asdict(result) for result in self._found.values()], indent=1))

    def add(self, report: pytest.TestReport, client: str) -> None:
        """Take one report; a story counts once, and as failed if anything about it failed."""
        if report.when != "call" and report.outcome == "passed":
            return
        file, _, name = report.nodeid.partition("::")
        story, _, variant = name.removesuffix("]").partition("[")
        outcome, reason = _outcome(report)
        key = (story, variant, client)
        if outcome is Outcome.FAILED or key not in self._found:
            subject = file.rpartition("test_")[2].removesuffix(".py")
            self._found[key] = Result(subject, story, variant, client, outcome, reason)

    def clients(self) -> list[str]:
        """Give the clients that told stories, in the order of the run."""
        return list(dict.fromkeys(result.client for result in self._found.values()))

    def stories(self) -> list[tuple[str, str]]:
        """Give subject and story of everything told, sorted by subject."""
        found = dict.fromkeys((result.subject, result.story) for result in self._found.values())
        return sorted(found, key=lambda pair: pair[0])

    def counts(self, client: str, story: str | None = None) -> Counter[Outcome]:
        """Count the outcomes of a client, in one story or in all."""
        return Counter(
            result.outcome
            for result in self._found.values()
            if result.client == client and story in (None, result.story)
        )

    def reasons(self, outcome: Outcome) -> list[str]:
        """Give the reasons of an outcome, each once."""
        return sorted({result.reason for result in self._found.values() if result.outcome is outcome})

    def failures(self) -> list[Result]:
        """Give what failed."""
        return [result for result in self._found.values() if result.outcome is Outcome.FAILED]

    def lines(self) -> list[str]:
        """Give one table of all stories as Markdown."""
        clients = self.clients()
        lines = table_head(clients)
        for subject, story in self.stories():
            cells = [cell_of(self.counts(client, story)) for client in clients]
            lines.append(f"| {subject}: {words_of(story)} | {' | '.join(cells)} |")
        lines.append(f"| **all** | {' | '.join(cell_of(self.counts(client)) for client in clients)} |")
        return lines


def table_head(clients: Iterable[str]) -> list[str]:
    """Give the first two lines of a table of stories and clients."""
    names = list(clients)
    return [f"| story | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]


def words_of(story: str) -> str:
    """Give a story's name as a person would say it."""
    return story.removeprefix("test_").replace("_", " ")


def cell_of(counts: Counter[Outcome]) -> str:
    """Say what became of the variants of a story: one sign if all went one way, else how many went which."""
    if len(counts) <= 1:
        return next((outcome.value for outcome in counts), "")
    return " ".join(f"{counts[outcome]}{outcome.value}" for outcome in Outcome if counts[outcome])


def _outcome(report: pytest.TestReport) -> tuple[Outcome, str]:
    if report.outcome == "passed":
        return Outcome.PASSED, ""
    if report.outcome == "failed":
        return Outcome.FAILED, _last_line(report.longreprtext)
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    for sign, outcome in ((NOT_SUPPORTED, Outcome.NOT_SUPPORTED), (NOT_OFFERED, Outcome.NOT_OFFERED)):
        if sign in reason:
            return outcome, reason.partition(sign)[2]
    return Outcome.SKIPPED, reason


def _last_line(text: str) -> str:
    """Give the last line of a traceback that states the error (they begin with `E`), or its last line."""
    lines = [line for line in text.splitlines() if line.strip()]
    stated = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (stated[:1] or lines[-1:] or [""])[0]
