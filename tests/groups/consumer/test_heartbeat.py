"""Tests of groups/consumer/heartbeat.py: joining, staying and changing, as a member sees it."""

import pytest

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups import Client, GroupConfig
from wirekafka.groups.consumer.group import ConsumerGroupState
from wirekafka.groups.consumer.member import MemberState
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def test_first_member_is_given_all_partitions_by_its_first_heartbeat() -> None:
    """KIP-848: a new group's epoch is 1, and a first subscription makes it 2."""
    play = ConsumerPlaybook(t=3)
    answer = play.consumer("a", "t").join()

    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, "a", 2)
    assert answer.heartbeat_interval_ms == 5_000
    assert answer.assignment is not None
    assert [topic.partitions for topic in answer.assignment.topic_partitions] == [[0, 1, 2]]


def test_heartbeat_that_says_nothing_new_changes_nothing() -> None:
    """No record, no assignment in the answer."""
    play = ConsumerPlaybook(t=3)
    consumer = play.consumer("a", "t")
    consumer.join()
    length = len(play.log)
    answer = consumer.beat()

    assert (answer.error_code, answer.member_epoch, answer.assignment) == (0, 2, None)
    assert play.written_since(length) == []


def test_second_member_gets_its_share_when_the_first_has_given_it_up() -> None:
    """Revoke before assign: at no time has a partition two owners."""
    play = ConsumerPlaybook(t=4)
    (first,) = play.settled("a")
    second = play.consumer("b", "t")
    second.join()
    assert second.has == {}
    assert play.member(second).state is MemberState.UNRELEASED_PARTITIONS

    first.beat()
    assert first.has == {"t": [0, 1]}
    assert first.epoch == 2
    second.beat()
    assert second.has == {}

    first.beat()
    assert first.epoch == 3
    second.beat()
    assert second.has == {"t": [2, 3]}
    assert play.group.state is ConsumerGroupState.STABLE


def test_fifth_member_of_four_partitions_is_idle() -> None:
    """Each partition has one reader."""
    play = ConsumerPlaybook(t=4)
    consumers = play.settled("a", "b", "c", "d", "e")
    shares = [consumer.has.get("t", []) for consumer in consumers]

    assert sorted(map(len, shares)) == [0, 1, 1, 1, 1]
    assert sorted(index for share in shares for index in share) == [0, 1, 2, 3]


def test_member_may_join_before_its_topic_exists() -> None:
    """The topic is taken up by the first heartbeat after it was made."""
    play = ConsumerPlaybook()
    consumer = play.consumer("a", "later")
    consumer.join()
    assert consumer.has == {}
    play.create("later", 2)
    play.pass_ms(1_000)
    consumer.beat()

    assert consumer.has == {"later": [0, 1]}


def test_member_that_changes_its_topics_gets_those_of_the_new_ones() -> None:
    """A new subscription counts the epoch up; what is no longer read is given up first."""
    play = ConsumerPlaybook(t=2, u=2)
    (consumer,) = play.settled("a")
    consumer.topics = ["u"]
    answer = consumer.say(subscribed_topic_names=["u"])
    assert answer.assignment is not None
    assert consumer.has == {}
    consumer.beat()

    assert consumer.has == {"u": [0, 1]}
    assert consumer.epoch == 3


def test_member_id_is_made_for_a_member_of_version_0_that_brings_none() -> None:
    """KIP-848; from version 1 on the client makes it, and an empty one is refused (KIP-1082)."""
    play = ConsumerPlaybook(t=1)
    consumer = play.consumer("", "t")
    assert consumer.join().error_code == ErrorCode.INVALID_REQUEST

    play.member_id_required = False
    assert consumer.join().member_id == "made-2"


def test_full_request_is_answered_with_the_assignment() -> None:
    """A member sends all it knows when it lost an answer, and so may have lost its assignment."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    answer = consumer.say(
        rebalance_timeout_ms=60_000, subscribed_topic_names=["t"], topic_partitions=consumer.owned()
    )

    assert answer.assignment is not None
    assert [topic.partitions for topic in answer.assignment.topic_partitions] == [[0]]


def test_null_fields_leave_what_the_member_said_before() -> None:
    """KIP-848: null is for unchanged."""
    play = ConsumerPlaybook(t=1)
    consumer = play.consumer("a", "t", rack="r", assignor="range", instance="i")
    consumer.join()
    consumer.beat()
    member = play.member(consumer)

    assert (member.rack_id, member.server_assignor_name, member.instance_id) == ("r", "range", "i")
    assert (member.subscribed_topic_names, member.rebalance_timeout_ms) == (frozenset({"t"}), 60_000)


def test_member_is_stored_anew_when_its_client_changes() -> None:
    """Its address may be another after it connected again."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    consumer.client = Client("a", "/10.0.0.1")
    consumer.beat()

    assert play.member(consumer).client.client_host == "/10.0.0.1"
    assert consumer.epoch == 2


def test_refused_heartbeat_decides_nothing() -> None:
    """An invalid regular expression comes after the member's record was made."""
    play = ConsumerPlaybook(t=1)
    answer = play.consumer("a", regex="(").join()

    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert "(" in (answer.error_message or "")
    assert play.log == []
    assert play.shard.durable.consumer_groups == {}


def test_lost_answer_is_made_good_by_the_previous_epoch() -> None:
    """The member never heard of its new epoch, and has no more than it was given."""
    play = ConsumerPlaybook(t=4)
    (first,) = play.settled("a")
    play.consumer("b", "t").join()
    first.beat()
    first.beat()
    assert first.epoch == 3
    first.epoch = 2
    answer = first.say(topic_partitions=first.owned())

    assert (answer.error_code, answer.member_epoch) == (0, 3)


@pytest.mark.parametrize(("epoch", "owns"), [(4, True), (1, True), (2, False)])
def test_wrong_epoch_is_fenced(epoch: int, owns: bool) -> None:
    """Above, below, or the previous one without saying what the member has."""
    play = ConsumerPlaybook(t=4)
    (first,) = play.settled("a")
    play.consumer("b", "t").join()
    first.beat()
    first.beat()
    first.epoch = epoch
    answer = first.say(topic_partitions=first.owned() if owns else None)

    assert answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert "epoch (" in (answer.error_message or "")


def test_fenced_member_joins_again_with_nothing_in_hand() -> None:
    """Epoch 0 is welcome at any time; the member keeps its place, and its target."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    answer = consumer.join()

    assert (answer.error_code, answer.member_epoch) == (0, 2)
    assert consumer.has == {"t": [0, 1]}
    assert len(play.group.members) == 1


def test_group_has_no_more_members_than_it_may() -> None:
    """group.consumer.max.size (81); who is in may go on."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_max_size=1), t=2)
    (consumer,) = play.settled("a")
    refused = play.consumer("b", "t").join()

    assert refused.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert consumer.beat().error_code == ErrorCode.NONE
    assert consumer.join().error_code == ErrorCode.NONE


def test_heartbeat_interval_of_the_group_is_in_each_answer() -> None:
    """consumer.heartbeat.interval.ms may change while the group runs."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    play.overrides["consumer.heartbeat.interval.ms"] = 10_000

    assert consumer.beat().heartbeat_interval_ms == 10_000


def test_restart_leaves_members_as_they_were() -> None:
    """Replaying the log gives the same group."""
    play = ConsumerPlaybook(t=4, u=1)
    consumers = [*play.settled("a", "b"), play.consumer("c", regex="u.*", instance="i")]
    consumers[2].join()
    consumers[0].beat()
    before = play.group
    play.restart()

    assert play.group is not before
    assert play.group == before
    play.settle(*consumers)
    assert consumers[2].has == {"u": [0]}


def test_heartbeat_whose_records_cannot_be_written_is_answered_with_an_error() -> None:
    """The group is as it was, and the member tries again."""
    play = ConsumerPlaybook(t=1)
    play.append_error = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS, "too few")
    consumer = play.consumer("a", "t")
    assert consumer.join().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert play.shard.durable.consumer_groups == {}
    play.append_error = None

    assert consumer.join().member_epoch == 2


def test_unknown_group_is_only_made_by_a_member_that_joins() -> None:
    """GROUP_ID_NOT_FOUND for any other epoch."""
    play = ConsumerPlaybook()
    for epoch in (3, -1):
        request = ConsumerGroupHeartbeatRequest(group_id="g", member_id="a", member_epoch=epoch)
        answer = play.heartbeat_of(request, Client("a", ""))
        assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
