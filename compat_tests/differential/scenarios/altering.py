"""IncrementalAlterConfigs and AlterConfigs of topics: what is changed, what is refused, and what holds then.

Called by `run`. Source: KIP-133, KIP-339; Kafka's ConfigurationControlManager, ConfigAdminManager.
"""

from __future__ import annotations

from compat_tests.differential.altered import (
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
    TOPIC,
    Operation,
    changed,
    changed_together,
    only_set,
    replaced,
    replaced_together,
    settings_of,
)
from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.alter_configs import AlterConfigsRequest
from wirekafka.protocol.apis.incremental_alter_configs import IncrementalAlterConfigsRequest

THROTTLED = "follower.replication.throttled.replicas"
LONGEST = "1:1," * 8191 + "1:1"
# One after the other, on one topic; what holds is asked after each.
STEPS: dict[str, tuple[Operation, ...]] = {
    "set": (("retention.ms", SET, "5000"),),
    "set the same": (("retention.ms", SET, "5000"),),
    "set with blanks": (("segment.ms", SET, " 7000 "),),
    "set three": (
        ("flush.ms", SET, "9"),
        ("preallocate", SET, "TRUE"),
        ("min.cleanable.dirty.ratio", SET, ".25"),
    ),
    "append to the default": (("cleanup.policy", APPEND, "compact"),),
    "append what is there": (("cleanup.policy", APPEND, "compact,delete"),),
    "append commas": (("cleanup.policy", APPEND, ",,"),),
    "subtract": (("cleanup.policy", SUBTRACT, "delete"),),
    "subtract what is not there": (("cleanup.policy", SUBTRACT, "delete,nope"),),
    "subtract the last": (("cleanup.policy", SUBTRACT, "compact"),),
    "append to nothing": (("cleanup.policy", APPEND, "compact"),),
    "append throttled": ((THROTTLED, APPEND, "0:1,1:1"),),
    "subtract from the default": (("leader.replication.throttled.replicas", SUBTRACT, "0:1"),),
    "delete": (("retention.ms", DELETE, None),),
    "delete with a value": (("segment.ms", DELETE, "whatever"),),
    "delete what is not set": (("segment.bytes", DELETE, None),),
    "delete an unknown name": (("nope", DELETE, None),),
    "set and delete": (("segment.ms", SET, "8000"), ("flush.ms", DELETE, None)),
    "no operations": (),
}
REFUSED: dict[str, tuple[Operation, ...]] = {
    "unknown name": (("nope", SET, "1"),),
    "empty name": (("", SET, "1"),),
    "bad number": (("retention.ms", SET, "x"),),
    "number too small": (("retention.ms", SET, "-2"),),
    "number too large": (("retention.ms", SET, "9223372036854775808"),),
    "empty number": (("retention.ms", SET, ""),),
    "bad word": (("compression.type", SET, "nope"),),
    "bad boolean": (("preallocate", SET, "yes"),),
    "bad list": (("cleanup.policy", SET, "compact,nope"),),
    "blank in a list": (("cleanup.policy", SET, "compact,,delete"),),
    "append nothing": (("cleanup.policy", APPEND, ""),),
    "append a bad entry": (("cleanup.policy", APPEND, "nope"),),
    "append to a number": (("retention.ms", APPEND, "1"),),
    "append to an unknown name": (("nope", APPEND, "1"),),
    "subtract from a word": (("compression.type", SUBTRACT, "gzip"),),
    "null": (("retention.ms", SET, None),),
    "append null": (("cleanup.policy", APPEND, None),),
    "null and bad": (("retention.ms", SET, None), ("nope", SET, "1")),
    "name twice": (("retention.ms", SET, "1"), ("retention.ms", SET, "1")),
    "set and deleted": (("retention.ms", SET, "1"), ("retention.ms", DELETE, None)),
    "good and bad": (("retention.ms", SET, "1"), ("segment.ms", SET, "x")),
    "lags that contradict": (("min.compaction.lag.ms", SET, "9"), ("max.compaction.lag.ms", SET, "8")),
    "tiered storage": (("remote.storage.enable", SET, "true"),),
    "operation 4": (("retention.ms", 4, "1"),),
    "operation -1": (("retention.ms", -1, "1"),),
}
NO_RESOURCES = {
    "unknown topic": (TOPIC, "unknown"),
    "invalid topic": (TOPIC, "not/valid"),
    "empty topic": (TOPIC, ""),
    "metadata topic": (TOPIC, "__cluster_metadata"),
    "type 0": (0, "x"),
    "type 1": (1, "x"),
    "type 3": (3, "x"),
    "type 99": (99, "x"),
    "type -1": (-1, "x"),
}
GOOD, BAD = ("retention.ms", SET, "7"), ("retention.ms", SET, "x")


def altering(side: Side) -> None:
    """Alter topics in every version of both requests."""
    for version in every(IncrementalAlterConfigsRequest):
        _change(side, version)
    for version in every(AlterConfigsRequest):
        _replace(side, version)


def _change(side: Side, version: int) -> None:
    name, other = (
        create_topic(side, f"{what}-{version}", flush_ms="1").name for what in ("changed", "beside")
    )
    for label, operations in STEPS.items():
        side.ask(label, changed(TOPIC, name, *operations), version)
        settings_of(side, f"{label}: holds", TOPIC, name, version)
    for label, operations in REFUSED.items():
        side.ask(label, changed(TOPIC, name, *operations), version)
    side.ask("longest", changed(TOPIC, other, (THROTTLED, SET, LONGEST)), version)
    side.ask("too long", changed(TOPIC, other, (THROTTLED, APPEND, "2:2")), version)
    for label, resource in NO_RESOURCES.items():
        side.ask(label, changed(*resource, GOOD), version)
        side.ask(f"{label}, nothing asked", changed(*resource), version)
        side.ask(f"{label}, bad value", changed(*resource, BAD), version)
    side.ask("validated", changed(TOPIC, name, GOOD, validate_only=True), version)
    side.ask("validated, bad", changed(TOPIC, name, BAD, validate_only=True), version)
    both = (TOPIC, name, (GOOD,)), (TOPIC, other, (BAD,)), (TOPIC, "unknown", (GOOD,))
    side.ask("three topics", changed_together(*both), version)
    side.ask("topic twice", changed_together((TOPIC, other, (GOOD,)), (TOPIC, other, (GOOD,))), version)
    side.ask(
        "topic twice and another", changed_together(both[0], (TOPIC, other, ()), (TOPIC, other, ())), version
    )
    side.ask("nothing", changed_together(), version)
    for topic in (name, other):
        settings_of(side, f"after all: {topic.partition('-')[0]}", TOPIC, topic, version)


def _replace(side: Side, version: int) -> None:
    name = create_topic(side, f"replaced-{version}", flush_ms="1", segment_ms="8000").name
    steps: dict[str, dict[str, str | None]] = {
        "replace": {"retention.ms": "5000", "flush.ms": "1"},
        "replace by the same": {"retention.ms": "5000", "flush.ms": "1"},
        "replace a list": {"cleanup.policy": "compact,delete", "preallocate": "true"},
        "replace by an empty list": {"cleanup.policy": ""},
        "replace by nothing": {},
    }
    for label, configs in steps.items():
        side.ask(f"all: {label}", replaced(TOPIC, name, configs), version)
        settings_of(side, f"all: {label}: holds", TOPIC, name, version)
    side.ask("all: set again", replaced(TOPIC, name, {"flush.ms": "1"}), version)
    for label, given in only_set(REFUSED).items():
        side.ask(f"all: {label}", replaced(TOPIC, name, given), version)
    for label, resource in NO_RESOURCES.items():
        side.ask(f"all: {label}", replaced(*resource, {"retention.ms": "7"}), version)
        side.ask(f"all: {label}, nothing asked", replaced(*resource, {}), version)
    side.ask("all: validated", replaced(TOPIC, name, {}, validate_only=True), version)
    side.ask("all: validated, bad", replaced(TOPIC, name, {"nope": "1"}, validate_only=True), version)
    twice = ("retention.ms", "1"), ("retention.ms", "2")
    side.ask("all: name twice", replaced_together((TOPIC, name, twice)), version)
    # A topic that stands twice is not asked about: Kafka never answers that.
    side.ask("all: two topics", replaced_together((TOPIC, name, twice[:1]), (TOPIC, "unknown", ())), version)
    side.ask("all: nothing", replaced_together(), version)
    settings_of(side, "all: after all", TOPIC, name, version)
