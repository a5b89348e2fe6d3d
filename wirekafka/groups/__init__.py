"""Consumer groups: pure state machines that are given the time.

`broker.coordination` makes one `GroupShard` for each partition of `__consumer_offsets`, and its
journal uses `records` to write and read what the shard decides.

Source: Kafka's group-coordinator module.
"""

from wirekafka.groups.client import Client
from wirekafka.groups.config import GroupConfig, MigrationPolicy
from wirekafka.groups.consumer.settings import OverridesOf
from wirekafka.groups.deleting import DeletedTopic
from wirekafka.groups.pace import at_pace
from wirekafka.groups.partitioning import partition_for
from wirekafka.groups.records import GroupRecord
from wirekafka.groups.shard import GroupShard
from wirekafka.groups.topics import TopicFacts, Topics

__all__ = [
    "Client",
    "DeletedTopic",
    "GroupConfig",
    "GroupRecord",
    "GroupShard",
    "MigrationPolicy",
    "OverridesOf",
    "TopicFacts",
    "Topics",
    "at_pace",
    "partition_for",
]
