"""The kinds of groups, and what each is called.

Used by all that serves any kind: offsets, deleting, views, and the shard.

Source: Kafka's Group and its GroupType; KIP-848 (the type in ListGroups).
"""

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE
from wirekafka.groups.foreign import ForeignGroup

ServedGroup = ClassicGroup | ConsumerGroup
"""A group of a kind that is served."""
Group = ServedGroup | ForeignGroup
"""A group of any kind."""


def type_of(group: Group) -> str:
    """Name the kind of a group, as it is shown and asked for."""
    if isinstance(group, ForeignGroup):
        return group.group_type.value
    return "classic" if isinstance(group, ClassicGroup) else "consumer"


def protocol_type_of(group: Group) -> str:
    """Name what the members are to each other; empty for a classic group that never had any."""
    if isinstance(group, ForeignGroup):
        return group.group_type.value
    return group.protocol_type or "" if isinstance(group, ClassicGroup) else CONSUMER_PROTOCOL_TYPE
