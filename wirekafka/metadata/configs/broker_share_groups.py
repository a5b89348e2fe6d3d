"""The broker settings of share groups, Streams groups and the share coordinator.

Gathered by `broker`.

Source: Kafka's GroupCoordinatorConfig, ShareGroupConfig, ShareCoordinatorConfig.
"""

from wirekafka.metadata.configs.checks import at_least, between, entries
from wirekafka.metadata.configs.definition import (
    BOOLEAN,
    CLASS,
    HIGH,
    INT,
    LIST,
    LONG,
    LOW,
    SHORT,
    STRING,
    table,
)
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

INT_MAX = 2**31 - 1

SHARE_GROUPS_CONFIGS = table(
    Config("errors.deadletterqueue.auto.create.topics.enable", BOOLEAN, False, updatable=True),
    Config("errors.deadletterqueue.topic.name.prefix", STRING, "dlq.", updatable=True),
    Config("group.share.assignment.interval.ms", INT, 1000, at_least(0), updatable=True),
    Config("group.share.assignor.offload.enable", BOOLEAN, True, updatable=True, internal=True),
    Config("group.share.assignors", LIST, ("simple",), entries(empty=False)),
    Config("group.share.delivery.count.limit", INT, 5, between(2, 10)),
    Config(
        "group.share.dlq.manager.class.name",
        STRING,
        "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager",
        internal=True,
    ),
    Config("group.share.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("group.share.initialize.retry.interval.ms", INT, 30000, at_least(1), LOW, internal=True),
    Config("group.share.max.assignment.interval.ms", INT, 15000, at_least(0)),
    Config("group.share.max.delivery.count.limit", INT, 10, between(5, 25)),
    Config("group.share.max.heartbeat.interval.ms", INT, 15000, at_least(1)),
    Config("group.share.max.partition.max.record.locks", INT, 4000, between(2000, 10000)),
    Config("group.share.max.record.lock.duration.ms", INT, 60000, between(30000, 3_600_000)),
    Config("group.share.max.session.timeout.ms", INT, 60000, at_least(1)),
    Config("group.share.max.share.sessions", INT, 2000, at_least(1)),
    Config("group.share.max.size", INT, 200, between(1, 1000)),
    Config("group.share.min.assignment.interval.ms", INT, 0, at_least(0)),
    Config("group.share.min.delivery.count.limit", INT, 2, between(2, 5)),
    Config("group.share.min.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("group.share.min.partition.max.record.locks", INT, 100, between(100, 2000)),
    Config("group.share.min.record.lock.duration.ms", INT, 15000, between(1000, 30000)),
    Config("group.share.min.session.timeout.ms", INT, 45000, at_least(1)),
    Config("group.share.partition.max.record.locks", INT, 2000, between(100, 10000)),
    Config(
        "group.share.persister.class.name",
        STRING,
        "org.apache.kafka.server.share.persister.DefaultStatePersister",
        internal=True,
    ),
    Config("group.share.record.lock.duration.ms", INT, 30000, between(1000, 3_600_000)),
    Config("group.share.session.timeout.ms", INT, 45000, at_least(1)),
    Config("group.streams.acceptable.recovery.lag", LONG, 10000, at_least(0), internal=True),
    Config("group.streams.assignment.interval.ms", INT, 1000, at_least(0), updatable=True),
    Config("group.streams.assignor.offload.enable", BOOLEAN, True, updatable=True, internal=True),
    Config("group.streams.assignors", LIST, ("sticky",), entries(empty=False)),
    Config("group.streams.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("group.streams.initial.rebalance.delay.ms", INT, 3000, at_least(0)),
    Config("group.streams.max.assignment.interval.ms", INT, 15000, at_least(0)),
    Config("group.streams.max.heartbeat.interval.ms", INT, 15000, at_least(1)),
    Config("group.streams.max.session.timeout.ms", INT, 60000, at_least(1)),
    Config("group.streams.max.size", INT, INT_MAX, at_least(1)),
    Config("group.streams.max.standby.replicas", INT, 2, at_least(0)),
    Config("group.streams.max.warmup.replicas", INT, 20, at_least(0), internal=True),
    Config("group.streams.min.assignment.interval.ms", INT, 0, at_least(0)),
    Config("group.streams.min.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("group.streams.min.session.timeout.ms", INT, 45000, at_least(1)),
    Config("group.streams.min.task.offset.interval.ms", INT, 15000, at_least(1), internal=True),
    Config("group.streams.num.standby.replicas", INT, 0, at_least(0)),
    Config("group.streams.num.warmup.replicas", INT, 2, at_least(0), internal=True),
    Config("group.streams.rack.aware.assignment.tags", LIST, (), entries(), LOW),
    Config("group.streams.session.timeout.ms", INT, 45000, at_least(1)),
    Config("group.streams.task.offset.interval.ms", INT, 60000, at_least(1), internal=True),
    Config("group.streams.topology.description.plugin.class", CLASS, None),
    Config("share.coordinator.append.linger.ms", INT, -1, at_least(-1)),
    Config("share.coordinator.cached.buffer.max.bytes", INT, 1_048_588, at_least(524_288), updatable=True),
    Config(
        "share.coordinator.cold.partition.snapshot.interval.ms", INT, 300_000, at_least(1), LOW, internal=True
    ),
    Config("share.coordinator.load.buffer.size", INT, 5_242_880, at_least(1), HIGH),
    Config("share.coordinator.snapshot.update.records.per.snapshot", INT, 500, between(0, 500)),
    Config("share.coordinator.state.topic.compression.codec", INT, 0, None, HIGH),
    Config("share.coordinator.state.topic.min.isr", SHORT, 2, at_least(1), HIGH),
    Config("share.coordinator.state.topic.num.partitions", INT, 50, at_least(1), HIGH),
    Config("share.coordinator.state.topic.prune.interval.ms", INT, 300_000, at_least(1), LOW, internal=True),
    Config("share.coordinator.state.topic.replication.factor", SHORT, 3, at_least(1), HIGH),
    Config("share.coordinator.state.topic.segment.bytes", INT, 104_857_600, at_least(1), HIGH),
    Config("share.coordinator.threads", INT, 1, at_least(1)),
    Config("share.coordinator.write.timeout.ms", INT, 5000, at_least(1), HIGH),
    Config("share.fetch.purgatory.purge.interval.requests", INT, 1000),
)
