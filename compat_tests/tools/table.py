"""The table of tools and brokers, made of pytest's reports.

Called by `conftest`, which labels reports, and by `__main__`, which writes the table.
Source: none.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

import pytest

from compat_tests.tools.brokers import APACHE_KAFKA, WIREKAFKA

NEEDS = "not built yet: "
"""How the reason begins for which a story about an unbuilt request is left out."""
HEADINGS = {WIREKAFKA: "wirekafka", APACHE_KAFKA: "Apache Kafka"}


@dataclass(frozen=True, slots=True)
class StoryOfATool:
    """One story as run against one broker."""

    tool: str
    sentence: str
    broker: str

    def to_text(self) -> str:
        return json.dumps([self.tool, self.sentence, self.broker])

    @classmethod
    def from_text(cls, text: str) -> StoryOfATool:
        return cls(*json.loads(text))


@dataclass(slots=True)
class ToolsTable:
    """A pytest plugin that gathers what became of every story."""

    results: dict[StoryOfATool, str] = field(default_factory=dict)
    """Passed, failed, `needs` the requests that are not built, or skipped with the reason."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = dict(report.user_properties).get("story")
        if told is None or (report.passed and report.when != "call"):
            return
        story = StoryOfATool.from_text(str(told))
        if self.results.get(story) != "failed":
            self.results[story] = _result(report)

    def lines(self) -> list[str]:
        """Give the table, a row a tool, and the list of stories, as Markdown."""
        brokers = [broker for broker in HEADINGS if any(story.broker == broker for story in self.results)]
        heading = " | ".join(HEADINGS[broker] for broker in brokers)
        rule = "|---" * (len(brokers) + 1) + "|"
        lines = [f"| tool | {heading} |", rule]
        lines += [
            f"| {tool} | {' | '.join(self._count(tool, broker) for broker in brokers)} |"
            for tool in sorted({story.tool for story in self.results})
        ]
        lines += ["", f"| what was done | {heading} |", rule]
        for tool, sentence in sorted({(story.tool, story.sentence) for story in self.results}):
            cells = [self.results.get(StoryOfATool(tool, sentence, broker), "-") for broker in brokers]
            lines.append(f"| {tool}: {sentence.rstrip('.')} | {' | '.join(cells)} |")
        return lines

    def count_lines(self) -> list[str]:
        """Give a line a broker: how many stories there were and what became of them."""
        lines = []
        for broker, heading in HEADINGS.items():
            found = Counter(
                self._kind(result) for story, result in self.results.items() if story.broker == broker
            )
            if found:
                told = ", ".join(f"{count} {kind}" for kind, count in found.most_common())
                lines.append(f"- {heading}: {told}")
        return lines

    def _count(self, tool: str, broker: str) -> str:
        found = Counter(
            self._kind(result)
            for story, result in self.results.items()
            if story.tool == tool and story.broker == broker
        )
        return ", ".join(f"{count} {kind}" for kind, count in found.most_common()) or "-"

    @staticmethod
    def _kind(result: str) -> str:
        return "waiting for a request" if result.startswith("needs ") else result.partition(":")[0]


def _result(report: pytest.TestReport) -> str:
    if not report.skipped:
        return str(report.outcome)
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = re.sub(r"^Skipped: ", "", reason)
    if reason.startswith(NEEDS):
        return f"needs {reason.removeprefix(NEEDS)}"
    return f"skipped: {reason}"
