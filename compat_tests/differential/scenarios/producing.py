"""Produce: batches right and wrong, in every form of the request.

Called by `run`. Source: KIP-98 (batch v2), KIP-467 (record_errors), KIP-516 (ids); Kafka's LogValidator.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.batches import (
    CONTROL,
    GZIP,
    LOG_APPEND_TIME,
    LZ4,
    NOW_MS,
    SNAPPY,
    TRANSACTIONAL,
    ZSTD,
    Producer,
    Record,
    batch,
    records_of,
    sealed,
    with_byte,
)
from compat_tests.differential.requests import IDS_IN_PRODUCE, fetch, fetch_topic, part, produce
from compat_tests.differential.side import Side
from compat_tests.differential.topics import EMPTY, INVALID, UNKNOWN, Topic, await_topic, create_topic
from compat_tests.differential.wire import framed, request_body
from wirekafka.protocol.apis.api_versions import ApiVersionsRequest
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.apis.produce import ProduceRequest

HOUR_MS = 3_600_000
MAGIC, ATTRIBUTES_END = 16, 22
SECONDS_OF_SILENCE = 1.0
TRANSACTION = 1
PLACES = 11
UNKNOWN_PARTITION = 99


def producing(side: Side) -> None:
    """Produce in the versions where the form changes."""
    cases = _good() | _odd() | _broken()
    topic = create_topic(side, "produced", len(cases))
    places = create_topic(side, "produced-places", PLACES)
    small = create_topic(side, "produced-small", max_message_bytes="200")
    copied = create_topic(side, "produced-copied", 2, min_insync_replicas="2", flush_messages="1")
    for version in every(ProduceRequest):
        # Each case has a partition of its own: where one differs, the offsets of others do not.
        for partition, (label, data) in enumerate(cases.items()):
            side.ask(label, produce(version, topic, (partition, data)), version)
        _places(side, version, places)
        _acks(side, version, places)
        side.ask("more replicas wanted than there are", produce(version, copied, (0, batch())), version)
        side.ask("the same, acks 1", produce(version, copied, (1, batch()), acks=1), version)
        side.ask("more than the topic allows", produce(version, small, (0, batch(records_of(9)))), version)
        two = batch(records_of(3)) * 2
        side.ask("two batches within what the topic allows", produce(version, small, (0, two)), version)
    side.ask("null records", produce(3, topic, (0, None)), 3, patience_seconds=SECONDS_OF_SILENCE)
    side.ask("null records", produce(13, topic, (0, None)), 13, patience_seconds=SECONDS_OF_SILENCE)
    _created(side)
    _transactional(side, places)
    for partition, label in enumerate(cases):
        whole = fetch_topic(18, topic, part(partition, 0, 1 << 25))
        side.ask(f"stored, {label}", fetch(whole), 18)


def _good() -> dict[str, bytes]:
    headers = (("h", b"1"), ("h", None), ("", b""))
    return {
        "two records": batch(records_of(2)),
        "gzip": batch(records_of(3), codec=GZIP),
        "snappy": batch(records_of(3), codec=SNAPPY),
        "lz4": batch(records_of(3), codec=LZ4),
        "zstd": batch(records_of(3), codec=ZSTD),
        "null key, null value": batch([Record(key=None, value=None)]),
        "headers": batch([Record(headers=headers)]),
        "base offset 5": batch(base_offset=5),
        "old timestamp": batch([Record(timestamp_ms=1)]),
        "timestamp 0": batch([Record(timestamp_ms=0)]),
        "timestamp -1": batch([Record(timestamp_ms=-1)]),
        "timestamps out of order": batch([Record(timestamp_ms=NOW_MS - n) for n in (5, 9, 0)]),
        "much later than now": batch([Record(timestamp_ms=NOW_MS + 2 * HOUR_MS)]),
        "third much later than now": batch([Record(timestamp_ms=NOW_MS + n * HOUR_MS) for n in (0, 0, 2)]),
        "within the hour": batch([Record(timestamp_ms=NOW_MS + HOUR_MS // 2)]),
    }


def _odd() -> dict[str, bytes]:
    return {
        "two batches": batch() + batch(),
        "log append time bit": batch(attributes=LOG_APPEND_TIME),
        "control batch": batch(attributes=CONTROL),
        "unused attribute bits": batch(attributes=0x4000),
        "delete horizon bit": batch(attributes=0x40),
        "codec 5": batch(codec=5),
        "codec 7": batch(codec=7),
        "empty batch": batch([]),
        "producer id, no sequence": batch(producer=Producer(6000, 0, -1)),
        "producer id, no epoch": batch(producer=Producer(6000, -1, 0)),
        "sequence, no producer id": batch(producer=Producer(-1, 0, 0)),
        "producer id -2": batch(producer=Producer(-2, 0, 0)),
        "too large": batch([Record(value=b"x" * 1_100_000)]),
        "transactional, nobody": batch(attributes=TRANSACTIONAL),
    }


def _broken() -> dict[str, bytes]:
    good = batch(records_of(2))
    return {
        "no bytes": b"",
        "ten zeros": bytes(10),
        "a hundred zeros": bytes(100),
        "wrong CRC": with_byte(good, len(good) - 1, 1),
        "second of two wrong": good + with_byte(good, len(good) - 1, 1),
        "truncated": good[:-3],
        "bytes behind": good + b"abc",
        "magic 0": with_byte(good, MAGIC, 0),
        "magic 1": with_byte(good, MAGIC, 1),
        "magic 3": with_byte(good, MAGIC, 3),
        "magic -1": with_byte(good, MAGIC, 255),
        "count too large": batch(records_of(2), record_count=3),
        "count too small": batch(records_of(2), record_count=1),
        "count 0": batch(records_of(2), record_count=0),
        "count -1": batch(records_of(2), record_count=-1),
        "last delta too large": batch(records_of(2), last_offset_delta=5),
        "last delta 0": batch(records_of(2), last_offset_delta=0),
        "last delta -1": batch(records_of(2), last_offset_delta=-1),
        "marked gzip": sealed(with_byte(good, ATTRIBUTES_END, GZIP)),
        "marked zstd": sealed(with_byte(good, ATTRIBUTES_END, ZSTD)),
        "gzip, count too large": batch(records_of(2), codec=GZIP, record_count=3),
        "gzip, count too small": batch(records_of(2), codec=GZIP, record_count=1),
        "length 0": good[:8] + bytes(4) + good[12:],
        "length -1": good[:8] + b"\xff" * 4 + good[12:],
    }


def _places(side: Side, version: int, topic: Topic) -> None:
    data = batch()
    nowhere = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[])
    twice = produce(version, topic, (0, data))
    twice.topic_data *= 2
    both = produce(version, topic, (1, data))
    unknown = UNKNOWN if version >= IDS_IN_PRODUCE else INVALID
    both.topic_data += produce(version, unknown, (0, data)).topic_data
    side.ask_each(
        {
            "unknown partition": produce(version, topic, (UNKNOWN_PARTITION, data)),
            "partition -1": produce(version, topic, (-1, data)),
            "good and unknown partition": produce(version, topic, (2, data), (UNKNOWN_PARTITION, data)),
            "good and broken": produce(version, topic, (3, data), (4, data[:-1])),
            "two partitions": produce(version, topic, (6, data), (5, data)),
            "partition twice": produce(version, topic, (7, data), (7, data)),
            "invalid topic": produce(version, INVALID, (0, data)),
            "empty topic": produce(version, EMPTY, (0, data)),
            "good and bad topic": both,
            "no topics": nowhere,
            "no partitions": produce(version, topic),
            "topic twice": twice,
        },
        version,
    )


def _acks(side: Side, version: int, topic: Topic) -> None:
    for acks in (1, 2, -2, 32767):
        side.ask(f"acks {acks}", produce(version, topic, (8, batch()), acks=acks), version)
    unknown = produce(version, topic, (UNKNOWN_PARTITION, batch()), acks=2)
    side.ask("acks 2, unknown partition", unknown, version)
    # With acks=0 nothing is answered: the answer that comes is that of the next request.
    behind = framed(request_body(ApiVersionsRequest(), 0))
    cases = {
        "good": produce(version, topic, (9, batch()), acks=0),
        "unknown partition": produce(version, topic, (UNKNOWN_PARTITION, batch()), acks=0),
        "broken batch": produce(version, topic, (9, batch()[:-1]), acks=0),
        "no topics": ProduceRequest(acks=0, timeout_ms=1000, topic_data=[]),
    }
    for label, request in cases.items():
        frame = framed(request_body(request, version)) + behind
        side.send(f"acks 0 in v{version}, {label}, and a request behind", frame, 18, 0, keep=_no_keys)


def _no_keys(answer: object) -> None:
    answer.api_keys = []  # type: ignore[attr-defined]  # an ApiVersionsResponse; versions has its keys


def _created(side: Side) -> None:
    """A topic that is not there is created by Metadata only, or so Kafka has it."""
    for version in (3, 12):
        side.ask("unknown topic", produce(version, Topic(f"unknown-{version}"), (0, batch())), version)
    side.ask("unknown topic id", produce(13, UNKNOWN, (0, batch())), 13)


def _transactional(side: Side, topic: Topic) -> None:
    """What a producer says of transactions before there is one."""
    if side.name == "Apache Kafka":
        request = FindCoordinatorRequest(key="t", key_type=TRANSACTION)
        side.arrange_until(request, 2, lambda answer: answer.error_code == 0)
        await_topic(side, "__transaction_state", 4)
    for version in (3, 10, 11, 13):
        producer = Producer(5000 + version, 0, 0)
        marked = batch(producer=producer, attributes=TRANSACTIONAL)
        plain = batch(producer=Producer(7000 + version, 0, 0))
        cases: dict[str, tuple[bytes, str | None]] = {
            "transactional, null id": (marked, None),
            "transactional, empty id": (marked, ""),
            "transactional, unknown id": (marked, "t"),
            "plain batch with an id": (batch(), "t"),
            "idempotent batch with an id": (plain, "t"),
        }
        for label, (data, transactional_id) in cases.items():
            request_ = produce(version, topic, (10, data), transactional_id=transactional_id)
            side.ask(label, request_, version)
