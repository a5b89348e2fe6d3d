"""Tests of groups/consumer/classic_members/liveness.py: Heartbeat and LeaveGroup in a consumer group."""

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.support.mixed_playbook import ClassicConsumer
from wirekafka.groups import GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.machine import Ticket
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse
from wirekafka.protocol.error_codes import ErrorCode


@pytest.fixture
def new() -> Consumer:
    """A member by the consumer protocol, alone in its group, with the four partitions of its topic."""
    (made,) = ConsumerPlaybook(t=4).settled("new")
    return made


@pytest.fixture
def old(new: Consumer) -> ClassicConsumer:
    """A classic member beside it, which waits for its share."""
    new.play.pass_ms(1_000)
    made = ClassicConsumer(new.play, "old", "t")
    made.join_and_sync()
    return made


def test_member_is_to_go_on_while_it_waits_for_others(new: Consumer, old: ClassicConsumer) -> None:
    """There is nothing that it would get by joining."""
    new.beat()

    assert old.beat() is ErrorCode.NONE


def test_member_is_to_rejoin_when_what_it_waits_for_is_free(new: Consumer, old: ClassicConsumer) -> None:
    for _ in range(2):
        new.beat()

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS


def test_member_is_to_rejoin_when_there_is_a_newer_target(new: Consumer, old: ClassicConsumer) -> None:
    new.play.pass_ms(1_000)
    new.play.consumer("third", "t").join()

    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.fixture
def classic_only() -> list[ClassicConsumer]:
    """Two classic members that are left in a group which may not become a classic one."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_migration_policy=MigrationPolicy.UPGRADE), t=4)
    (last,) = play.settled("new")
    members = [ClassicConsumer(play, name, "t") for name in ("a", "b")]
    for member in members:
        play.pass_ms(1_000)
        member.join_and_sync()
    last.leave()
    settle(members)
    return members


def settle(members: list[ClassicConsumer]) -> None:
    """Let everybody send heartbeats, a second apart."""
    for _ in range(8):
        members[0].play.pass_ms(1_000)
        for member in members:
            member.follow()


def test_members_that_are_left_alone_share_what_others_had(classic_only: list[ClassicConsumer]) -> None:
    """Unlike Kafka, where nobody is left whose heartbeat would bring a new target."""
    first, second = classic_only
    assert sorted(first.has["t"] + second.has["t"]) == [0, 1, 2, 3]
    second.leave()
    settle([first])

    assert first.has == {"t": [0, 1, 2, 3]}


def test_members_that_are_left_alone_see_their_topic_grow(classic_only: list[ClassicConsumer]) -> None:
    """And are not told to rejoin when some other topic does."""
    first, second = classic_only
    first.play.create("u", 1)
    assert first.beat() is second.beat() is ErrorCode.NONE
    first.play.create("t", 6)
    assert first.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    settle(classic_only)

    assert sorted(first.has["t"] + second.has["t"]) == [0, 1, 2, 3, 4, 5]


def test_heartbeat_keeps_the_member_in_the_group(new: Consumer, old: ClassicConsumer) -> None:
    """For its own session time-out after each."""
    for _ in range(3):
        old.play.pass_ms(9_000)
        assert old.beat() is ErrorCode.NONE
    old.play.pass_ms(10_000)

    assert old.beat() is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("member_id", "generation_id", "instance_id", "code"),
    [
        ("who", 1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("new", 2, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("new", 2, "i", ErrorCode.UNKNOWN_MEMBER_ID),
        ("old", 99, None, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_heartbeat_is_refused(
    new: Consumer,
    old: ClassicConsumer,
    member_id: str,
    generation_id: int,
    instance_id: str | None,
    code: ErrorCode,
) -> None:
    told = old.member_id if member_id == "old" else member_id

    assert new.play.heartbeat(told, generation_id, instance=instance_id) is code


def test_heartbeat_is_answered_at_once_where_those_of_classic_groups_are_held(old: ClassicConsumer) -> None:
    """The news of a consumer group is told to whoever asks next."""
    request = HeartbeatRequest(group_id="g", generation_id=old.generation, member_id=old.member_id)
    decision = old.play.shard.hold_heartbeat(request, ticket=Ticket(99), now_ms=old.play.now_ms)

    assert [reply.response for reply in decision.replies] == [HeartbeatResponse(error_code=0)]


def test_member_that_leaves_gives_its_share_to_the_others(new: Consumer, old: ClassicConsumer) -> None:
    for _ in range(2):
        new.beat()
    old.follow()
    assert (new.has, old.has) == ({"t": [0, 1]}, {"t": [2, 3]})
    answer = old.leave()
    new.play.settle(new)

    assert (answer.error_code, [one.error_code for one in answer.members]) == (0, [0])
    assert new.has == {"t": [0, 1, 2, 3]}
    assert list(new.play.group.members) == ["new"]


def test_each_of_many_that_leave_has_its_own_code(new: Consumer) -> None:
    """An operator may name a static member by its instance id alone; the epoch is counted up once."""
    static = new.play.consumer("static", "t", instance="i")
    static.join()
    before = new.play.group.group_epoch
    ticket = new.play.leave(
        ("who", None), ("", "nobody"), ("other", "i"), ("", "i"), ("static", "i"), ("new", None)
    )
    answer = new.play.answers[ticket]

    assert isinstance(answer, LeaveGroupResponse)
    assert [(one.member_id, one.group_instance_id, one.error_code) for one in answer.members] == [
        ("who", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", "nobody", ErrorCode.UNKNOWN_MEMBER_ID),
        ("other", "i", ErrorCode.FENCED_INSTANCE_ID),
        ("", "i", ErrorCode.NONE),
        ("static", "i", ErrorCode.NONE),
        ("new", None, ErrorCode.NONE),
    ]
    assert new.play.group.members == {}
    assert new.play.group.group_epoch == before + 1


def test_leaving_that_concerns_nobody_writes_nothing(new: Consumer) -> None:
    length = len(new.play.log)
    new.play.leave(("who", None))

    assert new.play.written_since(length) == []


@pytest.mark.parametrize(("member_id", "code"), [("new", 0), ("who", ErrorCode.UNKNOWN_MEMBER_ID)])
def test_one_member_that_leaves_has_the_code_of_the_response(
    new: Consumer, member_id: str, code: int
) -> None:
    """LeaveGroup v0-2."""
    ticket = new.play.draw()
    request = LeaveGroupRequest(group_id="g", member_id=member_id)
    new.play.run(new.play.shard.leave(request, ticket=ticket, now_ms=new.play.now_ms, one_member=True))

    assert new.play.answers[ticket] == LeaveGroupResponse(error_code=code)
