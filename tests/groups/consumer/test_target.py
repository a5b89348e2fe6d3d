"""Tests of groups/consumer/target.py."""

from tests.support.consumer_playbook import WALL_LEAD_MS, ConsumerPlaybook
from wirekafka.groups import GroupConfig, records
from wirekafka.groups.consumer import stored
from wirekafka.groups.consumer.group import ConsumerGroupState
from wirekafka.groups.records import ConsumerGroupTargetAssignmentMember


def test_next_target_waits_for_the_assignment_interval() -> None:
    """KIP-1263: members that join together are assigned together."""
    play = ConsumerPlaybook(t=2)
    first, second = play.consumer("a", "t"), play.consumer("b", "t")
    first.join()
    play.at(999)
    second.join()
    assert (play.group.group_epoch, play.group.assignment_epoch) == (3, 2)
    assert play.group.state is ConsumerGroupState.ASSIGNING
    assert (second.epoch, second.has) == (2, {})
    play.at(1_000)
    second.beat()

    assert play.group.assignment_epoch == 3
    assert play.group.assignment_timestamp == WALL_LEAD_MS + 1_000


def test_group_may_have_an_assignment_interval_of_its_own() -> None:
    """consumer.assignment.interval.ms; 0 does not wait."""
    play = ConsumerPlaybook(t=2)
    play.overrides["consumer.assignment.interval.ms"] = 0
    play.consumer("a", "t").join()
    play.consumer("b", "t").join()

    assert play.group.assignment_epoch == 3


def test_only_what_changed_is_written() -> None:
    """Targets that stay have no record."""
    play = ConsumerPlaybook(t=2, u=1)
    play.settled("a", topic="t")
    length = len(play.log)
    play.consumer("b", "u").join()
    written = [records.decode(item) for item in play.written_since(length)]

    targets = [record for record in written if isinstance(record, ConsumerGroupTargetAssignmentMember)]
    assert [record.member_id for record in targets] == ["b"]


def test_members_choose_the_assignor() -> None:
    """range gives the same partitions of topics that are read together, uniform as few moves as can be."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_assignment_interval_ms=0), t=3, u=3)
    first = play.consumer("a", "t", "u", assignor="range")
    second = play.consumer("b", "t", "u", assignor="range")
    first.join()
    second.join()
    play.settle(first, second)

    assert sorted([first.has, second.has], key=lambda has: len(has["t"])) == [
        {"t": [2], "u": [2]},
        {"t": [0, 1], "u": [0, 1]},
    ]


def test_change_of_the_preferred_assignor_calls_for_a_new_target() -> None:
    """The group's epoch is counted up for it; a vote that changes nothing is only stored."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    consumer.say(server_assignor="uniform")
    assert play.group.group_epoch == 2
    consumer.say(server_assignor="range")

    assert play.group.group_epoch == 3


def test_assignor_that_is_offered_no_more_gives_way_to_the_first() -> None:
    """group.consumer.assignors may be shorter after a restart."""
    play = ConsumerPlaybook(t=2)
    play.consumer("a", "t", assignor="uniform").join()
    play.shard.config = GroupConfig(group_consumer_assignors=("range",))
    play.pass_ms(1_000)
    second = play.consumer("b", "t")
    second.join()

    assert play.group.assignment_epoch == 3


def test_members_are_in_the_order_of_kafkas_map() -> None:
    """What is left over after equal shares goes to who comes first in it: p before a (its hash is 112)."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_assignment_interval_ms=0), t=3)
    first, second = play.consumer("a", "t"), play.consumer("p", "t")
    first.join()
    length = len(play.log)
    second.join()
    written = [records.decode(item) for item in play.written_since(length)]
    targets = [record for record in written if isinstance(record, ConsumerGroupTargetAssignmentMember)]

    assert [record.member_id for record in targets] == ["p", "a"]


def test_partitions_that_there_are_not_are_assigned_no_more() -> None:
    """A log may say that a member is to have such a one; by no assignor it keeps others from theirs."""
    play = ConsumerPlaybook(t=2)
    play.settled("a", "b", topic="t")
    topic_id = play.id_of("t")
    play.shard.apply(stored.target_record("g", "a", {topic_id: frozenset({0, 7})}))
    play.shard.apply(stored.target_record("g", "b", {topic_id: frozenset({8})}))
    play.pass_ms(1_000)
    play.consumer("c", "t").join()

    targets = [target.get(topic_id, frozenset()) for target in play.group.targets.values()]
    assert sorted(one for target in targets for one in target) == [0, 1]
