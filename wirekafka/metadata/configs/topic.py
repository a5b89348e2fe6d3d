"""The settings a topic may have of its own, and the broker settings that are their defaults.

Read by the metadata machine when it creates topics, describes them and says what holds for one.

Source: Kafka's LogConfig, TopicConfig and ServerTopicConfigSynonyms.
"""

from wirekafka.metadata.configs.checks import (
    DURABILITY,
    GZIP_LEVEL,
    THROTTLED_REPLICAS,
    at_least,
    between,
    entries,
    one_of,
)
from wirekafka.metadata.configs.definition import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING, table
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

LONG_MAX = 2**63 - 1

TOPIC_CONFIGS = table(
    Config("cleanup.policy", LIST, ("delete",), entries("compact", "delete")),
    Config("compression.gzip.level", INT, -1, GZIP_LEVEL),
    Config("compression.lz4.level", INT, 9, between(1, 17)),
    Config(
        "compression.type",
        STRING,
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    ),
    Config("compression.zstd.level", INT, 3, between(-131_072, 22)),
    Config("delete.retention.ms", LONG, 86_400_000, at_least(0)),
    Config("errors.deadletterqueue.group.enable", BOOLEAN, False),
    Config("file.delete.delay.ms", LONG, 60000, at_least(0)),
    Config("flush.messages", LONG, LONG_MAX, at_least(1)),
    Config("flush.ms", LONG, LONG_MAX, at_least(0)),
    Config("follower.replication.throttled.replicas", LIST, (), THROTTLED_REPLICAS),
    Config("index.interval.bytes", INT, 4096, at_least(0)),
    Config("internal.segment.bytes", INT, None, internal=True),
    Config("leader.replication.throttled.replicas", LIST, (), THROTTLED_REPLICAS),
    Config("local.retention.bytes", LONG, -2, at_least(-2)),
    Config("local.retention.ms", LONG, -2, at_least(-2)),
    Config("max.compaction.lag.ms", LONG, LONG_MAX, at_least(1)),
    Config("max.decompressed.message.bytes", INT, 2_147_483_639, between(1, 2_147_483_639)),
    Config("max.message.bytes", INT, 1_048_588, at_least(0)),
    Config("message.timestamp.after.max.ms", LONG, 3_600_000, at_least(0)),
    Config("message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0)),
    Config("message.timestamp.type", STRING, "CreateTime", one_of("CreateTime", "LogAppendTime")),
    Config("min.cleanable.dirty.ratio", DOUBLE, 0.5, between(0, 1)),
    Config("min.compaction.lag.ms", LONG, 0, at_least(0)),
    Config("min.insync.replicas", INT, 1, at_least(1)),
    Config("preallocate", BOOLEAN, False),
    Config("remote.copy.lag.bytes", LONG, -1, at_least(-1)),
    Config("remote.copy.lag.ms", LONG, 0, at_least(-1)),
    Config("remote.log.copy.disable", BOOLEAN, False),
    Config("remote.log.delete.on.disable", BOOLEAN, False),
    Config("remote.storage.enable", BOOLEAN, False),
    Config("retention.bytes", LONG, -1),
    Config("retention.ms", LONG, 604_800_000, at_least(-1)),
    Config("segment.bytes", INT, 1_073_741_824, at_least(1_048_576)),
    Config("segment.index.bytes", INT, 10_485_760, at_least(4)),
    Config("segment.jitter.ms", LONG, 0, at_least(0)),
    Config("segment.ms", LONG, 604_800_000, at_least(1)),
    Config("unclean.leader.election.enable", BOOLEAN, False),
    # Not Kafka's: told of only where somebody has set it, so that the list stays Kafka's.
    Config("wirekafka.durability", STRING, "os", DURABILITY, internal=True),
)

HOUR_MS = 3_600_000
MINUTE_MS = 60_000

TOPIC_SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.decompressed.message.bytes": (("max.decompressed.message.bytes", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "preallocate": (("log.preallocate", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", MINUTE_MS),
        ("log.retention.hours", HOUR_MS),
    ),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR_MS)),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
    "wirekafka.durability": (("wirekafka.durability", 1),),
}
"""For each topic setting the broker settings that stand in for it, first come first, and the factor
that makes the topic's unit of the broker's."""
