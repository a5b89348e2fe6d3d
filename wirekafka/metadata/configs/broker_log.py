"""The broker settings of topics and logs: names, types, defaults and checks.

Gathered by `broker`.

Source: Kafka's ServerLogConfigs, CleanerConfig, LogConfig.
"""

import sys

from wirekafka.metadata.configs.checks import GZIP_LEVEL, at_least, between, entries, one_of
from wirekafka.metadata.configs.definition import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    STRING,
    table,
)
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

LONG_MAX = 2**63 - 1
DOUBLE_MAX = sys.float_info.max

LOG_CONFIGS = table(
    Config("alter.config.policy.class.name", CLASS, None, None),
    Config("auto.create.topics.enable", BOOLEAN, True, None),
    Config("compression.gzip.level", INT, -1, GZIP_LEVEL, updatable=True),
    Config("compression.lz4.level", INT, 9, between(1, 17), updatable=True),
    Config(
        "compression.type",
        STRING,
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        updatable=True,
    ),
    Config("compression.zstd.level", INT, 3, between(-131_072, 22), updatable=True),
    Config("cordoned.log.dirs", LIST, (), entries(), updatable=True),
    Config("create.topic.policy.class.name", CLASS, None, None),
    Config("default.replication.factor", INT, 1),
    Config("delete.records.purgatory.purge.interval.requests", INT, 1),
    Config("delete.topic.enable", BOOLEAN, True, None),
    Config("log.cleaner.backoff.ms", LONG, 15000, at_least(0), updatable=True),
    Config("log.cleaner.dedupe.buffer.size", LONG, 134_217_728, updatable=True),
    Config("log.cleaner.delete.retention.ms", LONG, 86_400_000, at_least(0), updatable=True),
    Config("log.cleaner.enable", BOOLEAN, True),
    Config("log.cleaner.io.buffer.load.factor", DOUBLE, 0.9, updatable=True),
    Config("log.cleaner.io.buffer.size", INT, 524_288, at_least(0), updatable=True),
    Config("log.cleaner.io.max.bytes.per.second", DOUBLE, DOUBLE_MAX, updatable=True),
    Config("log.cleaner.max.compaction.lag.ms", LONG, LONG_MAX, at_least(1), updatable=True),
    Config("log.cleaner.min.cleanable.ratio", DOUBLE, 0.5, between(0, 1), updatable=True),
    Config("log.cleaner.min.compaction.lag.ms", LONG, 0, at_least(0), updatable=True),
    Config("log.cleaner.threads", INT, 1, at_least(0), updatable=True),
    Config("log.cleanup.policy", LIST, ("delete",), entries("compact", "delete"), updatable=True),
    Config("log.dir", LIST, ("/tmp/kafka-logs",), entries(empty=False)),
    Config("log.dir.failure.timeout.ms", LONG, 30000, at_least(1)),
    Config("log.dirs", LIST, None, entries(empty=False)),
    Config("log.flush.interval.messages", LONG, LONG_MAX, at_least(1), updatable=True),
    Config("log.flush.interval.ms", LONG, None, None, updatable=True),
    Config("log.flush.offset.checkpoint.interval.ms", INT, 60000, at_least(0)),
    Config("log.flush.scheduler.interval.ms", LONG, LONG_MAX, None),
    Config("log.flush.start.offset.checkpoint.interval.ms", INT, 60000, at_least(0)),
    Config("log.index.interval.bytes", INT, 4096, at_least(0), updatable=True),
    Config("log.index.size.max.bytes", INT, 10_485_760, at_least(4), updatable=True),
    Config("log.initial.task.delay.ms", LONG, 30000, at_least(0), internal=True),
    Config("log.local.retention.bytes", LONG, -2, at_least(-2), updatable=True),
    Config("log.local.retention.ms", LONG, -2, at_least(-2), updatable=True),
    Config("log.message.timestamp.after.max.ms", LONG, 3_600_000, at_least(0), updatable=True),
    Config("log.message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0), updatable=True),
    Config(
        "log.message.timestamp.type",
        STRING,
        "CreateTime",
        one_of("CreateTime", "LogAppendTime"),
        updatable=True,
    ),
    Config("log.preallocate", BOOLEAN, False, updatable=True),
    Config("log.remote.copy.lag.bytes", LONG, -1, at_least(-1), updatable=True),
    Config("log.remote.copy.lag.ms", LONG, 0, at_least(-1), updatable=True),
    Config("log.retention.bytes", LONG, -1, None, updatable=True),
    Config("log.retention.check.interval.ms", LONG, 300_000, at_least(1)),
    Config("log.retention.hours", INT, 168, None),
    Config("log.retention.minutes", INT, None, None),
    Config("log.retention.ms", LONG, None, None, updatable=True),
    Config("log.roll.hours", INT, 168, at_least(1)),
    Config("log.roll.jitter.hours", INT, 0, at_least(0)),
    Config("log.roll.jitter.ms", LONG, None, None, updatable=True),
    Config("log.roll.ms", LONG, None, None, updatable=True),
    Config("log.segment.bytes", INT, 1_073_741_824, at_least(1_048_576), updatable=True),
    Config("log.segment.delete.delay.ms", LONG, 60000, at_least(0), updatable=True),
    Config("max.decompressed.message.bytes", INT, 2_147_483_639, between(1, 2_147_483_639), updatable=True),
    Config("message.max.bytes", INT, 1_048_588, at_least(0), updatable=True),
    Config("min.insync.replicas", INT, 1, at_least(1), updatable=True),
    Config("num.partitions", INT, 1, at_least(1)),
    Config("num.recovery.threads.per.data.dir", INT, 2, at_least(1), updatable=True),
    Config("unclean.leader.election.enable", BOOLEAN, False, None, updatable=True),
    Config("unclean.leader.election.interval.ms", LONG, 300_000, at_least(1), internal=True),
)
