"""How often members of consumer groups are told to beat: quickly while there are few of them.

A member learns of its partitions by the answer to a heartbeat, so a rebalance takes as long as the interval
that the broker dictates. Where few members are, they can be told a short one; the more there are, the longer
it is, up to Kafka's, so that all together never ask for more than a small part of a processor.

Asked by `broker.coordination`, which counts the members now and then.

Source: ours. KIP-848 leaves the interval to the broker, and Kafka's is the same for all.
"""

from dataclasses import replace

from wirekafka.groups.config import GroupConfig

HEARTBEATS_A_SECOND = 250
"""What all members together may send while the usual interval is not reached; about 4 % of a processor."""


def at_pace(config: GroupConfig, member_count: int) -> GroupConfig:
    """Give the settings with the heartbeat interval that suits so many members."""
    fastest_ms, usual_ms = config.consumer_heartbeat_fastest_ms, config.group_consumer_heartbeat_interval_ms
    if not fastest_ms:
        return config
    interval_ms = max(fastest_ms, member_count * 1000 // HEARTBEATS_A_SECOND)
    return replace(config, group_consumer_heartbeat_interval_ms=min(usual_ms, interval_ms))
