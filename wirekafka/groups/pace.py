"""How quickly members hear of a rebalance: at once while they are few, as in Kafka when they are many.

A member learns of a rebalance by the answer to a heartbeat. Members of consumer groups beat as often as the
broker says: where few are, they can be told a short interval; the more there are, the longer it is, up to
Kafka's. Members of classic groups beat as often as they like, so that the answer is held back until there is
news (`classic.held`), which costs the broker half as much again as an answer does: it is done for a certain
number only.

Asked by `broker.coordination`, which counts the members now and then.

Source: ours. KIP-848 leaves the interval to the broker, and Kafka's is the same for all.
"""

from dataclasses import replace

from wirekafka.groups.config import GroupConfig

HEARTBEATS_A_SECOND = 250
"""What members of consumer groups together may send while the usual interval is not reached."""
MOST_HELD = 500
"""With more members of classic groups than this, no heartbeat is held."""


def at_pace(config: GroupConfig, *, classic_members: int, consumer_members: int) -> GroupConfig:
    """Give the settings that suit so many members of either kind of group."""
    if classic_members > MOST_HELD and config.heartbeat_hold_max_ms:
        config = replace(config, heartbeat_hold_max_ms=0)
    fastest_ms, usual_ms = config.consumer_heartbeat_fastest_ms, config.group_consumer_heartbeat_interval_ms
    if not fastest_ms:
        return config
    interval_ms = max(fastest_ms, consumer_members * 1000 // HEARTBEATS_A_SECOND)
    return replace(config, group_consumer_heartbeat_interval_ms=min(usual_ms, interval_ms))
