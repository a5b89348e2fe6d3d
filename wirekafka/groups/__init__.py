"""Consumer groups: pure state machines that are given the time.

`broker.coordination` makes one `GroupShard` for each partition of `__consumer_offsets`, and its
journal uses `records` to write and read what the shard decides.

Source: Kafka's group-coordinator module.
"""

from wirekafka.groups.client import Client
from wirekafka.groups.config import GroupConfig
from wirekafka.groups.deleting import DeletedTopic
from wirekafka.groups.partitioning import partition_for
from wirekafka.groups.records import GroupMetadata, GroupRecord, OffsetCommit
from wirekafka.groups.shard import GroupShard

__all__ = [
    "Client",
    "DeletedTopic",
    "GroupConfig",
    "GroupMetadata",
    "GroupRecord",
    "GroupShard",
    "OffsetCommit",
    "partition_for",
]
