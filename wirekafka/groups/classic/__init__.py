"""Consumer groups by the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

A file a verb: `joining`, `syncing`, `liveness` (with `held`, for a Heartbeat whose answer waits). `rebalance`
is the way of a group through one; `group`, `member` and `states` are what a group is, in memory, and `stored`
what of it lasts. All are given a `turn`, and refuse with a code and no sentence, since these answers have no
room for one.

`groups.shard` calls the verbs, `undo` for what could not be written, and `rebalance` after a restart;
`groups.falling_due` calls `liveness` and `rebalance`, `groups.applying` calls `stored`.

Source: Kafka's ClassicGroup and the classic parts of GroupMetadataManager.
"""
