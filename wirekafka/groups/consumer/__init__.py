"""Consumer groups of the new protocol (KIP-848): what a group is, and what members' heartbeats make of it.

What a group is: `assignment`, `member`, `group`, which change in `stored.apply` alone; `membership` is a
group as it will be. A heartbeat, in this order: `form`, `admission`, `updating` (with `regexes`, `metadata`,
`target`, `reconciliation`), `sessions`; the last one: `leaving`. To and from the classic protocol:
`migration`, and `classic_members` while both are in one group. All are given a `turn`, and make records.

`groups.shard` calls `heartbeat`, `classic_members`, `sessions`, `metadata` and `describing`;
`groups.falling_due` calls `sessions`, and `groups.applying` calls `stored`.

Source: KIP-848; Kafka's ConsumerGroup and the consumer group part of GroupMetadataManager.
"""
