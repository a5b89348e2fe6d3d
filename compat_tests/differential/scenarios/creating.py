"""CreateTopics: counts, factors, assignments, configs, names, twice, only to check.

Called by `run`. Source: KIP-4, KIP-464 (defaults), KIP-525 (configs in the answer); Kafka's
ReplicationControlManager.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import await_topic
from wirekafka.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

LONG = "a" * 250
Assignments = Sequence[tuple[int, list[int]]]
Configs = Sequence[tuple[str, str | None]]


def creating(side: Side) -> None:
    """Create topics, rightly and wrongly, and only check it."""
    for version in every(CreateTopicsRequest):
        for only in (True, False):
            _ask(side, version, only, _refused(f"c{version}"))
            _ask(side, version, only, _refused_assignments(f"c{version}"))
        _ask(side, version, True, _accepted(f"c{version}"))
        _for_real(side, version)


def _topic(
    name: str, count: int = 1, factor: int = 1, assignments: Assignments = (), configs: Configs = ()
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=count,
        replication_factor=factor,
        assignments=[CreatableReplicaAssignment(partition_index=p, broker_ids=b) for p, b in assignments],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs],
    )


def _ask(side: Side, version: int, only: bool, cases: Mapping[str, Sequence[CreatableTopic]]) -> None:
    for label, topics in cases.items():
        request = CreateTopicsRequest(topics=list(topics), timeout_ms=10_000, validate_only=only)
        told = f"{label}, only checked" if only else label
        side.ask(told, request, version, keep=_learn(side))


# Any: a CreateTopicsResponse.
def _learn(side: Side) -> Callable[[Any], None]:
    """Know the ids that come back by the topics' names; also those of topics only checked."""

    def learn(answer: Any) -> None:
        for topic in answer.topics:
            if topic.error_code == 0 and any(topic.topic_id):
                side.stands.topics[topic.topic_id] = f"topic {topic.name}"

    return learn


def _refused(name: str) -> dict[str, list[CreatableTopic]]:
    def configured(*configs: tuple[str, str | None]) -> list[CreatableTopic]:
        return [_topic(name, configs=configs)]

    return {
        "no topics": [],
        "0 partitions": [_topic(name, 0)],
        "-2 partitions": [_topic(name, -2)],
        "factor 2": [_topic(name, 1, 2)],
        "factor 0": [_topic(name, 1, 0)],
        "factor -2": [_topic(name, 1, -2)],
        "0 partitions and factor 2": [_topic(name, 0, 2)],
        "invalid name": [_topic("not/valid")],
        "empty name": [_topic("")],
        "dot": [_topic(".")],
        "two dots": [_topic("..")],
        "long name": [_topic(LONG)],
        "not ASCII": [_topic("ä")],
        "invalid name and 0 partitions": [_topic("not/valid", 0)],
        "twice": [_topic(name), _topic(name, 2)],
        "invalid name twice": [_topic("not/valid"), _topic("not/valid")],
        "exists": [_topic("metadata-one")],
        "exists, 0 partitions": [_topic("metadata-one", 0)],
        "exists, bad config": [_topic("metadata-one", configs=[("nope", "1")])],
        "collides": [_topic("metadata.one"), _topic("metadata_one")],
        "unknown config": configured(("nope", "1")),
        "broker's config": configured(("log.retention.ms", "1")),
        "bad config value": configured(("retention.ms", "x")),
        "null config value": configured(("retention.ms", None)),
        "config out of range": configured(("segment.bytes", "1")),
        "negative config": configured(("retention.ms", "-2")),
        "bad cleanup policy": configured(("cleanup.policy", "shrink")),
        "empty cleanup policy": configured(("cleanup.policy", "")),
        "bad compression": configured(("compression.type", "brotli")),
        "bad boolean": configured(("preallocate", "maybe")),
        "empty config name": configured(("", "1")),
        "two bad configs": configured(("nope", "1"), ("retention.ms", "x")),
        "remote storage": configured(("remote.storage.enable", "true")),
        "bad ratio": configured(("min.cleanable.dirty.ratio", "1.5")),
    }


def _refused_assignments(name: str) -> dict[str, list[CreatableTopic]]:
    def assigned(
        *assignments: tuple[int, list[int]], count: int = -1, factor: int = -1
    ) -> list[CreatableTopic]:
        return [_topic(name, count, factor, assignments)]

    return {
        "assigned, and a count": assigned((0, [1]), (1, [1]), count=2),
        "assigned, and a factor": assigned((0, [1]), factor=1),
        "assigned to an unknown broker": assigned((0, [7])),
        "assigned to one broker twice": assigned((0, [1, 1])),
        "assigned to nobody": assigned((0, [])),
        "assigned with a gap": assigned((0, [1]), (2, [1])),
        "assigned from 1": assigned((1, [1])),
        "assigned partition twice": assigned((0, [1]), (0, [1])),
        "assigned unevenly": assigned((0, [1]), (1, [1, 2])),
        "assigned to broker -1": assigned((0, [-1])),
        "assigned partition -1": assigned((-1, [1])),
    }


def _accepted(name: str) -> dict[str, list[CreatableTopic]]:
    good = [("retention.ms", "1000"), ("cleanup.policy", "compact,delete")]
    return {
        "simple": [_topic(name)],
        "defaults": [_topic(name, -1, -1)],
        "good configs": [_topic(name, configs=good)],
        "config twice": [_topic(name, configs=[("retention.ms", "1000"), ("retention.ms", "2000")])],
        "odd case value": [_topic(name, configs=[("cleanup.policy", "Compact")])],
        "blank around value": [_topic(name, configs=[("retention.ms", " 1000 ")])],
        "every kind of config": [
            _topic(
                name,
                configs=[
                    ("compression.type", "zstd"),
                    ("max.message.bytes", "2000"),
                    ("message.timestamp.type", "LogAppendTime"),
                    ("min.cleanable.dirty.ratio", "0.25"),
                    ("preallocate", "TRUE"),
                    ("retention.bytes", "-1"),
                ],
            )
        ],
        "assigned": [_topic(name, -1, -1, [(0, [1]), (1, [1])])],
        "assigned out of order": [_topic(name, -1, -1, [(1, [1]), (0, [1])])],
        "internal": [_topic("__consumer_offsets", 3)],
        "mixed": [_topic(name), _topic("not/valid"), _topic("metadata-one")],
        "many partitions": [_topic(name, 10_001)],
        "longest name": [_topic("a" * 249)],
    }


def _for_real(side: Side, version: int) -> None:
    def ask(label: str, *topics: CreatableTopic) -> None:
        side.ask(
            label, CreateTopicsRequest(topics=list(topics), timeout_ms=10_000), version, keep=_learn(side)
        )

    name = f"created-{version}"
    ask("created", _topic(name, 2, configs=[("retention.ms", "5000")]))
    await_topic(side, name, 2)
    ask("created again", _topic(name, 2))
    ask("created with dots", _topic(f"dots.x{version}"))
    ask("collides with dots", _topic(f"dots_x{version}"))
    ask("good and bad", _topic(f"also-{version}"), _topic("not/valid"), _topic(name))
