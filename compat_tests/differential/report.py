"""Writes compat_tests/results/differential.md: how many exchanges, of which APIs, what differs on purpose.

Called by `__main__` after a run of all scenarios.
Source: the run's own outcome; nothing in it is written by hand.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from compat_tests.differential.fields import MAY_DIFFER
from compat_tests.differential.purpose import OnPurpose, Some
from compat_tests.differential.run import Outcome
from compat_tests.differential.scenarios.versions import ONLY_KAFKA
from wirekafka.protocol.apis import APIS

RESULTS = Path(__file__).resolve().parent.parent / "results" / "differential.md"


def write_report(outcome: Outcome) -> None:
    """Write the results of a run of all scenarios."""
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(_lines(outcome)) + "\n")


def _lines(outcome: Outcome) -> Iterator[str]:
    comparison = outcome.comparison
    yield "# Byte for byte: wirekafka and Apache Kafka 4.4"
    yield ""
    yield (
        "Written by `python -m compat_tests.differential`, "
        f"{datetime.datetime.now(tz=datetime.UTC).date().isoformat()}. The same raw requests went to both "
        "brokers, and the decoded answers were compared field by field."
    )
    yield ""
    yield f"- {len(comparison.exchanges)} exchanges in {len(outcome.scenarios)} scenarios"
    yield f"- {len(comparison.explained_exchanges)} of them differ on purpose, some otherwise too"
    yield f"- {len({d.exchange for d in comparison.unexplained})} of them differ otherwise"
    yield ""
    yield "## By API"
    yield ""
    yield from _api_table(outcome)
    yield ""
    yield "## Differences on purpose"
    yield ""
    yield "| exchanges | field | Kafka | wirekafka | times | reason |"
    yield "|---|---|---|---|---|---|"
    for purpose, count in comparison.explained.items():
        yield _row(
            f"`{purpose.exchanges}`", f"`{purpose.field}`", *_values(purpose), str(count), purpose.reason
        )
    yield ""
    yield from _not_on_purpose(outcome)
    yield "## Fields that may differ"
    yield ""
    for name, reason in MAY_DIFFER.items():
        yield f"- `{name}`: {reason}"
    yield ""
    yield "## Requests that only Kafka answers"
    yield ""
    for key, name in ONLY_KAFKA.items():
        yield f"- {key} {name}"


def _api_table(outcome: Outcome) -> Iterator[str]:
    exchanges = outcome.comparison.exchanges
    counts = Counter(exchange.api for exchange in exchanges)
    on_purpose = Counter(e.api for e in exchanges if e.name in outcome.comparison.explained_exchanges)
    wrong = {difference.exchange for difference in outcome.comparison.unexplained}
    otherwise = Counter(exchange.api for exchange in exchanges if exchange.name in wrong)
    yield "| API | versions | exchanges | differ on purpose | differ otherwise |"
    yield "|---|---|---|---|---|"
    known = {api.name: api.versions for api in APIS.values()}
    for api, versions in sorted(known.items()):
        asked = sorted({e.version for e in exchanges if e.api == api and e.version in versions})
        told = f"{len(asked)} of {len(versions.as_range())}: {' '.join(map(str, asked))}"
        yield _row(api, told, str(counts[api]), str(on_purpose[api]), str(otherwise[api]))
    nobodys = sum(count for api, count in counts.items() if api not in known)
    yield _row("keys that nobody has", "", str(nobodys), "0", "0")


def _not_on_purpose(outcome: Outcome) -> Iterator[str]:
    if not outcome.comparison.unexplained:
        return
    yield "## Differences not on purpose"
    yield ""
    yield "| exchange | place | Kafka | wirekafka |"
    yield "|---|---|---|---|"
    for d in outcome.comparison.unexplained:
        yield _row(d.exchange, f"`{d.place}`", _text(d.kafka), _text(d.ours))
    yield ""


def _values(purpose: OnPurpose) -> tuple[str, str]:
    return _text(purpose.kafka), _text(purpose.ours)


def _text(value: object) -> str:
    text = value.value if isinstance(value, Some) else "null" if value is None else str(value)
    return text if len(text) <= 120 else text[:120] + " ..."


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
