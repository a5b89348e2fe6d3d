"""The broker settings of consumer groups, committed offsets, transactions and producer ids.

Gathered by `broker`; the assignors' names are read by `consistency`, and by who makes the groups' config.

Source: Kafka's GroupCoordinatorConfig, TransactionLogConfig, TransactionStateManagerConfig.
"""

from wirekafka.metadata.configs.checks import at_least, entries, one_of_any_case
from wirekafka.metadata.configs.definition import BOOLEAN, INT, LIST, LONG, SHORT, STRING, table
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

INT_MAX = 2**31 - 1

ASSIGNOR_NAMES = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}
"""Kafka's classes of the assignors that a group may use, by which they may be named too."""

GROUPS_CONFIGS = table(
    Config("add.partitions.to.txn.retry.backoff.max.ms", INT, 100, at_least(0)),
    Config("add.partitions.to.txn.retry.backoff.ms", INT, 20, at_least(1)),
    Config("group.consumer.assignment.interval.ms", INT, 1000, at_least(0), updatable=True),
    Config("group.consumer.assignor.offload.enable", BOOLEAN, True, updatable=True, internal=True),
    Config(
        "group.consumer.assignors",
        LIST,
        (
            "uniform",
            "range",
        ),
        entries(empty=False),
    ),
    Config("group.consumer.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("group.consumer.max.assignment.interval.ms", INT, 15000, at_least(0)),
    Config("group.consumer.max.heartbeat.interval.ms", INT, 15000, at_least(1)),
    Config("group.consumer.max.session.timeout.ms", INT, 60000, at_least(1)),
    Config("group.consumer.max.size", INT, INT_MAX, at_least(1)),
    Config(
        "group.consumer.migration.policy",
        STRING,
        "bidirectional",
        one_of_any_case("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
    ),
    Config("group.consumer.min.assignment.interval.ms", INT, 0, at_least(0)),
    Config("group.consumer.min.heartbeat.interval.ms", INT, 5000, at_least(1)),
    Config("group.consumer.min.session.timeout.ms", INT, 45000, at_least(1)),
    Config("group.consumer.regex.refresh.interval.ms", INT, 600_000, at_least(10000), internal=True),
    Config("group.consumer.session.timeout.ms", INT, 45000, at_least(1)),
    Config("group.coordinator.append.linger.ms", INT, -1, at_least(-1)),
    Config("group.coordinator.background.threads", INT, 2, at_least(1)),
    Config("group.coordinator.cached.buffer.max.bytes", INT, 1_048_588, at_least(524_288), updatable=True),
    Config(
        "group.coordinator.rebalance.protocols",
        LIST,
        (
            "classic",
            "consumer",
            "streams",
        ),
        entries("consumer", "classic", "share", "streams", empty=False),
    ),
    Config("group.coordinator.threads", INT, 4, at_least(1)),
    Config("group.initial.rebalance.delay.ms", INT, 3000),
    Config("group.max.session.timeout.ms", INT, 1_800_000),
    Config("group.max.size", INT, INT_MAX, at_least(1)),
    Config("group.min.session.timeout.ms", INT, 6000),
    Config("offset.metadata.max.bytes", INT, 4096, None),
    Config("offsets.commit.timeout.ms", INT, 5000, at_least(1)),
    Config("offsets.load.buffer.size", INT, 5_242_880, at_least(1)),
    Config("offsets.retention.check.interval.ms", LONG, 600_000, at_least(1)),
    Config("offsets.retention.minutes", INT, 10080, at_least(1)),
    Config("offsets.topic.compression.codec", INT, 0, None),
    Config("offsets.topic.num.partitions", INT, 50, at_least(1)),
    Config("offsets.topic.replication.factor", SHORT, 3, at_least(1)),
    Config("offsets.topic.segment.bytes", INT, 104_857_600, at_least(1)),
    Config("producer.id.expiration.check.interval.ms", INT, 600_000, at_least(1), internal=True),
    Config("producer.id.expiration.ms", INT, 86_400_000, at_least(1), updatable=True),
    Config("transaction.abort.timed.out.transaction.cleanup.interval.ms", INT, 10000, at_least(1)),
    Config("transaction.max.timeout.ms", INT, 900_000, at_least(1)),
    Config("transaction.partition.verification.enable", BOOLEAN, True, None, updatable=True),
    Config("transaction.remove.expired.transaction.cleanup.interval.ms", INT, 3_600_000, at_least(1)),
    Config("transaction.state.log.load.buffer.size", INT, 5_242_880, at_least(1)),
    Config("transaction.state.log.min.isr", INT, 2, at_least(1)),
    Config("transaction.state.log.num.partitions", INT, 50, at_least(1)),
    Config("transaction.state.log.replication.factor", SHORT, 3, at_least(1)),
    Config("transaction.state.log.segment.bytes", INT, 104_857_600, at_least(1)),
    Config("transaction.two.phase.commit.enable", BOOLEAN, False, None),
    Config("transactional.id.expiration.ms", INT, 604_800_000, at_least(1)),
)
