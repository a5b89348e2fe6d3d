"""Members of a consumer group that speak the classic protocol, while a group goes from one to the other.

To them the coordinator is the leader: it assigns, and they only follow. A member's epoch is its generation,
and a step towards its target is a JoinGroup and a SyncGroup. `groups.shard` calls `joining`, `syncing` and
`liveness` for groups that are consumer groups.

Source: KIP-848 (online migration); the ...ToConsumerGroup methods of Kafka's GroupMetadataManager.
"""

from wirekafka.groups.consumer.classic_members.joining import join
from wirekafka.groups.consumer.classic_members.liveness import heartbeat, leave
from wirekafka.groups.consumer.classic_members.syncing import sync

__all__ = ["heartbeat", "join", "leave", "sync"]
