"""What a partition's log needs to know of its topic's configuration.

Made by `broker` from the metadata room's typed values; read by all that makes up a log.

Source: Kafka's LogConfig: names, defaults and units.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

LOG_APPEND_TIME = "LogAppendTime"
CREATE_TIME = "CreateTime"
_LONGEST_MS = (1 << 63) - 1
COMPACT = "compact"
DELETE = "delete"
PRODUCER_COMPRESSION = "producer"
MOST_DECOMPRESSED_BYTES = (1 << 31) - 1 - 8
OS, FSYNC = "os", "fsync"
_NAMES = {"durability": "wirekafka.durability"}


@dataclass(frozen=True, slots=True)
class LogConfig:
    """The settings of one log; those that storage reads."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    max_message_bytes: int = 1024 * 1024 + 12
    max_decompressed_message_bytes: int = MOST_DECOMPRESSED_BYTES
    message_timestamp_type: str = CREATE_TIME
    message_timestamp_before_max_ms: int = _LONGEST_MS
    message_timestamp_after_max_ms: int = 3600 * 1000
    compression_type: str = PRODUCER_COMPRESSION
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    preallocate: bool = False
    retention_ms: int = 7 * 24 * 3600 * 1000
    retention_bytes: int = -1
    file_delete_delay_ms: int = 60_000
    cleanup_policy: tuple[str, ...] = (DELETE,)
    delete_retention_ms: int = 24 * 3600 * 1000
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = _LONGEST_MS
    min_cleanable_dirty_ratio: float = 0.5
    flush_messages: int = _LONGEST_MS
    flush_ms: int = _LONGEST_MS
    min_insync_replicas: int = 1
    durability: str = OS
    producer_id_expiration_ms: int = 24 * 3600 * 1000

    @property
    def looks_into_records(self) -> bool:
        """Whether a produced batch has to be decoded: for the keys that compaction needs, or for the age or
        the size of each record, which the header does not tell."""
        return (
            COMPACT in self.cleanup_policy
            or self.message_timestamp_before_max_ms != _LONGEST_MS
            or self.max_decompressed_message_bytes < MOST_DECOMPRESSED_BYTES
        )

    @classmethod
    def from_topic_configs(cls, values: Mapping[str, Any]) -> "LogConfig":
        """Take the settings from typed values by Kafka's names; others are passed over.

        `producer.id.expiration.ms` is a broker's setting and may stand among them.
        """
        names = {field.name: _NAMES.get(field.name, field.name.replace("_", ".")) for field in fields(cls)}
        return cls(**{field: values[name] for field, name in names.items() if name in values})
