"""Fetch without sessions: offsets, limits, epochs, isolation, replicas.

Called by `run`. Source: KIP-74 (limits), KIP-320 (epochs), KIP-595 (diverging epochs), KIP-516 (ids).
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.batches import batch, records_of
from compat_tests.differential.requests import fetch, fetch_topic, part, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import EMPTY, INVALID, UNKNOWN, Topic, create_topic
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic

VALUE = b"x" * 50
EPOCHS, DIVERGING = 9, 12
LAST_WITH_REPLICA_ID = 14
LONG_MS, WAIT_MS = 3000, 800


def fetching(side: Side) -> None:
    """Read in every version."""
    topic, other = create_topic(side, "fetched", 3), create_topic(side, "fetched-too")
    data = batch(records_of(2, value=VALUE))
    for partition in (0, 1):
        for _ in range(4):
            side.arrange(produce(9, topic, (partition, data)), 9)
    for version in every(FetchRequest):
        _offsets(side, version, topic, other)
        _limits(side, version, topic, len(data))
        _flags(side, version, topic)
        if version >= EPOCHS:
            _epochs(side, version, topic)
        if version >= DIVERGING:
            _diverging(side, version, topic)
    for version in (4, 18):
        _waits(side, version, topic)


def _offsets(side: Side, version: int, topic: Topic, other: Topic) -> None:
    def of(*parts: FetchPartition) -> FetchTopic:
        return fetch_topic(version, topic, *parts)

    side.ask_each(
        {
            "from the beginning": fetch(of(part(0, 0))),
            "from within a batch": fetch(of(part(0, 3))),
            "from the end": fetch(of(part(0, 8))),
            "from beyond the end": fetch(of(part(0, 9))),
            "from -1": fetch(of(part(0, -1))),
            "from an empty partition": fetch(of(part(2, 0))),
            "from an unknown partition": fetch(of(part(7, 0))),
            "from partition -1": fetch(of(part(-1, 0))),
            "from an unknown topic": fetch(fetch_topic(version, UNKNOWN, part(0, 0))),
            "from an invalid topic": fetch(fetch_topic(version, INVALID, part(0, 0))),
            "from no topic's name": fetch(fetch_topic(version, EMPTY, part(0, 0))),
            "from no topics": fetch(),
            "from no partitions": fetch(of()),
            "from one partition twice": fetch(of(part(0, 0), part(0, 4))),
            "from one topic twice": fetch(of(part(0, 0)), of(part(1, 4))),
            "from two topics": fetch(of(part(0, 4)), fetch_topic(version, other, part(0, 0))),
            "from a known and an unknown topic": fetch(
                of(part(0, 4)), fetch_topic(version, UNKNOWN, part(0, 0))
            ),
        },
        version,
    )


def _limits(side: Side, version: int, topic: Topic, batch_bytes: int) -> None:
    def of(first: int, second: int, **more: Any) -> FetchRequest:
        return fetch(fetch_topic(version, topic, part(0, 0, first), part(1, 0, second)), **more)

    def both(**more: Any) -> FetchRequest:
        return of(1 << 20, 1 << 20, **more)

    half = batch_bytes // 2
    side.ask_each(
        {
            "1 byte of the first": of(1, 1 << 20),
            "1 byte of each": of(1, 1),
            "0 bytes of each": of(0, 0),
            "fewer than 0 bytes of each": of(-5, -1),
            "one and a half batches, two": of(batch_bytes + half, 2 * batch_bytes),
            "at most one batch": both(max_bytes=batch_bytes),
            "at most one and a half": both(max_bytes=batch_bytes + half),
            "at most four and a half": both(max_bytes=4 * batch_bytes + half),
            "at most 1 byte": both(max_bytes=1),
            "at most 0 bytes": both(max_bytes=0),
            "at most -1 bytes": both(max_bytes=-1),
        },
        version,
    )


def _flags(side: Side, version: int, topic: Topic) -> None:
    def of(offset: int, **more: Any) -> FetchRequest:
        return fetch(fetch_topic(version, topic, part(0, offset)), **more)

    requests = {
        "committed": of(0, isolation_level=1),
        "committed from the end": of(8, isolation_level=1),
        "isolation 5": of(0, isolation_level=5),
        "isolation -1": of(0, isolation_level=-1),
        "waits in vain": of(8, max_wait_ms=10, min_bytes=1),
        "waits -1 ms": of(8, max_wait_ms=-1, min_bytes=1),
        "needs -1 bytes": of(8, max_wait_ms=LONG_MS, min_bytes=-1),
        "has enough at once": of(0, max_wait_ms=LONG_MS, min_bytes=10),
    }
    if version <= LAST_WITH_REPLICA_ID:
        for replica_id in (1, 7, -2):
            requests[f"replica {replica_id}"] = of(0, replica_id=replica_id)
    side.ask_each(requests, version)


def _epochs(side: Side, version: int, topic: Topic) -> None:
    for epoch in (-1, 0, 1, 5, -2):
        wanted = fetch_topic(version, topic, part(0, 0, current_leader_epoch=epoch))
        side.ask(f"leader epoch {epoch}", fetch(wanted), version)
    wanted = fetch_topic(version, topic, part(7, 0, current_leader_epoch=5))
    side.ask("leader epoch 5, unknown partition", fetch(wanted), version)
    wanted = fetch_topic(version, topic, part(0, 99, current_leader_epoch=5))
    side.ask("leader epoch 5, beyond the end", fetch(wanted), version)


def _diverging(side: Side, version: int, topic: Topic) -> None:
    cases = {
        "last fetched epoch -1": part(0, 4, last_fetched_epoch=-1),
        "last fetched epoch 0": part(0, 4, last_fetched_epoch=0),
        "last fetched epoch 1": part(0, 4, last_fetched_epoch=1),
        "last fetched epoch 5": part(0, 4, last_fetched_epoch=5),
        "last fetched epoch 0, beyond the end": part(0, 9, last_fetched_epoch=0),
        "last fetched epoch 1, beyond the end": part(0, 19, last_fetched_epoch=1),
        "last fetched epoch 0, empty": part(2, 0, last_fetched_epoch=0),
        "last fetched epoch 1, empty": part(2, 0, last_fetched_epoch=1),
    }
    for label, wanted in cases.items():
        side.ask(label, fetch(fetch_topic(version, topic, wanted)), version)
    other = fetch(fetch_topic(version, topic, part(0, 0)), cluster_id="another")
    side.ask("another cluster id", other, version)


def _waits(side: Side, version: int, topic: Topic) -> None:
    """Which errors are told at once, although there are not bytes enough."""
    enough: dict[str, Any] = {"max_wait_ms": WAIT_MS, "min_bytes": 1 << 20}
    parts = {
        "too few bytes": [part(0, 0)],
        "out of range": [part(0, 0), part(1, 99)],
        "unknown partition": [part(0, 0), part(9, 0)],
        "unknown partition alone": [part(9, 0)],
    }
    requests = {label: fetch(fetch_topic(version, topic, *p), **enough) for label, p in parts.items()}
    unknown = fetch_topic(version, UNKNOWN, part(0, 0))
    requests["unknown topic"] = fetch(fetch_topic(version, topic, part(0, 0)), unknown, **enough)
    requests["no topics"] = fetch(**enough)
    for label, request in requests.items():
        side.ask(f"waits, {label}", request, version)
        waited = side.exchanges[-1].seconds * 1000 >= WAIT_MS
        side.note(f"waits, {label}: has waited", "Fetch", version, waited)
