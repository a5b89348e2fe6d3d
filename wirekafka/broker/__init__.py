"""The running parts: where waiting and order live, between the handlers and the rooms below."""

from wirekafka.broker.broker import Broker, open_broker
from wirekafka.broker.config import BrokerConfig, ListenerConfig
from wirekafka.broker.coordination import OFFSETS_TOPIC
from wirekafka.broker.fetch_sessions import (
    NO_SESSION,
    FetchedPartition,
    FetchKey,
    FetchPlan,
    FetchSession,
    Found,
)
from wirekafka.broker.fetching import FetchLimits, failed_fetch, reads_older_segment, wait_for_more
from wirekafka.broker.fetching import deadline_of as fetch_deadline
from wirekafka.broker.fetching import fetch as fetch_partitions
from wirekafka.broker.flushing import AwaitedFlush, wait_for_flush
from wirekafka.broker.looking_up import offset_for_timestamp, offset_of_max_timestamp
from wirekafka.broker.opening import Watch, log_progress
from wirekafka.broker.partition import ListedOffset, Partition, is_transactional
from wirekafka.broker.plain_reading import PlainRead, read_one_plainly, read_plainly
from wirekafka.groups import Client as GroupClient
from wirekafka.storage import MOST_BATCHES, NOT_PLAIN, Appended

__all__ = [
    "MOST_BATCHES",
    "NOT_PLAIN",
    "NO_SESSION",
    "OFFSETS_TOPIC",
    "Appended",
    "AwaitedFlush",
    "Broker",
    "BrokerConfig",
    "FetchKey",
    "FetchLimits",
    "FetchPlan",
    "FetchSession",
    "FetchedPartition",
    "Found",
    "GroupClient",
    "ListedOffset",
    "ListenerConfig",
    "Partition",
    "PlainRead",
    "Watch",
    "failed_fetch",
    "fetch_deadline",
    "fetch_partitions",
    "is_transactional",
    "log_progress",
    "offset_for_timestamp",
    "offset_of_max_timestamp",
    "open_broker",
    "read_one_plainly",
    "read_plainly",
    "reads_older_segment",
    "wait_for_flush",
    "wait_for_more",
]
