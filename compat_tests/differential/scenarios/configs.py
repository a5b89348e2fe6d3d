"""DescribeConfigs: topics, brokers, loggers, groups, and what is none of these.

Called by `run`. Source: KIP-133, KIP-226 (synonyms), KIP-569 (types, documentation); Kafka's ConfigHelper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
FIRST_WITH_DOCUMENTATION = 3


def configs(side: Side) -> None:
    """Ask for configs in every version."""
    name = create_topic(side, "configured", retention_ms="12345", cleanup_policy="compact").name
    for version in every(DescribeConfigsRequest):
        _topics(side, version, name)
        _others(side, version)


def _of(
    resource_type: int, name: str, keys: Sequence[str] | None = None, **flags: Any
) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(resources=[_resource(resource_type, name, keys)], **flags)


def _resource(resource_type: int, name: str, keys: Sequence[str] | None = None) -> DescribeConfigsResource:
    listed = None if keys is None else list(keys)
    return DescribeConfigsResource(resource_type=resource_type, resource_name=name, configuration_keys=listed)


def _topics(side: Side, version: int, name: str) -> None:
    keys = ["retention.ms", "cleanup.policy", "segment.bytes", "compression.type", "preallocate"]
    side.ask_each(
        {
            "topic": _of(TOPIC, name, keys),
            "topic with synonyms": _of(TOPIC, name, keys, include_synonyms=True),
            "topic, key twice": _of(TOPIC, name, ["retention.ms", "retention.ms"]),
            "topic, unknown key": _of(TOPIC, name, ["nope", "retention.ms"]),
            "topic, no keys": _of(TOPIC, name, []),
            "topic, all keys": _of(TOPIC, name),
            "topic, all keys with synonyms": _of(TOPIC, name, include_synonyms=True),
            "unknown topic": _of(TOPIC, "unknown"),
            "invalid topic": _of(TOPIC, "not/valid"),
            "empty topic": _of(TOPIC, ""),
            "topic twice": DescribeConfigsRequest(
                resources=[_resource(TOPIC, name, [key]) for key in keys[:2]]
            ),
            "topic and unknown topic": DescribeConfigsRequest(
                resources=[_resource(TOPIC, name, keys), _resource(TOPIC, "unknown", keys)]
            ),
            "nothing": DescribeConfigsRequest(resources=[]),
        },
        version,
    )
    if version >= FIRST_WITH_DOCUMENTATION:
        side.ask(
            "topic with documentation", _of(TOPIC, name, include_documentation=True), version, keep=_told
        )


# Any: a DescribeConfigsResponse.
def _told(answer: Any) -> None:
    """Of documentation compare whether it is there: the words are Kafka's own."""
    for config in answer.results[0].configs:
        config.documentation = "there" if config.documentation else config.documentation


def _others(side: Side, version: int) -> None:
    side.ask_each(
        {
            "broker": _of(BROKER, "1", ["node.id", "num.partitions", "log.retention.ms"]),
            "broker with synonyms": _of(BROKER, "1", ["num.partitions"], include_synonyms=True),
            "broker, unknown key": _of(BROKER, "1", ["nope"]),
            "another broker": _of(BROKER, "7"),
            "broker of no number": _of(BROKER, "x"),
            "all brokers": _of(BROKER, "", ["log.retention.ms", "num.io.threads"]),
            "another logger": _of(LOGGER, "7"),
            "logger of no number": _of(LOGGER, "x"),
            "empty logger": _of(LOGGER, ""),
            "metrics": _of(METRICS, "x"),
            "metrics, empty name": _of(METRICS, ""),
            "group": _of(GROUP, "g"),
            "group, empty name": _of(GROUP, ""),
            "group, one key": _of(GROUP, "g", ["consumer.session.timeout.ms"]),
            "type 0": _of(0, "x"),
            "type 1": _of(1, "x"),
            "type 3": _of(3, "x"),
            "type 99": _of(99, "x"),
            "type -1": _of(-1, "x"),
        },
        version,
    )
