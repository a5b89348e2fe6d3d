"""Story: static members come back after a restart without a rebalance (KIP-345)."""

from tests.support.playbook import GroupPlaybook
from wirekafka.protocol.error_codes import ErrorCode


def test_static_follower_comes_back_to_its_assignment() -> None:
    """A stable group gives the new member id the present generation and the old assignment."""
    play = GroupPlaybook()
    leader, follower = play.stable("a", "b", instances=True)
    assert (leader, follower) == ("ia-1", "ib-2")
    back = play.joined(play.join("b", instance="ib"))

    assert (back.error_code, back.generation_id, back.leader) == (ErrorCode.NONE, 1, leader)
    assert back.member_id.startswith("ib-")
    assert back.member_id != follower
    assert play.state() == "Stable"
    assert play.synced(play.sync(back.member_id, 1, instance="ib")).assignment == follower.encode()


def test_old_id_of_a_static_member_is_fenced() -> None:
    """FENCED_INSTANCE_ID: another process took over this instance id."""
    play = GroupPlaybook()
    _, follower = play.stable("a", "b", instances=True)
    play.join("b", instance="ib")

    assert play.heartbeat(follower, 1, instance="ib") is ErrorCode.FENCED_INSTANCE_ID
    assert play.synced(play.sync(follower, 1, instance="ib")).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert play.joined(play.join("b", follower, instance="ib")).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert play.committed(play.commit(follower, 1, instance="ib")) == ErrorCode.FENCED_INSTANCE_ID
    assert play.heartbeat(follower, 1) is ErrorCode.UNKNOWN_MEMBER_ID


def test_static_leader_comes_back_and_skips_the_assignment() -> None:
    """KIP-814: a returning leader gets the members, and is told not to assign anew."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    back = play.joined(play.join("a", instance="ia"))

    assert back.leader == back.member_id
    assert back.skip_assignment
    assert {member.member_id for member in back.members} == {back.member_id, "ib-2"}


def test_static_leader_of_an_old_version_takes_itself_for_a_follower() -> None:
    """Before JoinGroup v9 it is shown its own old id as that of the leader."""
    play = GroupPlaybook()
    leader, _ = play.stable("a", "b", instances=True)
    back = play.joined(play.join("a", instance="ia", skip_assignment_known=False))

    assert back.leader == leader
    assert back.leader != back.member_id
    assert not back.skip_assignment
    assert back.members == []


def test_replacement_is_written_down() -> None:
    """The new member id is in the log, so it is known after a restart."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    back = play.joined(play.join("a", instance="ia")).member_id
    play.restart()

    assert play.heartbeat(back, 1, instance="ia") is ErrorCode.NONE
    assert play.shard.durable.classic_groups["g"].leader == back


def test_static_member_away_is_kept_through_a_rebalance() -> None:
    """A rebalance that times out drops dynamic members, not static ones; their session decides."""
    play = GroupPlaybook()
    leader, follower = play.stable("a", "b", instances=True, session_ms=300_000)
    ticket = play.join("a", leader, instance="ia", session_ms=300_000)
    play.at(play.now_ms + 60_000)

    assert [member.member_id for member in play.joined(ticket).members] == [leader, follower]


def test_rebalance_waits_on_while_only_static_members_are_away() -> None:
    """Kafka: a join phase that nobody joined is prolonged until sessions time out."""
    play = GroupPlaybook()
    leader, _ = play.stable("a", "b", "c", instances=True, session_ms=150_000)[:2]
    start_ms = play.now_ms
    play.leave(("", "ic"))
    assert play.state() == "PreparingRebalance"
    play.at(start_ms + 70_000)
    assert play.state() == "PreparingRebalance"
    assert play.heartbeat(leader, 1, instance="ia") is ErrorCode.REBALANCE_IN_PROGRESS

    play.at(start_ms + 70_000 + 150_000)
    assert play.state() == "Empty"


def test_static_member_that_comes_back_with_other_protocols_rebalances() -> None:
    """When the vote would change, the group cannot go on as it is."""
    play = GroupPlaybook()
    both = {"range": b"", "sticky": b""}
    first = play.join("a", instance="ia", protocols=both)
    play.at(3_000)
    leader = play.joined(first).member_id
    play.sync(leader, 1, {})
    back = play.join("a", instance="ia", protocols={"sticky": b"", "range": b""})

    assert play.joined(back).generation_id == 2
    assert play.joined(back).protocol_name == "sticky"


def test_static_member_replaced_while_completing_starts_a_rebalance() -> None:
    """The leader may have assigned to the old id already."""
    play = GroupPlaybook()
    play.join("a", instance="ia")
    second = play.join("b", instance="ib")
    play.at(6_000)
    follower = play.joined(second).member_id
    waits = play.sync(follower, 1, instance="ib")
    back = play.join("b", instance="ib")

    assert play.synced(waits).error_code == ErrorCode.FENCED_INSTANCE_ID
    assert play.state() == "PreparingRebalance"
    assert back in play.waiting


def test_static_member_replaced_while_preparing_is_answered_fenced() -> None:
    """The one that waits under the old id is told; the rebalance goes on with the new one."""
    play = GroupPlaybook()
    first = play.join("a", instance="ia")
    second = play.join("a", instance="ia")
    assert play.joined(first).error_code == ErrorCode.FENCED_INSTANCE_ID
    play.at(3_000)

    assert play.joined(second).member_id == "ia-2"
    assert [member.group_instance_id for member in play.joined(second).members] == ["ia"]


def test_operator_removes_a_static_member_by_its_instance() -> None:
    """LeaveGroup v3+ with an instance id alone; one that is not there is an error of its own."""
    play = GroupPlaybook()
    play.stable("a", "b", instances=True)
    ticket = play.leave(("", "ib"), ("", "nobody"), ("", None))

    assert play.left(ticket) == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID]
    assert play.state() == "PreparingRebalance"
