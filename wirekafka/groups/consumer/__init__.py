"""Consumer groups of the new protocol: members and targets, heartbeats and reconciliation.

`groups.shard` opens a turn and calls `heartbeat`, `sessions`, `describing` and `stored`.

Source: KIP-848; Kafka's ConsumerGroup and the consumer group part of GroupMetadataManager.
"""
