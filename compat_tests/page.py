"""docs/compatibility.md: the results of the last runs as a page.

Called by `report`; takes in what other runners left in `results/`.
Source: none.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compat_tests.table import Outcome, Results, cell_of, table_head, words_of

FRAGMENTS = Path(__file__).resolve().parent / "results"
FRAGMENT_TITLES = {
    "differential": "Byte for byte",
    "suites": "The clients' own suites",
    "tools": "Kafka's own tools",
}
"""What other runners write, `results/NAME.md`, by the order of the page."""
TITLES = {"wirekafka": "wirekafka", "apache-kafka": "Apache Kafka"}

INTRODUCTION = """\
# Compatibility

Written by `make compat`; do not edit. Stock clients tell the same stories to wirekafka and to Apache Kafka
over TCP, and a story that Apache Kafka fails is a wrong story.
[compat_tests/README.md](../compat_tests/README.md) says how to run them against any broker.

A cell says what became of all variants of a story with one client, and of how many where they differ:
"""
LEGEND = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.NOT_SUPPORTED: "the client does not support it",
    Outcome.NOT_OFFERED: "the broker does not offer it",
    Outcome.SKIPPED: "skipped",
}


@dataclass(frozen=True, slots=True)
class Run:
    """Every story with every client against one broker."""

    broker: str
    broker_version: str
    date: str
    seconds: float
    python: str
    clients: Mapping[str, str]
    results: Results

    def write(self, path: Path) -> None:
        """Keep the run as JSON; its results have a file of their own beside it."""
        self.results.write(_results_file(path))
        facts = {
            "broker": self.broker,
            "broker_version": self.broker_version,
            "date": self.date,
            "seconds": self.seconds,
            "python": self.python,
            "clients": dict(self.clients),
        }
        path.write_text(json.dumps(facts, indent=1))

    @classmethod
    def read(cls, path: Path) -> Run:
        """Give the run that `write` kept."""
        return cls(**json.loads(path.read_text()), results=Results.read(_results_file(path)))


def _results_file(path: Path) -> Path:
    return path.with_suffix(".results.json")


def page(runs: Sequence[Run], notes: Sequence[str]) -> str:
    """Give the page; `notes` are lines on what was left out."""
    clients = list(dict.fromkeys(name for run in runs for name in run.results.clients()))
    parts = [
        INTRODUCTION + ", ".join(f"{sign} {meaning}" for sign, meaning in LEGEND.items()) + ".",
        "\n".join(f"- {note}" for note in notes),
        "\n".join(_versions(runs)),
        "\n".join(_totals(runs, clients)),
        "\n".join(_stories(runs, clients)),
        "\n".join(_reasons(runs)),
        *(_fragment(name) for name in FRAGMENT_TITLES),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _versions(runs: Sequence[Run]) -> Iterator[str]:
    yield "## What was run"
    yield ""
    yield "| what | version |"
    yield "|---|---|"
    for run in runs:
        told = f"{run.broker_version}, run on {run.date} in {run.seconds:.0f} s"
        yield f"| **{TITLES[run.broker]}** | {told} |"
    for name, version in {name: told for run in runs for name, told in run.clients.items()}.items():
        yield f"| {name} | {version} |"
    yield f"| Python | {runs[0].python} |"


def _totals(runs: Sequence[Run], clients: Sequence[str]) -> Iterator[str]:
    seen = [run.results.counts(client) for run in runs for client in clients]
    signs = [sign for sign in Outcome if any(counts[sign] for counts in seen) or sign is Outcome.FAILED]
    yield "## Totals"
    yield ""
    yield "| client | " + " | ".join(f"{TITLES[run.broker]} {sign}" for run in runs for sign in signs) + " |"
    yield "|---" + "|--:" * (len(runs) * len(signs)) + "|"
    for client in clients:
        counts = [run.results.counts(client) for run in runs]
        yield f"| {client} | " + " | ".join(str(count[sign]) for count in counts for sign in signs) + " |"
    sums = [sum(run.results.counts(client)[sign] for client in clients) for run in runs for sign in signs]
    yield "| **all** | " + " | ".join(f"**{number}**" for number in sums) + " |"


def _stories(runs: Sequence[Run], clients: Sequence[str]) -> Iterator[str]:
    yield "## Stories"
    yield ""
    if len(runs) > 1:
        order = " / ".join(TITLES[run.broker] for run in runs)
        yield f"Where the brokers differ: {order}, and ? for a client that was not run against one of them."
        yield ""
    stories: dict[str, list[str]] = defaultdict(list)
    for subject, story in dict.fromkeys(pair for run in runs for pair in run.results.stories()):
        stories[subject].append(story)
    for subject, names in stories.items():
        yield f"### {subject.capitalize()}"
        yield ""
        yield from table_head(clients)
        for story in names:
            cells = " | ".join(_cell(runs, client, story) for client in clients)
            yield f"| {words_of(story)} | {cells} |"
        yield ""


def _cell(runs: Sequence[Run], client: str, story: str) -> str:
    cells = [cell_of(run.results.counts(client, story)) for run in runs]
    return cells[0] if len(set(cells)) == 1 else " / ".join(cell or "?" for cell in cells)


def _reasons(runs: Sequence[Run]) -> Iterator[str]:
    """List what is not supported, not offered, skipped and failed, each with its reason."""
    yield from _listing("What a client does not support", _lacks(runs))
    for run in runs:
        title = TITLES[run.broker]
        yield from _listing(f"What {title} does not offer", run.results.reasons(Outcome.NOT_OFFERED))
        yield from _listing(f"What {title} was not asked", run.results.reasons(Outcome.SKIPPED))
        failed = [f"{failure.where}: `{failure.reason}`" for failure in run.results.failures()]
        yield from _listing(f"What failed on {title}", failed)


def _lacks(runs: Sequence[Run]) -> list[str]:
    """Give a line for each client that lacks something; reasons read `client: lack; lack`."""
    lacks: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for reason in run.results.reasons(Outcome.NOT_SUPPORTED):
            client, _, told = reason.partition(": ")
            lacks[client] |= set(told.split("; "))
    return [f"**{client}** {'; '.join(sorted(lacks[client]))}" for client in sorted(lacks)]


def _listing(title: str, entries: Sequence[str]) -> Iterator[str]:
    if entries:
        yield f"## {title}"
        yield ""
        yield from (f"- {entry}" for entry in entries)
        yield ""


def _fragment(name: str) -> str:
    file = FRAGMENTS / f"{name}.md"
    text = file.read_text() if file.exists() else f"Not run here; `python -m compat_tests.{name}` does it."
    lines = text.strip().splitlines()
    if lines[0].startswith("# "):
        lines = ["#" + line if line.startswith("#") else line for line in lines]
    elif not lines[0].startswith("#"):
        lines = [f"## {FRAGMENT_TITLES[name]}", "", *lines]
    return "\n".join([f"<!-- {name} -->", *lines, f"<!-- /{name} -->"])
