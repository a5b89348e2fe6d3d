"""From one kind of group to the other, while its members go on reading.

The setting group.consumer.migration.policy says which way is open. `admission` calls `upgrading`, when the
consumer protocol comes to a classic group; `leaving` and `classic_members` call `downgrading`, when nobody
speaks it any more. In between, `classic_members` serves those who still speak the classic one.

Source: KIP-848 (online migration).
"""
