"""groups/consumer/assignors/assignor.py."""

from tests.support.assignments import member
from wirekafka.groups.consumer.assignors.assignor import all_subscribe_alike

ORDERS, BILLS = bytes(15) + b"\1", bytes(15) + b"\2"


def test_members_subscribe_alike_when_their_topics_are_the_same() -> None:
    """Kafka's SubscriptionType HOMOGENEOUS."""
    alike = [member("a", [ORDERS, BILLS]), member("b", [BILLS, ORDERS])]

    assert all_subscribe_alike({one.member_id: one for one in alike})
    assert all_subscribe_alike({})


def test_one_topic_more_is_not_alike() -> None:
    """Kafka's SubscriptionType HETEROGENEOUS."""
    different = [member("a", [ORDERS, BILLS]), member("b", [ORDERS])]

    assert not all_subscribe_alike({one.member_id: one for one in different})
