"""Bytes on disk, in Apache Kafka's layout: a data folder of partitions, each a log of segments."""

from wirekafka.storage.acceptance.recompression import needs_preparation, prepare
from wirekafka.storage.acceptance.validation import Buffer, Origin
from wirekafka.storage.cleaning import (
    Cleanable,
    Cleaned,
    LogChanged,
    OffsetMap,
    Unreadable,
    clean,
    cleanable,
)
from wirekafka.storage.config import COMPACT, DELETE, FSYNC, PRODUCER_COMPRESSION, LogConfig
from wirekafka.storage.disk.files import Files, FileSlice
from wirekafka.storage.disk.health import Health
from wirekafka.storage.folder.directory import LogDirectory
from wirekafka.storage.folder.locking import DataDirectoryInUse
from wirekafka.storage.folder.partition_folder import belongs
from wirekafka.storage.log.flushing import flush_logs
from wirekafka.storage.log.log import Appended, PartitionLog
from wirekafka.storage.log.opening import may_pass
from wirekafka.storage.log.plain import NOT_PLAIN, append_plainly
from wirekafka.storage.log.progress import OpeningGivenUp, OpeningProgress
from wirekafka.storage.log.retention import has_passed_segments, start_after_retention
from wirekafka.storage.log.run import MOST_BATCHES, Run, begin_run
from wirekafka.storage.log.timestamps import (
    TimestampOffset,
    TimestampSearch,
    read_indexes,
    search_largest,
    searches_at_or_after,
    unread_segments,
)

__all__ = [
    "COMPACT",
    "DELETE",
    "FSYNC",
    "MOST_BATCHES",
    "NOT_PLAIN",
    "PRODUCER_COMPRESSION",
    "Appended",
    "Buffer",
    "Cleanable",
    "Cleaned",
    "DataDirectoryInUse",
    "FileSlice",
    "Files",
    "Health",
    "LogChanged",
    "LogConfig",
    "LogDirectory",
    "OffsetMap",
    "OpeningGivenUp",
    "OpeningProgress",
    "Origin",
    "PartitionLog",
    "Run",
    "TimestampOffset",
    "TimestampSearch",
    "Unreadable",
    "append_plainly",
    "begin_run",
    "belongs",
    "clean",
    "cleanable",
    "flush_logs",
    "has_passed_segments",
    "may_pass",
    "needs_preparation",
    "prepare",
    "read_indexes",
    "search_largest",
    "searches_at_or_after",
    "start_after_retention",
    "unread_segments",
]
