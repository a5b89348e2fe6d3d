"""groups/consumer/migration/upgrading.py: a classic group goes on as a consumer group."""

from collections.abc import Callable

import pytest

from tests.support.consumer_playbook import ConsumerPlaybook
from tests.support.consumer_protocol import assigned_bytes
from tests.support.mixed_playbook import ClassicConsumer, join_together, share_out
from wirekafka.groups import GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.groups.consumer.assignment import without_epochs
from wirekafka.groups.consumer.member import MemberState
from wirekafka.groups.deadlines import JoinDeadline, RetentionDeadline
from wirekafka.groups.records import decode
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def two_of_four(
    config: GroupConfig | None = None,
) -> tuple[ConsumerPlaybook, ClassicConsumer, ClassicConsumer]:
    """A stable classic group whose two members have two partitions each."""
    play = ConsumerPlaybook(config, t=4)
    first, second = ClassicConsumer(play, "a", "t"), ClassicConsumer(play, "b", "t", instance="ib")
    share_out(play, {first: {"t": [0, 1]}, second: {"t": [2, 3]}})
    assert play.state() == "Stable"
    return play, first, second


def test_members_keep_what_they_have_and_their_generation_is_their_epoch() -> None:
    """ConsumerGroup.fromClassicGroup: stable, at the classic generation."""
    play, first, second = two_of_four()
    answer = play.consumer("new", "t").join()

    assert answer.error_code == 0
    members = play.group.members
    assert members.keys() == {first.member_id, second.member_id, "new"}
    old = members[first.member_id]
    assert (old.state, old.member_epoch, old.previous_member_epoch) == (MemberState.STABLE, 1, 1)
    assert without_epochs(old.assigned) == {play.id_of("t"): frozenset({0, 1})}
    assert (old.client.client_id, old.rebalance_timeout_ms) == ("a", 60_000)
    assert old.classic is not None
    assert (old.classic.session_timeout_ms, old.classic.supported_protocols[0].name) == (10_000, "range")
    assert play.group.static_members == {"ib": second.member_id}


def test_the_classic_group_is_deleted_and_the_records_have_kafkas_order() -> None:
    """Tombstone, members, epoch, targets, target epoch, current assignments; then those of the new member."""
    play, *_ = two_of_four()
    length = len(play.log)
    play.consumer("new", "t").join()

    kinds = [type(decode(item)).__name__ for item in play.written_since(length)]
    assert kinds[:9] == [
        "GroupMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupCurrentMemberAssignment",
    ]
    assert kinds[9] == "ConsumerGroupMemberMetadata"
    assert play.shard.volatile.classic_groups == {}


def test_old_members_hand_over_and_nobody_reads_a_partition_twice() -> None:
    """The rolling upgrade: the newcomer gets its share once the old ones gave it up."""
    play, first, second = two_of_four()
    new = play.consumer("new", "t")
    new.join()
    assert new.has == {}
    for _ in range(4):
        play.pass_ms(1_000)
        for old in (first, second):
            old.follow()
        new.beat()

    shares = [first.has["t"], second.has["t"], new.has["t"]]
    assert sorted(partition for share in shares for partition in share) == [0, 1, 2, 3]
    assert play.group.state.value == "Stable"


def test_who_waits_in_a_rebalance_is_told_to_join_again() -> None:
    """convertToConsumerGroup: REBALANCE_IN_PROGRESS for every parked JoinGroup and SyncGroup."""
    play, first, _ = two_of_four()
    waits = first.send_join(session_ms=30_000)
    play.consumer("new", "t").join()

    assert play.answers[waits].error_code == ErrorCode.REBALANCE_IN_PROGRESS  # type: ignore[attr-defined]
    assert play.waiting == set()
    assert first.join().error_code == 0


def test_who_waits_for_an_assignment_is_told_to_join_again() -> None:
    """Its target is empty: the leader has not assigned yet."""
    play, first, second = two_of_four()
    join_together(play, [first, second])
    waits = play.sync(second.member_id, second.generation, instance="ib")
    play.consumer("new", "t").join()

    assert play.answers[waits].error_code == ErrorCode.REBALANCE_IN_PROGRESS  # type: ignore[attr-defined]
    assert play.waiting == set()


def test_a_group_in_its_first_rebalance_is_upgraded_too() -> None:
    """It has no generation and no protocol yet, where Kafka answers UNKNOWN_SERVER_ERROR."""
    play = ConsumerPlaybook(t=2)
    old = ClassicConsumer(play, "a", "t")
    waits = old.send_join()
    answer = play.consumer("new", "t").join()

    assert answer.error_code == 0
    assert play.answers[waits].error_code == ErrorCode.REBALANCE_IN_PROGRESS  # type: ignore[attr-defined]
    assert len(play.group.members) == 2
    assert play.group.members[f"a-{waits}"].member_epoch == 1


def test_old_members_are_expected_within_their_own_session_time_out() -> None:
    """And only if they are silent they go."""
    play, first, _ = two_of_four()
    play.consumer("new", "t").join()
    play.pass_ms(9_000)
    first.beat()
    play.pass_ms(2_000)

    assert play.group.members.keys() == {first.member_id, "new"}


def test_deadlines_of_the_classic_rebalance_are_gone() -> None:
    """The group may become a classic one again before they would have come."""
    play, first, _ = two_of_four()
    first.send_join(session_ms=30_000)
    play.consumer("new", "t").join()

    deadlines = play.shard.volatile.deadlines
    assert JoinDeadline("g") not in deadlines
    assert len(deadlines) == len([*play.group.members, RetentionDeadline()])


def test_topics_that_are_gone_are_left_out() -> None:
    """Utils.toTopicPartitionMap."""
    play = ConsumerPlaybook(t=1)
    old = ClassicConsumer(play, "a", "t", "gone")
    share_out(play, {old: {"t": [0], "gone": [0]}})
    play.consumer("new").join()

    assert play.group.targets[old.member_id] == {play.id_of("t"): frozenset({0})}
    assert play.group.members[old.member_id].subscribed_topic_names == {"t", "gone"}


def test_partitions_that_there_are_not_are_left_out() -> None:
    """Of a topic that was made anew with fewer; Kafka's assignor fails on them, for members of any kind."""
    play = ConsumerPlaybook(t=1, u=1)
    old = ClassicConsumer(play, "a", "t")
    share_out(play, {old: {"t": [0, 1, 4, -1]}})

    assert play.consumer("new", "u").join().error_code == 0
    assert play.group.targets[old.member_id] == {play.id_of("t"): frozenset({0})}


def test_a_restart_finds_the_group_upgraded() -> None:
    """All that is said of it is in the log."""
    play, *_ = two_of_four()
    play.consumer("new", "t").join()
    before = play.group
    play.restart()

    assert play.group == before
    assert play.shard.volatile.classic_groups == {}


def _disabled() -> ConsumerPlaybook:
    policy = MigrationPolicy.DOWNGRADE
    return two_of_four(GroupConfig(group_consumer_migration_policy=policy))[0]


def _too_large() -> ConsumerPlaybook:
    return two_of_four(GroupConfig(group_consumer_max_size=1))[0]


def _of_another_type() -> ConsumerPlaybook:
    play = ConsumerPlaybook(t=1)
    play.join("a", protocol_type="connect")
    return play


def _with_user_data() -> ConsumerPlaybook:
    play = ConsumerPlaybook(t=1)
    share_out(play, {ClassicConsumer(play, "a", "t"): assigned_bytes({"t": [0]}, user_data=b"mine")})
    return play


def _malformed_assignment() -> ConsumerPlaybook:
    play = ConsumerPlaybook(t=1)
    share_out(play, {ClassicConsumer(play, "a", "t"): b"\0"})
    return play


def _malformed_subscription() -> ConsumerPlaybook:
    play = ConsumerPlaybook(t=1)
    play.join("a", protocols={"range": b"\0"})
    return play


REFUSED: list[tuple[Callable[[], ConsumerPlaybook], str]] = [
    (_disabled, "online upgrade is disabled"),
    (_too_large, "it has more members than the 1"),
    (_of_another_type, "of type connect"),
    (_with_user_data, "its assignor range keeps data"),
    (_malformed_assignment, "malformed"),
    (_malformed_subscription, "malformed"),
]


@pytest.mark.parametrize(("begin", "reason"), REFUSED, ids=[case[0].__name__ for case in REFUSED])
def test_what_may_not_be_upgraded_stays_as_it_is(begin: Callable[[], ConsumerPlaybook], reason: str) -> None:
    """validateOnlineUpgrade and convertToConsumerGroup: GROUP_ID_NOT_FOUND, and nothing is written."""
    play = begin()
    length, state = len(play.log), play.state()
    answer = play.consumer("new", "t").join()

    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message is not None
    assert reason in answer.error_message
    assert (len(play.log), play.state()) == (length, state)
    assert play.shard.durable.consumer_groups == {}


def test_when_it_cannot_be_written_the_classic_group_goes_on() -> None:
    """Its members are where they were, and are told so."""
    play, first, second = two_of_four()
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "The log is offline.")
    answer = play.consumer("new", "t").join()
    play.append_error = None

    assert answer.error_code != 0
    assert play.shard.durable.consumer_groups == {}
    assert (first.beat(), second.beat(), play.state()) == (ErrorCode.NONE, ErrorCode.NONE, "Stable")


@pytest.mark.parametrize("assigned", [False, True])
def test_upgrade_in_a_rebalance_calls_for_a_target(assigned: bool) -> None:
    """Also by a member that changes nothing: nobody was told what this generation is to read."""
    play = ConsumerPlaybook(t=4)
    old = ClassicConsumer(play, "a", "t")
    if assigned:
        share_out(play, {old: {"t": [0, 1]}})
        old.send_join()
    else:
        join_together(play, [old])
    assert play.state() != "Stable"
    new = play.consumer("new", regex="nothing")
    assert new.join().error_code == 0
    for _ in range(4):
        play.pass_ms(1_000)
        new.beat()
        old.join_and_sync()

    assert old.has == {"t": [0, 1, 2, 3]}


def test_upgrade_of_a_stable_group_leaves_its_target_as_it_is() -> None:
    """As in Kafka: the group's epoch is the generation still."""
    play, *_ = two_of_four()
    play.consumer("new", regex="nothing").join()

    assert (play.group.group_epoch, play.group.assignment_epoch) == (1, 1)


def test_upgrade_in_a_rebalance_counts_the_epoch_up_once() -> None:
    """However much the joining member changes."""
    play, first, _ = two_of_four()
    first.send_join()
    play.create("u", 1)
    play.consumer("new", "u").join()

    assert play.group.group_epoch == 2
