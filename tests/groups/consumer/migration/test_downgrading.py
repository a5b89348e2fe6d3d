"""groups/consumer/migration/downgrading.py: a consumer group goes on as a classic group."""

from dataclasses import replace

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.support.consumer_protocol import assigned_by, subscription_bytes
from tests.support.mixed_playbook import ClassicConsumer, join_together
from wirekafka.groups import GroupConfig
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.config import MigrationPolicy
from wirekafka.groups.consumer import stored
from wirekafka.groups.consumer.migration import downgrading
from wirekafka.groups.consumer.turn import ConsumerTurn
from wirekafka.groups.deadlines import Deadline, JoinDeadline, RetentionDeadline, SessionDeadline
from wirekafka.groups.records import GroupMetadata, decode
from wirekafka.machine import Decision
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata, ClassicProtocol


def mixed(config: GroupConfig | None = None) -> tuple[ConsumerPlaybook, Consumer, ClassicConsumer]:
    """A stable consumer group of one member by each protocol, with two partitions each."""
    play = ConsumerPlaybook(config, t=4)
    new, old = play.consumer("new", "t"), ClassicConsumer(play, "old", "t")
    new.join()
    play.pass_ms(1_000)
    old.join_and_sync()
    for _ in range(4):
        play.pass_ms(1_000)
        new.beat()
        old.follow()
    assert (len(new.has["t"]), len(old.has["t"])) == (2, 2)
    return play, new, old


def classic(play: ConsumerPlaybook) -> ClassicGroup:
    return play.shard.volatile.classic_groups["g"]


def test_when_the_last_new_member_leaves_the_group_is_classic() -> None:
    """convertToClassicGroup: the epoch is the generation, targets are assignments, and it rebalances."""
    play, new, old = mixed()
    epoch, had = play.group.group_epoch, old.has
    assert new.leave().error_code == 0

    assert play.shard.durable.consumer_groups == {}
    group = classic(play)
    assert (play.state(), group.generation_id, group.protocol_name) == ("PreparingRebalance", epoch, "range")
    assert (group.leader_id, group.topics) == (old.member_id, frozenset({"t"}))
    assert assigned_by(group.members[old.member_id].assignment) == had
    assert group.members[old.member_id].session_timeout_ms == 10_000


def test_the_consumer_group_is_deleted_before_the_classic_one_is_written() -> None:
    """In one batch: whoever reads the log finds one of them."""
    play, new, _ = mixed()
    length = len(play.log)
    new.leave()

    written = [decode(item) for item in play.written_since(length)]
    assert [type(record).__name__ for record in written] == [
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupCurrentMemberAssignment",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupTargetAssignmentMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupPartitionMetadata",
        "ConsumerGroupMetadata",
        "GroupMetadata",
    ]
    assert all(record is not None and record.value is None for record in written[:-1])
    assert isinstance(written[-1], GroupMetadata)
    assert written[-1].value is not None
    assert written[-1].value.current_state_timestamp == play.now_ms + play.shard.wall_lead_ms


def test_the_members_left_rebalance_among_themselves() -> None:
    """A heartbeat says so; then one of them is the leader."""
    play, new, old = mixed()
    new.leave()

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    join_together(play, [old])
    assert old.generation == classic(play).generation_id
    assert classic(play).leader_id == old.member_id


def test_a_member_that_is_silent_for_too_long_brings_it_about_too() -> None:
    """consumerGroupFenceMembers, by the session time-out."""
    play, _, old = mixed()
    for _ in range(50):
        play.pass_ms(1_000)
        old.beat()

    assert play.shard.durable.consumer_groups == {}
    assert list(classic(play).members) == [old.member_id]


def test_members_left_are_expected_within_their_session_time_out() -> None:
    """Under the classic group's rules from now on."""
    play, new, old = mixed()
    new.leave()
    play.pass_ms(11_000)

    assert old.member_id not in classic(play).members


def test_there_is_no_deadline_left_of_the_consumer_group() -> None:
    """Only those of the classic group and its rebalance."""
    play, new, old = mixed()
    new.leave()

    deadlines = play.shard.volatile.deadlines
    expected: list[Deadline] = [JoinDeadline("g"), RetentionDeadline(), SessionDeadline("g", old.member_id)]
    assert len(deadlines) == len(expected)
    assert all(key in deadlines for key in expected)


def test_a_restart_finds_the_classic_group() -> None:
    """In its rebalance: the record names no leader, and its members are to elect one."""
    play, new, old = mixed()
    new.leave()
    play.restart()

    assert play.shard.durable.consumer_groups == {}
    assert (play.state(), list(classic(play).members)) == ("PreparingRebalance", [old.member_id])


def test_after_a_restart_a_member_comes_by_what_it_was_never_told_of() -> None:
    """The one that left is not in the log: only the rebalance gives its partitions to those who stay."""
    play = ConsumerPlaybook(GroupConfig(), t=4)
    new, old = play.consumer("new", "t"), ClassicConsumer(play, "old", "t")
    new.join()
    play.pass_ms(1_000)
    old.join_and_sync()
    assert (old.generation, old.has) == (play.group.group_epoch, {})
    new.leave()
    play.restart(after_ms=1_000)

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    assert old.join().leader == old.member_id


def test_it_may_be_upgraded_again() -> None:
    """And nothing of the classic group's rebalance comes after it."""
    play, new, old = mixed()
    new.leave()
    again = play.consumer("again", "t")
    assert again.join().error_code == 0
    for _ in range(70):
        play.pass_ms(1_000)
        again.beat()
        old.follow()

    assert play.group.members.keys() == {old.member_id, "again"}
    assert (len(again.has["t"]), len(old.has["t"])) == (2, 2)


@pytest.mark.parametrize(
    "config",
    [
        GroupConfig(group_consumer_migration_policy=MigrationPolicy.UPGRADE),
        GroupConfig(group_consumer_migration_policy=MigrationPolicy.DISABLED),
    ],
)
def test_where_the_policy_forbids_it_the_group_stays_a_consumer_group(config: GroupConfig) -> None:
    """validateOnlineDowngradeWithFencedMembers."""
    play = ConsumerPlaybook(GroupConfig(), t=4)
    new, old = play.consumer("new", "t"), ClassicConsumer(play, "old", "t")
    new.join()
    old.join_and_sync()
    play.shard.config = config
    new.leave()

    assert list(play.group.members) == [old.member_id]
    assert play.shard.volatile.classic_groups == {}


def test_a_group_too_large_for_a_classic_one_stays() -> None:
    """group.max.size."""
    play, new, old = mixed()
    other = ClassicConsumer(play, "other", "t")
    other.join_and_sync()
    play.shard.config = GroupConfig(group_max_size=1)
    new.leave()

    assert play.group.members.keys() == {old.member_id, other.member_id}


def test_while_another_new_member_is_left_it_stays() -> None:
    """And an empty group stays what it was."""
    play, new, old = mixed()
    other = play.consumer("other", "t")
    other.join()
    new.leave()
    assert play.group.members.keys() == {old.member_id, "other"}
    old.leave()
    other.leave()

    assert play.group.members == {}


def test_when_it_cannot_be_written_the_consumer_group_goes_on() -> None:
    """Nobody has left, and every member has its deadlines."""
    play, new, old = mixed()
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "The log is offline.")
    epoch = new.epoch
    assert new.leave().error_code != 0
    play.append_error = None

    assert play.shard.volatile.classic_groups == {}
    new.epoch = epoch
    assert new.beat().error_code == 0
    assert old.beat() is ErrorCode.NONE
    play.pass_ms(11_000)
    assert play.group.members.keys() == {"new"}


def _describe_classic_member(
    play: ConsumerPlaybook, old: ClassicConsumer, *protocols: tuple[str, bytes]
) -> None:
    """Write a record of the classic member that offers these: a log may have what no join lets in."""
    member = play.group.members[old.member_id]
    offered = [ClassicProtocol(name=name, metadata=metadata) for name, metadata in protocols]
    classic = ClassicMemberMetadata(session_timeout_ms=10_000, supported_protocols=offered)
    play.run(Decision([stored.member_record("g", replace(member, classic=classic))]))


def _die(play: ConsumerPlaybook, *staying: ClassicConsumer) -> None:
    """Let the session of everybody else end."""
    for _ in range(50):
        play.pass_ms(1_000)
        for old in staying:
            old.beat()


def test_a_protocol_that_the_log_names_twice_has_one_vote() -> None:
    """Else none would be common to all, and nobody could vote: in a deadline, which nobody is told of."""
    play, _, old = mixed()
    data = subscription_bytes(["t"])
    _describe_classic_member(play, old, ("range", data), ("range", data))
    _die(play, old)

    assert classic(play).protocol_name == "range"
    assert classic(play).members[old.member_id].protocol_names == ["range"]


def test_members_that_have_no_protocol_in_common_stay_a_consumer_group() -> None:
    """They could not elect one."""
    play, _, old = mixed()
    other = ClassicConsumer(play, "other", "t")
    other.join_and_sync()
    _describe_classic_member(play, old, ("x", subscription_bytes(["t"])))
    _die(play, old, other)

    assert play.group.members.keys() == {old.member_id, other.member_id}


def test_a_malformed_subscription_is_given_its_assignment_in_the_oldest_version() -> None:
    """Only the first protocol of a member was looked at when it joined, and another may be voted for."""
    play, _, old = mixed()
    target = play.group.targets[old.member_id][play.id_of("t")]
    _describe_classic_member(play, old, ("range", b"\1"))
    _die(play, old)

    assignment = classic(play).members[old.member_id].assignment
    assert assignment[:2] == b"\0\0"
    assert assigned_by(assignment) == {"t": sorted(target)}


def test_a_downgrade_is_written_in_one_piece() -> None:
    """Also on a deadline, which answers nobody: half of it would leave partitions that nobody reads."""
    play, _, old = mixed()
    for _ in range(44):
        play.pass_ms(1_000)
        old.beat()
    decision = play.shard.on_time(play.now_ms + 1_000)

    assert (len(decision.records), decision.may_be_split) == (10, False)


def test_a_deadline_that_could_not_downgrade_leaves_the_others_their_session() -> None:
    """Only whose time is over is looked at again at once."""
    play, first, old = mixed()
    play.consumer("later", "t").join()
    first.leave()
    for _ in range(45):
        play.pass_ms(990)
        old.beat()
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "The log is offline.")
    play.pass_ms(600)
    assert list(play.group.members) == [old.member_id, "later"]
    play.append_error = None
    play.pass_ms(1_000)

    assert list(classic(play).members) == [old.member_id]


def _turn(play: ConsumerPlaybook) -> ConsumerTurn:
    shard = play.shard
    return ConsumerTurn(
        shard.config,
        shard.volatile,
        play.now_ms,
        play.now_ms + shard.wall_lead_ms,
        consumer_groups=shard.durable.consumer_groups,
        topics=play.topics,
    )


@pytest.mark.parametrize("rebalance", [True, False])
def test_a_classic_member_in_the_place_of_a_static_one_takes_over_its_assignment(rebalance: bool) -> None:
    """validateOnlineDowngradeWithReplacedMember: the last new member comes back as a classic one."""
    play, _, old = mixed()
    other = ClassicConsumer(play, "other", "t", instance="i")
    other.join_and_sync()
    holder = play.group.members[other.member_id]
    joining = holder.__class__(
        "successor",
        instance_id="i",
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=frozenset("t"),
        classic=holder.classic,
    )
    turn = _turn(play)
    leaving = [play.group.members["new"], holder]
    target = play.group.targets[holder.member_id]
    assert downgrading.downgrades(turn, play.group, leaving, joins=True)
    downgrading.downgrade(turn, play.group, leaving, joining=joining, rebalance=rebalance)
    play.run(turn.decision)

    group = classic(play)
    assert group.members.keys() == {old.member_id, "successor"}
    assert group.static_members == {"i": "successor"}
    expected = {"t": sorted(target.get(play.id_of("t"), ()))} if target else {}
    assert assigned_by(group.members["successor"].assignment) == expected
    assert play.state() == ("PreparingRebalance" if rebalance else "Stable")
    assert play.shard.durable.consumer_groups == {}
