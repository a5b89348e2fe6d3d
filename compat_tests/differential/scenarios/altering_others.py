"""IncrementalAlterConfigs and AlterConfigs of brokers, loggers, groups and client metrics.

Called by `run`. Source: KIP-226 (brokers), KIP-412 (loggers), KIP-714 (client metrics), KIP-848 (groups);
Kafka's ConfigAdminManager, DynamicBrokerConfig, GroupConfig, ClientMetricsConfigs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compat_tests.differential.altered import (
    APPEND,
    BROKER,
    DELETE,
    DESCRIBED_AT,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    SUBTRACT,
    TOPIC,
    Operation,
    changed,
    changed_together,
    only_set,
    replaced,
    settings_of,
)
from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.alter_configs import AlterConfigsRequest
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from wirekafka.protocol.apis.incremental_alter_configs import IncrementalAlterConfigsRequest

RETENTION = "log.retention.ms"
# Settings that a broker takes, and the next scenarios do not mind.
BROKER_STEPS: dict[str, tuple[Operation, ...]] = {
    "set": ((RETENTION, SET, "600000"),),
    "set with blanks": ((RETENTION, SET, " 700000 "),),
    "append": ((RETENTION, SET, "600001"), ("log.cleanup.policy", APPEND, "compact")),
    "subtract": ((RETENTION, SET, "600002"), ("log.cleanup.policy", SUBTRACT, "compact")),
    "unknown name": ((RETENTION, SET, "600003"), ("nobody.knows", SET, "1")),
    "delete": (
        (RETENTION, SET, "600004"),
        ("nobody.knows", DELETE, None),
        ("log.cleanup.policy", DELETE, None),
    ),
}
BROKER_REFUSED: dict[str, tuple[Operation, ...]] = {
    "read-only": (("num.partitions", SET, "2"),),
    "read-only and good": (("log.dirs", SET, "/x"), (RETENTION, SET, "5")),
    "read-only, deleted": (("num.partitions", DELETE, None),),
    "bad number": ((RETENTION, SET, "x"),),
    "no retention": ((RETENTION, SET, "0"),),
    "bad word": (("compression.type", SET, "nope"),),
    "no threads": (("num.io.threads", SET, "0"),),
    "far fewer threads": (("num.io.threads", SET, "3"),),
    "half the threads": (("num.io.threads", SET, "4"),),
    "far more threads": (("num.io.threads", SET, "17"),),
    "far more network threads": (("num.network.threads", SET, "70"),),
    "far more cleaners": (("log.cleaner.threads", SET, "3"),),
    "no cleaner": (("log.cleaner.threads", SET, "0"),),
    "small buffer": (("log.cleaner.dedupe.buffer.size", SET, "1048576"),),
    "lags that contradict": (
        ("log.cleaner.min.compaction.lag.ms", SET, "9"),
        ("log.cleaner.max.compaction.lag.ms", SET, "8"),
    ),
    "for listeners alone": (("ssl.keystore.password", SET, "x"),),
    "of one broker": (("ssl.client.auth", SET, "none"),),
    "of one listener": (("listener.name.x.ssl.client.auth", SET, "none"),),
    "strange folder": (("cordoned.log.dirs", SET, "/strange"),),
    "append to a number": ((RETENTION, APPEND, "1"),),
    "append to an unknown name": (("nobody.knows", APPEND, "1"),),
    "append to a read-only list": (("log.dirs", APPEND, "/x"),),
    "null": ((RETENTION, SET, None),),
    "name twice": ((RETENTION, SET, "1"), (RETENTION, SET, "1")),
    "operation 4": ((RETENTION, 4, "1"),),
}
GROUP_CASES = {
    "good": ("consumer.session.timeout.ms", "46000"),
    "too small": ("consumer.session.timeout.ms", "44999"),
    "too large": ("consumer.heartbeat.interval.ms", "15001"),
    "bad number": ("share.heartbeat.interval.ms", "x"),
    "lock too short": ("share.record.lock.duration.ms", "14999"),
    "too many standbys": ("streams.num.standby.replicas", "3"),
    "unknown assignor": ("streams.assignor.name", "nope"),
    "tag twice": ("streams.rack.aware.assignment.tags", "a,a"),
    "internal dead letters": ("errors.deadletterqueue.topic.name", "__dead"),
    "bad word": ("share.isolation.level", "nope"),
    "unknown name": ("nope", "1"),
}
METRICS_CASES = {
    "good": ("interval.ms", "60000"),
    "good list": ("metrics", "a,b"),
    "good match": ("match", "client_id=a.*, client_software_name = Java"),
    "too small": ("interval.ms", "99"),
    "too large": ("interval.ms", "3600001"),
    "bad number": ("interval.ms", "x"),
    "blank in a list": ("metrics", "a,,b"),
    "bad match": ("match", "nope=a"),
    "match without value": ("match", "client_id"),
    "bad expression": ("match", "client_id=("),
    "unknown name": ("nope", "1"),
}


def altering_others(side: Side) -> None:
    """Alter what is no topic in every version of both requests."""
    topic = create_topic(side, "of-brokers").name
    for version in every(IncrementalAlterConfigsRequest):
        for broker in ("1", ""):
            _change_broker(side, version, broker, topic)
        _names(side, version)
        _loggers(side, version)
        _cases(side, version, "group", GROUP, GROUP_CASES.items())
        _cases(side, version, "metrics", METRICS, METRICS_CASES.items())
    for version in every(AlterConfigsRequest):
        for broker in ("1", ""):
            _replace_broker(side, version, broker)
        for label, (kind, name) in {"logger": (LOGGER, "1"), "group": (GROUP, "")}.items():
            side.ask(f"{label} replaced", replaced(kind, name, {}), version)
        given = {"consumer.session.timeout.ms": "47000"}
        side.ask("group replaced by good", replaced(GROUP, f"r{version}", given), version)
        side.ask("metrics replaced by bad", replaced(METRICS, f"r{version}", {"nope": "1"}), version)
        settings_of(side, "group replaced: holds", GROUP, f"r{version}", version)


def _change_broker(side: Side, version: int, broker: str, topic: str) -> None:
    who = "broker" if broker else "all brokers"
    value = None
    for label, operations in BROKER_STEPS.items():
        side.ask(f"{who}: {label}", changed(BROKER, broker, *operations), version)
        value = operations[0][2]
        _await(side, value)
        _tell(side, f"{who}: {label}", version, broker, topic)
    for label, operations in BROKER_REFUSED.items():
        side.ask(f"{who}: {label}", changed(BROKER, broker, *operations, validate_only=True), version)
    side.ask(f"{who}: delete all", changed(BROKER, broker, (RETENTION, DELETE, None)), version)
    _await(side, None)
    _tell(side, f"{who}: after all", version, broker, topic)


def _await(side: Side, value: str | None) -> None:
    """Wait until the broker goes by a value of the setting that every step changes."""
    wanted = None if value is None else value.strip()
    side.arrange_until(
        _asked(BROKER, "1", [RETENTION]),
        DESCRIBED_AT,
        lambda answer: answer.results[0].configs[0].value == wanted,
    )


def _tell(side: Side, label: str, version: int, broker: str, topic: str) -> None:
    keys = [RETENTION, "log.cleanup.policy", "nobody.knows", "log.retention.hours"]
    for told, resource in {
        "holds": (BROKER, broker, keys),
        "holds for topics": (TOPIC, topic, ["retention.ms", "cleanup.policy", "segment.ms"]),
    }.items():
        side.ask(f"{label}: {told} (after v{version})", _asked(*resource), DESCRIBED_AT)


def _asked(kind: int, name: str, keys: list[str]) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
    return DescribeConfigsRequest(resources=[resource], include_synonyms=True)


def _replace_broker(side: Side, version: int, broker: str) -> None:
    who = "all of broker" if broker else "all of all brokers"
    # What a KRaft cluster of Kafka's has set for all brokers, and does not let go.
    kept: dict[str, str | None] = {} if broker else {"min.insync.replicas": "1"}
    for label, given in only_set(BROKER_REFUSED).items():
        side.ask(f"{who}: {label}", replaced(BROKER, broker, given | kept, validate_only=True), version)
    steps: tuple[tuple[str, dict[str, str | None], str | None], ...] = (
        ("replace", {RETENTION: "800000", "log.cleaner.backoff.ms": "16000"}, "800000"),
        ("replace by another", {RETENTION: "900000"}, "900000"),
        ("replace by nothing", {}, None),
    )
    for label, configs, value in steps:
        asked = replaced(BROKER, broker, configs | kept, validate_only=not broker)
        side.ask(f"{who}: {label}", asked, version)
        if broker:
            _await(side, value)
            _tell_broker(side, f"{who}: {label}", version)


def _tell_broker(side: Side, label: str, version: int) -> None:
    keys = [RETENTION, "log.cleaner.delete.retention.ms"]
    side.ask(f"{label}: holds (after v{version})", _asked(BROKER, "1", keys), DESCRIBED_AT)


def _names(side: Side, version: int) -> None:
    good = (RETENTION, SET, "600000")
    for name in ("7", "x", "-1", " "):
        side.ask(f"broker {name!r}", changed(BROKER, name, good, validate_only=True), version)
    both = (BROKER, "1", (good,)), (BROKER, "1", (good,)), (GROUP, "one", ())
    side.ask("broker twice", changed_together(*both, validate_only=True), version)


def _loggers(side: Side, version: int) -> None:
    for name in ("1", "7", "x", ""):
        side.ask(f"logger {name!r}", changed(LOGGER, name), version)
    for operation in (SET, DELETE, APPEND, SUBTRACT, 4):
        asked = changed(LOGGER, "1", ("no.such.logger", operation, "DEBUG"))
        side.ask(f"unknown logger, operation {operation}", asked, version)


# Any: the pairs of one of the tables above.
def _cases(side: Side, version: int, what: str, kind: int, cases: Iterable[Any]) -> None:
    name = f"{what}-{version}"
    for label, (config, value) in cases:
        side.ask(f"{what}: {label}", changed(kind, name, (config, SET, value)), version)
        settings_of(side, f"{what}: {label}: holds", kind, name, version)
    first = next(iter(cases))[1][0]
    side.ask(f"{what}: append", changed(kind, name, (first, APPEND, "1")), version)
    side.ask(f"{what}: operation 4", changed(kind, name, (first, 4, "1")), version)
    side.ask(f"{what}: delete", changed(kind, name, (first, DELETE, None)), version)
    side.ask(f"{what}: no name", changed(kind, "", (first, DELETE, None)), version)
    settings_of(side, f"{what}: after all", kind, name, version)
