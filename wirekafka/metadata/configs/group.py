"""The settings a group may have of its own, the broker settings that are their defaults and their bounds,
and the settings of a client metrics subscription.

Read by the metadata machine when it describes or changes them, and by `group_settings`.

Source: Kafka's GroupConfig (KIP-848, KIP-932, KIP-1071) and ClientMetricsConfigs (KIP-714).
"""

from wirekafka.metadata.configs.checks import SHARE_OFFSET_RESET, at_least, entries, one_of
from wirekafka.metadata.configs.definition import BOOLEAN, INT, LIST, LONG, STRING, table
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

GROUP_TYPES = ("consumer", "share", "streams")
"""With these the names of most settings of a group begin."""

GROUP_CONFIGS = table(
    Config("consumer.assignment.interval.ms", INT, 1000, at_least(0)),
    Config("consumer.assignor.offload.enable", BOOLEAN, True, internal=True),
    Config("consumer.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("consumer.session.timeout.ms", INT, 45000, at_least(1)),
    Config("errors.deadletterqueue.copy.record.enable", BOOLEAN, False),
    Config("errors.deadletterqueue.topic.name", STRING, ""),
    Config("share.assignment.interval.ms", INT, 1000, at_least(0)),
    Config("share.assignor.offload.enable", BOOLEAN, True, internal=True),
    Config("share.auto.offset.reset", STRING, "latest", SHARE_OFFSET_RESET),
    Config("share.delivery.count.limit", INT, 5, at_least(2)),
    Config("share.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("share.isolation.level", STRING, "read_uncommitted", one_of("read_committed", "read_uncommitted")),
    Config("share.partition.max.record.locks", INT, 2000, at_least(100)),
    Config("share.record.lock.duration.ms", INT, 30000, at_least(1000)),
    Config("share.renew.acknowledge.enable", BOOLEAN, True),
    Config("share.session.timeout.ms", INT, 45000, at_least(1)),
    Config("streams.acceptable.recovery.lag", LONG, 10000, at_least(0), internal=True),
    Config("streams.assignment.interval.ms", INT, 1000, at_least(0)),
    Config("streams.assignor.name", STRING, None),
    Config("streams.assignor.offload.enable", BOOLEAN, True, internal=True),
    Config("streams.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("streams.initial.rebalance.delay.ms", INT, 3000, at_least(0)),
    Config("streams.num.standby.replicas", INT, 0, at_least(0)),
    Config("streams.num.warmup.replicas", INT, 2, at_least(0), internal=True),
    Config("streams.rack.aware.assignment.tags", LIST, (), entries()),
    Config("streams.session.timeout.ms", INT, 45000, at_least(1)),
    Config("streams.task.offset.interval.ms", INT, 60000, at_least(1), internal=True),
)

CLIENT_METRICS_CONFIGS = table(
    Config("interval.ms", INT, 300_000),
    Config("match", LIST, (), entries()),
    Config("metrics", LIST, (), entries()),
)

_WITHOUT_SYNONYM = (
    "errors.deadletterqueue.copy.record.enable",
    "errors.deadletterqueue.topic.name",
    "share.auto.offset.reset",
    "share.isolation.level",
    "share.renew.acknowledge.enable",
)


def group_synonym(name: str) -> str | None:
    """Name the broker setting that is the default of a group setting; None if there is none."""
    if name == "streams.assignor.name":
        return "group.streams.assignors"
    return None if name in _WITHOUT_SYNONYM else f"group.{name}"


def bounds_of(name: str) -> tuple[str, str] | None:
    """Name the broker settings that bound a group's <type>.<setting>: group.<type>.min and .max.<setting>.

    Either of the two may not be there. None for a setting that has no type.
    """
    group_type, _, setting = name.partition(".")
    if group_type not in GROUP_TYPES:
        return None
    setting = setting.removeprefix("num.")
    return f"group.{group_type}.min.{setting}", f"group.{group_type}.max.{setting}"
