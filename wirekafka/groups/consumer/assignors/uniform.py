"""The uniform assignor: as even as subscriptions allow, and nobody loses a partition without need.

Called through the table in `assignors`. Where all members subscribe to the same topics it is done in one
pass, `uniform_alike`; where they do not, `uniform_mixed` balances topic by topic. Racks are not looked at,
as in Kafka, which takes no note of them since 4.0.

Source: Kafka's UniformAssignor; KIP-848.
"""

from wirekafka.groups.consumer.assignors.assignor import (
    Assignments,
    Members,
    TopicsById,
    all_subscribe_alike,
)
from wirekafka.groups.consumer.assignors.uniform_alike import assign_alike
from wirekafka.groups.consumer.assignors.uniform_mixed import assign_mixed


def assign(members: Members, topics: TopicsById) -> Assignments:
    """Give every member its new target."""
    if not members:
        return {}
    if all_subscribe_alike(members):
        return assign_alike(members, topics)
    return assign_mixed(members, topics)
