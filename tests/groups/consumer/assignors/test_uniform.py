"""groups/consumer/assignors/uniform.py: which of the two ways is taken."""

from tests.support.assignments import group, member, topic
from wirekafka.groups.consumer.assignors import uniform
from wirekafka.groups.consumer.assignors.uniform_alike import assign_alike
from wirekafka.groups.consumer.assignors.uniform_mixed import assign_mixed

LARGE, SMALL = topic(1, 4), topic(2, 2)
BOTH = [LARGE.topic_id, SMALL.topic_id]


def test_equal_subscriptions_are_assigned_in_one_pass() -> None:
    """Members are filled one after the other, with what comes next in the order of topics."""
    alike = group([member("a", BOTH), member("b", BOTH)], [LARGE, SMALL])

    made = uniform.assign(alike.members, alike.topics)

    assert made == assign_alike(alike.members, alike.topics)
    assert made != assign_mixed(alike.members, alike.topics)


def test_different_subscriptions_are_balanced_topic_by_topic() -> None:
    """The one that may read both takes what the other may not."""
    mixed = group([member("a", [LARGE.topic_id]), member("b", BOTH)], [LARGE, SMALL])

    made = uniform.assign(mixed.members, mixed.topics)

    assert made == assign_mixed(mixed.members, mixed.topics)
    assert made["b"][SMALL.topic_id] == frozenset({0, 1})
    assert len(made["a"][LARGE.topic_id]) == 3


def test_no_members_need_nothing() -> None:
    """Neither way is asked."""
    assert uniform.assign({}, {}) == {}
