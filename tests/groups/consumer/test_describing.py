"""Tests of groups/consumer/describing.py."""

from dataclasses import replace

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.protocol.apis.consumer_group_describe import DescribedAssignment
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata


def partitions(assignment: DescribedAssignment) -> dict[str, list[int]]:
    return {topic.topic_name: topic.partitions for topic in assignment.topic_partitions}


def test_group_is_described_with_epochs_and_both_assignments() -> None:
    """What a member has yet to give up is still in its assignment."""
    play = ConsumerPlaybook(t=2)
    (first,) = play.settled("a")
    second = play.consumer("b", "t", rack="r", instance="i", assignor="range")
    second.join()
    first.beat()
    group = play.shard.describe_consumer_group("g")

    assert (group.error_code, group.group_state) == (0, "Reconciling")
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (3, 3, "range")
    one, other = group.members
    assert (one.member_id, one.member_epoch, one.client_id) == ("a", 2, "a")
    assert (one.client_host, one.subscribed_topic_names, one.subscribed_topic_regex) == (
        "/127.0.0.1",
        ["t"],
        "",
    )
    assert partitions(one.assignment) == {"t": [0, 1]}
    assert partitions(one.target_assignment) == {"t": [1]}
    assert (other.rack_id, other.instance_id, other.member_epoch) == ("r", "i", 3)
    assert partitions(other.assignment) == {}
    assert partitions(other.target_assignment) == {"t": [0]}
    assert [member.member_type for member in group.members] == [1, 1]


def test_topics_that_are_gone_are_left_out() -> None:
    """They have no name any more."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")
    play.delete("t")

    assert partitions(play.shard.describe_consumer_group("g").members[0].assignment) == {}


def test_first_assignor_is_named_when_nobody_asks_for_one() -> None:
    """As in Kafka."""
    play = ConsumerPlaybook(t=1)
    play.settled("a")[0].leave()
    group = play.shard.describe_consumer_group("g")

    assert (group.group_state, group.assignor_name, group.members) == ("Empty", "uniform", [])


def test_members_of_the_classic_protocol_are_told_apart() -> None:
    """KIP-1099."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    classic = ClassicMemberMetadata(session_timeout_ms=1, supported_protocols=[])
    play.group.put_member(replace(play.member(consumer), classic=classic))

    assert play.shard.describe_consumer_group("g").members[0].member_type == 0


def test_group_that_is_not_there_is_an_error() -> None:
    """GROUP_ID_NOT_FOUND, also for a classic group."""
    play = ConsumerPlaybook()
    missing = play.shard.describe_consumer_group("g")
    assert (missing.error_code, missing.group_id) == (ErrorCode.GROUP_ID_NOT_FOUND, "g")
    assert missing.error_message == "Group g not found."
    play.stable("c")

    assert play.shard.describe_consumer_group("g").error_code == ErrorCode.GROUP_ID_NOT_FOUND
