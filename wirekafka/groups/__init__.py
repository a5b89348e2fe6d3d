"""Consumer groups: pure state machines that are given the time.

`broker.coordination` makes one `GroupShard` for each partition of `__consumer_offsets`, and its
journal uses `records` to write and read what the shard decides. The shard is imported when it is first asked
for: it is half of the broker's modules, and who has no groups does without.

Source: Kafka's group-coordinator module.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from wirekafka.groups.client import Client
from wirekafka.groups.config import GroupConfig, MigrationPolicy
from wirekafka.groups.consumer.settings import OverridesOf
from wirekafka.groups.pace import at_pace
from wirekafka.groups.partitioning import partition_for
from wirekafka.groups.topics import TopicFacts, Topics

if TYPE_CHECKING:
    from wirekafka.groups.deleting import DeletedTopic
    from wirekafka.groups.records import GroupRecord
    from wirekafka.groups.shard import GroupShard

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

_IMPORTED_LATE = {"DeletedTopic": "deleting", "GroupRecord": "records", "GroupShard": "shard"}


def __getattr__(name: str) -> object:
    """Import what is not imported with the room."""
    if name not in _IMPORTED_LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_IMPORTED_LATE[name]}"), name)
    globals()[name] = found
    return found
