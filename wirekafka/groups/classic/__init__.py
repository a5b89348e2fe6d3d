"""Consumer groups by the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

`groups.shard` calls the functions of joining, syncing and liveness; the rest of the folder serves
those three.

Source: Kafka's ClassicGroup and the classic parts of GroupMetadataManager.
"""
