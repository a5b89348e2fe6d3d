"""Bytes on disk, in Apache Kafka's layout: a data folder of partitions, each a log of segments."""

from wirekafka.storage.config import LogConfig
from wirekafka.storage.directory import DataDirectoryInUse, LogDirectory
from wirekafka.storage.files import Files, FileSlice
from wirekafka.storage.log import Appended, PartitionLog
from wirekafka.storage.timestamps import TimestampOffset
from wirekafka.storage.validation import Origin

__all__ = [
    "Appended",
    "DataDirectoryInUse",
    "FileSlice",
    "Files",
    "LogConfig",
    "LogDirectory",
    "Origin",
    "PartitionLog",
    "TimestampOffset",
]
