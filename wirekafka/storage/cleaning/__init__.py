"""Compaction: a log keeps the newest record of every key. `clean` does it once, to what is `cleanable`."""

from wirekafka.storage.cleaning.cleanable import Cleanable, cleanable
from wirekafka.storage.cleaning.cleaner import Cleaned, clean
from wirekafka.storage.cleaning.offset_map import OffsetMap
from wirekafka.storage.cleaning.reading import Unreadable
from wirekafka.storage.cleaning.work import LogChanged

__all__ = ["Cleanable", "Cleaned", "LogChanged", "OffsetMap", "Unreadable", "clean", "cleanable"]
