"""Metadata: by name, by id, all, none, unknown, invalid, created on the way.

Called by `run`. Source: KIP-204 and KIP-361 (auto-creation), KIP-430 (operations), KIP-516 (ids).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import UNKNOWN_ID, Topic, await_topic, create_topic
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic

LONG = "a" * 250
CREATION_MAY_BE_FORBIDDEN, IDS, OPERATIONS = 4, 10, 8
LAST_WITH_CLUSTER_OPERATIONS = 10


def metadata(side: Side) -> None:
    """Ask for topics that are there, that are not, and that cannot be."""
    one = create_topic(side, "metadata-one", 2)
    two = create_topic(side, "metadata-two", 1)
    for version in every(MetadataRequest):
        _known(side, version, one, two)
        _unknown(side, version, one)
        if version >= IDS:
            _by_id(side, version, one, two)
        if version >= OPERATIONS:
            _operations(side, version, one)
    _created(side)


def _of(names: Sequence[str] | None, **flags: Any) -> MetadataRequest:
    topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    return MetadataRequest(topics=topics, **flags)


def _known(side: Side, version: int, one: Topic, two: Topic) -> None:
    requests = {
        "one": _of([one.name]),
        "two": _of([two.name, one.name]),
        "one twice": _of([one.name, one.name]),
        "invalid name, may be created": _of(["not/valid"]),
        "empty name, may be created": _of([""]),
        "two dots, may be created": _of([".."]),
        "long name, may be created": _of([LONG]),
        "none": _of([]),
    }
    if version >= 1:
        requests["all"] = _of(None)
    side.ask_each(requests, version)


def _unknown(side: Side, version: int, one: Topic) -> None:
    if version < CREATION_MAY_BE_FORBIDDEN:
        return
    names = {
        "unknown": ["unknown"],
        "unknown twice": ["unknown", "unknown"],
        "invalid": ["not/valid"],
        "empty name": [""],
        "dot": ["."],
        "long name": [LONG],
        "not ASCII": ["ä"],
        "mixed": [one.name, "unknown", "not/valid", "..."],
    }
    side.ask_each({label: _of(n, allow_auto_topic_creation=False) for label, n in names.items()}, version)


def _by_id(side: Side, version: int, one: Topic, two: Topic) -> None:
    def ids(*topics: tuple[bytes, str | None]) -> MetadataRequest:
        wanted = [MetadataRequestTopic(topic_id=topic_id, name=name) for topic_id, name in topics]
        return MetadataRequest(topics=wanted, allow_auto_topic_creation=False)

    requests = {
        "null name": ids((bytes(16), None)),
        "id": ids((one.topic_id, None)),
        "two ids": ids((two.topic_id, None), (one.topic_id, None)),
        "unknown id": ids((UNKNOWN_ID, None)),
        "known and unknown id": ids((one.topic_id, None), (UNKNOWN_ID, None)),
        "id twice": ids((one.topic_id, None), (one.topic_id, None)),
        "id and the other's name": ids((one.topic_id, None), (bytes(16), two.name)),
        "id with its name": ids((one.topic_id, one.name)),
        "id with another name": ids((one.topic_id, "unknown")),
        "unknown id with a name": ids((UNKNOWN_ID, one.name)),
        "id, and name": ids((one.topic_id, None), (bytes(16), one.name)),
    }
    side.ask_each(requests, version)


def _operations(side: Side, version: int, one: Topic) -> None:
    flags = {"include_topic_authorized_operations": True, "allow_auto_topic_creation": False}
    side.ask("topic operations", _of([one.name], **flags), version)
    side.ask("topic operations of unknown", _of(["unknown"], **flags), version)
    side.ask("topic operations of none", _of([], **flags), version)
    if version <= LAST_WITH_CLUSTER_OPERATIONS:
        request = _of([one.name], include_cluster_authorized_operations=True)
        side.ask("cluster operations", request, version)


def _created(side: Side) -> None:
    """What is created on the way is told of at once by wirekafka, later by Kafka."""
    for version in (0, 1, 4, 9, 13):
        name = f"created-by-metadata-{version}"
        side.ask("first ask creates", _of([name]), version)
        await_topic(side, name)
        side.ask("second ask", _of([name]), version)
    names = ["created-with-another", "not/valid"]
    side.ask("first ask creates, and an invalid name", _of(names), 12)
    await_topic(side, names[0])
    side.ask("second ask, and an invalid name", _of(names), 12)
