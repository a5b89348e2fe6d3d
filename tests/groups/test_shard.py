"""Tests of groups/shard.py; what it decides is tested with the rules and in the stories."""

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupConfig, GroupRecord, GroupShard
from wirekafka.groups.records import GroupMetadata, OffsetCommit
from wirekafka.machine import Machine, Ticket
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue


def test_shard_is_a_machine() -> None:
    """`broker.journal` drives it by that contract alone."""
    machine: Machine[GroupRecord] = GroupShard(3, GroupConfig())

    assert machine.wake_at_ms() is None
    assert machine.on_time(10**12).records == []


def test_group_id_may_be_empty_for_offsets_alone() -> None:
    """Kafka: an old allowance for OffsetCommit and OffsetFetch; membership is INVALID_GROUP_ID."""
    play = GroupPlaybook(group_id="")
    assert play.committed(play.commit(offset=3)) == ErrorCode.NONE
    assert play.fetch() == 3
    assert play.state() == "Empty"

    assert play.joined(play.join("a", "id")).error_code == ErrorCode.INVALID_GROUP_ID
    assert play.joined(play.join("a", "id")).member_id == "id"
    assert play.synced(play.sync("a", 1)).error_code == ErrorCode.INVALID_GROUP_ID
    assert play.heartbeat("a", 1) is ErrorCode.INVALID_GROUP_ID
    leave = play.answers[play.leave(("a", None))]
    assert leave == LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)


def test_one_member_form_of_leave_has_one_code() -> None:
    """LeaveGroup v0-2: the member is named by the request, and its code is the response's."""
    play = GroupPlaybook()
    play.stable("a")
    codes = []
    for member_id in ("nobody", "a-1"):
        ticket = play.draw()
        request = LeaveGroupRequest(group_id="g", member_id=member_id)
        play.run(play.shard.leave(request, ticket=ticket, now_ms=play.now_ms, one_member=True))
        codes.append(play.answers[ticket])

    assert codes == [LeaveGroupResponse(error_code=25), LeaveGroupResponse(error_code=0)]
    assert play.state() == "Empty"


def test_forgotten_ticket_is_never_answered_and_its_member_stays() -> None:
    """A client that hung up in JoinGroup is found out by its session, after the rebalance."""
    play = GroupPlaybook()
    ticket = play.join("a", session_ms=10_000)
    play.shard.forget(ticket)
    play.shard.forget(Ticket(999))
    play.waiting.remove(ticket)
    play.at(3_000)
    assert play.state() == "CompletingRebalance"
    play.at(13_000)

    assert play.state() == "Empty"
    assert ticket not in play.answers


def test_tombstone_of_a_group_forgets_it_and_its_deadlines() -> None:
    """A pending member of a deleted group has nothing left to expire."""
    play = GroupPlaybook()
    play.join("a", member_id_required=True)
    play.shard.apply(GroupMetadata("g", None))
    play.shard.apply(GroupMetadata("never there", None))

    assert play.state() == "Dead"
    assert play.shard.durable.classic_groups == {}
    assert play.machine.wake_at_ms() == 600_000


def test_tombstone_of_an_offset_makes_no_group() -> None:
    """Only a stored offset stands for a group."""
    shard = GroupShard(0, GroupConfig())
    shard.apply(OffsetCommit("g", "t", 0, None))

    assert shard.list_groups() == []


def test_group_without_offsets_goes_at_the_next_check() -> None:
    """Kafka: an empty group is kept for its offsets alone."""
    play = GroupPlaybook()
    play.stable("a")
    play.leave(("a-1", None))
    play.at(599_999)
    assert play.state() == "Empty"

    play.at(600_000)
    assert play.state() == "Dead"
    assert play.machine.wake_at_ms() == 1_200_000


def test_group_loaded_over_the_limit_rebalances() -> None:
    """Kafka: after group.max.size was lowered, those who come last are turned away."""
    play = GroupPlaybook()
    play.stable("a", "b", session_ms=60_000)
    play.config = GroupConfig(group_max_size=1)
    play.restart()
    assert play.state() == "PreparingRebalance"
    first = play.join("a", "a-1")
    second = play.join("b", "b-2")

    assert play.joined(second).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert first in play.waiting
    play.at(play.now_ms + 60_000)
    assert [member.member_id for member in play.joined(first).members] == ["a-1"]


def test_failed_commit_is_answered_and_not_stored() -> None:
    """The error is one that makes the client look for its coordinator."""
    play = GroupPlaybook()
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    assert play.committed(play.commit()) == ErrorCode.NOT_COORDINATOR
    assert play.fetch() == -1


def test_expiry_that_cannot_be_written_is_tried_again() -> None:
    """Nothing is forgotten in memory that the log still has."""
    play = GroupPlaybook()
    play.commit(retention_ms=1)
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
    play.at(600_000)
    assert play.fetch() == 1
    play.append_error = None
    play.at(1_200_000)

    assert play.fetch() == -1
    assert play.state() == "Dead"


def test_what_is_stored_has_wall_time_and_what_falls_due_has_not() -> None:
    """A machine that slept: deadlines know nothing of it, but a restart judges offsets by the wall."""
    play = GroupPlaybook()
    play.at(1000)
    play.shard.wall_lead_ms = 5_000_000
    play.commit(offset=3)
    stored = play.shard.durable.offsets.get("g", "t", 0)

    assert stored is not None
    assert stored.commit_timestamp == 5_001_000
    assert play.shard.wake_at_ms() == play.config.offsets_retention_check_interval_ms


def test_expiry_is_decided_apart_from_what_answers_somebody() -> None:
    """Expired offsets may be many, and must not fail a join that fell due with them."""
    config = GroupConfig(
        group_initial_rebalance_delay_ms=600_000,
        offsets_retention_check_interval_ms=600_000,
        offsets_retention_ms=1,
    )
    play = GroupPlaybook(config)
    other = OffsetCommit("other", "t", 0, OffsetCommitValue(offset=1, metadata="", commit_timestamp=0))
    play.shard.apply(other)
    play.join("a", rebalance_ms=700_000)
    play.now_ms = 600_000

    decisions = []
    while (due_ms := play.shard.wake_at_ms()) is not None and due_ms <= 600_000:
        decisions.append(play.shard.on_time(600_000))
        play.run(decisions[-1])

    assert [bool(d.replies) for d in decisions if d.records or d.replies].count(True) == 1
    assert not any(d.replies and any(isinstance(r, OffsetCommit) for r in d.records) for d in decisions)
    assert any(isinstance(r, OffsetCommit) for d in decisions for r in d.records)
