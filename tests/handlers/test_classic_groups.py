"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup over TCP, at old, middle and newest versions.

The rules are tested in tests/groups; here it is what versions and the wire make of them, held
against Kafka 4.4.
"""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.handlers.support import fresh, make_coordinator
from tests.support.raw_client import RawClient, parse_response, request_frame
from wirekafka.broker.coordination import Coordination
from wirekafka.groups import GroupShard
from wirekafka.protocol.apis.api_versions import ApiVersionsRequest
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, MemberIdentity
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import RunningBroker, running_broker

join_forms = pytest.mark.parametrize("version", range(10))
sync_forms = pytest.mark.parametrize("version", range(6))
MEMBER_ID_SINCE, STATIC_SINCE = 4, 5


@pytest.fixture(autouse=True)
def coordinator(raw: RawClient) -> None:
    make_coordinator(raw)


@pytest.fixture
def other(broker: RunningBroker) -> Iterator[RawClient]:
    """A second connection."""
    with RawClient(broker.bootstrap) as client:
        yield client


def join(raw: RawClient, version: int, group: str, member: str = "", **more: Any) -> Any:
    """One JoinGroup, of a consumer unless said otherwise."""
    return raw.ask(join_request(group, member, **more), version)


def join_request(group: str, member: str = "", **more: Any) -> JoinGroupRequest:
    protocols = more.pop("protocols", {"range": b"metadata"})
    values = {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 30_000,
        "protocol_type": "consumer",
        **more,
    }
    return JoinGroupRequest(
        group_id=group,
        member_id=member,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in protocols.items()],
        **values,
    )


def join_fully(raw: RawClient, version: int, group: str, **more: Any) -> Any:
    """Join, with the member id that is given first from v4 on."""
    answer = join(raw, version, group, **more)
    if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        answer = join(raw, version, group, answer.member_id, **more)
    assert answer.error_code == 0
    return answer


def sync(raw: RawClient, version: int, group: str, member: str, generation: int = 1, **more: Any) -> Any:
    given = more.pop("assignments", {member: b"assignment"})
    request = SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        assignments=[
            SyncGroupRequestAssignment(member_id=who, assignment=what) for who, what in given.items()
        ],
        **{"protocol_type": "consumer", "protocol_name": "range", **more},
    )
    return raw.ask(request, version)


def beat(raw: RawClient, version: int, group: str, member: str, generation: int = 1, **more: Any) -> int:
    request = HeartbeatRequest(group_id=group, generation_id=generation, member_id=member, **more)
    code: int = raw.ask(request, version).error_code
    return code


def stable(raw: RawClient, version: int = 5) -> tuple[str, str]:
    """A stable group of one member: its id and the member's."""
    group = fresh("group")
    member = join_fully(raw, version, group).member_id
    assert sync(raw, 5, group, member).error_code == 0
    return group, member


@join_forms
def test_single_member_leads_at_once(raw: RawClient, version: int) -> None:
    """From v4 on after it was given its id (KIP-394)."""
    group = fresh("group")

    first = join(raw, version, group)
    joined = first if version < MEMBER_ID_SINCE else join(raw, version, group, first.member_id)

    if version >= MEMBER_ID_SINCE:
        assert (first.error_code, first.generation_id) == (ErrorCode.MEMBER_ID_REQUIRED, -1)
        assert (first.protocol_name, first.leader, first.members) == (None if version >= 7 else "", "", [])
    assert joined.member_id.startswith("raw-")
    assert (joined.error_code, joined.generation_id, joined.leader) == (0, 1, joined.member_id)
    assert (joined.protocol_name, joined.protocol_type) == ("range", "consumer" if version >= 7 else None)
    assert [(one.member_id, one.metadata) for one in joined.members] == [(joined.member_id, b"metadata")]
    assert joined.skip_assignment is False


JOIN_REFUSALS = {
    "empty group": ({"group": ""}, ErrorCode.INVALID_GROUP_ID),
    "short session": ({"session_timeout_ms": 5}, ErrorCode.INVALID_SESSION_TIMEOUT),
    "long session": ({"session_timeout_ms": 10**9}, ErrorCode.INVALID_SESSION_TIMEOUT),
    "no protocols": ({"protocols": {}}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "no protocol type": ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "unknown member": ({"member": "who"}, ErrorCode.UNKNOWN_MEMBER_ID),
}


@join_forms
@pytest.mark.parametrize(("wrong", "code"), JOIN_REFUSALS.values(), ids=JOIN_REFUSALS)
def test_refused_join(raw: RawClient, version: int, wrong: dict[str, Any], code: ErrorCode) -> None:
    refused = join(raw, version, **{"group": fresh("group"), **wrong})

    assert (refused.error_code, refused.generation_id, refused.members) == (code, -1, [])
    assert refused.protocol_name == (None if version >= 7 else "")


@join_forms
def test_other_protocols_are_inconsistent(raw: RawClient, version: int) -> None:
    group, member = stable(raw)

    other_type = join(raw, version, group, member, protocol_type="other")
    no_common = join(raw, version, group, protocols={"unheard-of": b""})

    assert [other_type.error_code, no_common.error_code] == [ErrorCode.INCONSISTENT_GROUP_PROTOCOL] * 2
    assert other_type.member_id == member


@join_forms
def test_leader_that_joins_again_begins_a_generation(raw: RawClient, version: int) -> None:
    group, member = stable(raw)

    again = join(raw, version, group, member)

    assert (again.error_code, again.generation_id, again.leader) == (0, 2, member)


@pytest.mark.parametrize("version", range(STATIC_SINCE, 10))
def test_static_member_is_known_by_its_instance(raw: RawClient, version: int) -> None:
    """KIP-345: it takes its place again under a new id; the old id is fenced."""
    group = fresh("group")
    first = join(raw, version, group, group_instance_id="i1")
    sync(raw, 5, group, first.member_id, group_instance_id="i1")

    again = join(raw, version, group, group_instance_id="i1")

    assert (first.error_code, again.error_code, again.generation_id) == (0, 0, 1)
    assert again.member_id != first.member_id
    assert [one.group_instance_id for one in first.members] == ["i1"]
    fenced = join(raw, version, group, first.member_id, group_instance_id="i1")
    assert (fenced.error_code, fenced.member_id) == (ErrorCode.FENCED_INSTANCE_ID, first.member_id)
    unknown = join(raw, version, group, again.member_id, group_instance_id="i2")
    assert unknown.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_static_leader_that_returns_is_told_to_skip_the_assignment(raw: RawClient) -> None:
    """KIP-814, from v9 on; before, it is not told that it leads."""
    group = fresh("group")
    first = join(raw, 9, group, group_instance_id="i1")
    sync(raw, 5, group, first.member_id, group_instance_id="i1")

    newest = join(raw, 9, group, group_instance_id="i1")
    older = join(raw, 8, group, group_instance_id="i1")

    assert (newest.skip_assignment, newest.leader, len(newest.members)) == (True, newest.member_id, 1)
    assert (older.skip_assignment, older.leader == older.member_id) == (False, False)


@sync_forms
def test_leader_gets_the_assignment_it_sent(raw: RawClient, version: int) -> None:
    """And again when it asks again."""
    group = fresh("group")
    member = join_fully(raw, 5, group).member_id

    answers = [sync(raw, version, group, member) for _ in range(2)]

    assert [(one.error_code, one.assignment) for one in answers] == [(0, b"assignment")] * 2
    named = ("consumer", "range") if version >= 5 else (None, None)
    assert [(one.protocol_type, one.protocol_name) for one in answers] == [named] * 2


@sync_forms
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"group": "nowhere"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"group": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"generation": 7}, ErrorCode.ILLEGAL_GENERATION),
        ({"member": "who"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_refused_sync(raw: RawClient, version: int, wrong: dict[str, Any], code: ErrorCode) -> None:
    group, member = stable(raw)

    refused = sync(raw, version, **{"group": group, "member": member, **wrong})

    assert (refused.error_code, refused.assignment) == (code, b"")


@sync_forms
@pytest.mark.parametrize(
    "wrong", [{"protocol_type": "other"}, {"protocol_name": "other"}, {"protocol_type": None}]
)
def test_protocol_is_checked_since_v5(raw: RawClient, version: int, wrong: dict[str, Any]) -> None:
    """KIP-559."""
    group, member = stable(raw)
    sent = wrong if version >= 5 else {}

    code = sync(raw, version, group, member, **sent).error_code

    assert code == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL if version >= 5 else 0)


@pytest.mark.parametrize("version", [0, 1, 5])
def test_two_members_share_a_group(broker: RunningBroker, raw: RawClient, version: int) -> None:
    """The second join waits for the first member, in v0 for as long as a session is; both get their share."""
    group, leader = stable(raw, version)
    with RawClient(broker.bootstrap) as other:
        joined: list[Any] = []
        thread = threading.Thread(target=lambda: joined.append(join_fully(other, version, group)))
        thread.start()
        codes = iter(lambda: beat(raw, 4, group, leader), ErrorCode.REBALANCE_IN_PROGRESS)
        assert set(codes) <= {0}
        led = join(raw, version, group, leader)
        thread.join()
        [follower] = joined
        assignments = {leader: b"first", follower.member_id: b"second"}
        synced = [
            sync(raw, 5, group, leader, 2, assignments=assignments),
            sync(other, 3, group, follower.member_id, 2, assignments={}),
        ]

    assert (led.leader, follower.leader) == (leader, leader)
    assert ({one.member_id for one in led.members}, follower.members) == (set(assignments), [])
    assert [one.assignment for one in synced] == [b"first", b"second"]


@pytest.mark.parametrize("version", range(5))
def test_heartbeats(raw: RawClient, version: int) -> None:
    group, member = stable(raw)

    assert beat(raw, version, group, member) == 0
    assert beat(raw, version, group, member, 7) == ErrorCode.ILLEGAL_GENERATION
    assert beat(raw, version, group, member, -1) == ErrorCode.ILLEGAL_GENERATION
    for stranger in ("who", ""):
        assert beat(raw, version, group, stranger) == ErrorCode.UNKNOWN_MEMBER_ID
    assert beat(raw, version, "nowhere", member) == ErrorCode.UNKNOWN_MEMBER_ID
    assert beat(raw, version, "", member) == ErrorCode.INVALID_GROUP_ID
    if version >= 3:
        assert beat(raw, version, group, member, group_instance_id="i") == ErrorCode.UNKNOWN_MEMBER_ID


def introduce(raw: RawClient) -> None:
    """Say in ApiVersions that this is a client whose heartbeats may be held."""
    introduction = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.0")
    assert raw.ask(introduction, 3).error_code == 0


def heartbeat_frame(group: str, member: str, *, correlation_id: int = 7) -> bytes:
    request = HeartbeatRequest(group_id=group, generation_id=1, member_id=member)
    return request_frame(request, 4, correlation_id=correlation_id)


def test_held_heartbeat_tells_of_a_rebalance(raw: RawClient, other: RawClient) -> None:
    """It was asked before the second member came, and could not be answered so otherwise."""
    introduce(raw)
    group, member = stable(raw)
    raw.send(heartbeat_frame(group, member))
    second = join(other, 9, group)
    other.send(request_frame(join_request(group, second.member_id), 9))
    _, answer = parse_response(HEARTBEAT, 4, raw.receive_frame())

    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_held_heartbeat_is_answered_before_the_next_request(raw: RawClient) -> None:
    """A client is not kept waiting for an offset commit by its own heartbeat."""
    introduce(raw)
    group, member = stable(raw)
    raw.socket.settimeout(2)  # the heartbeat alone would be held for a third of the session of 10 s
    raw.send(heartbeat_frame(group, member, correlation_id=1))
    raw.send(request_frame(ListGroupsRequest(), 5, correlation_id=2))

    assert [raw.receive_frame()[:4] for _ in range(2)] == [b"\0\0\0\1", b"\0\0\0\2"]


def test_where_nothing_is_held_a_heartbeat_goes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the profile kafka, whoever asks: no ticket, no waiting for a flush of what others wrote."""
    settings = {"wirekafka.heartbeat.hold.max.ms": "0"}
    with running_broker(settings=settings) as broker, RawClient(broker.bootstrap) as raw:
        make_coordinator(raw)
        introduce(raw)
        group, member = stable(raw)
        monkeypatch.setattr(Coordination, "ask_until", None)

        assert beat(raw, 4, group, member) == 0


def leave(raw: RawClient, version: int, group: str, *members: str | tuple[str, str]) -> tuple[int, list[int]]:
    """Leave; give the group's code and each member's."""
    if version < 3:
        request = LeaveGroupRequest(group_id=group, member_id=str(members[0]))
    else:
        request = LeaveGroupRequest(
            group_id=group,
            members=[
                MemberIdentity(member_id=one)
                if isinstance(one, str)
                else MemberIdentity(member_id=one[0], group_instance_id=one[1])
                for one in members
            ],
        )
    answer = raw.ask(request, version)
    return answer.error_code, [one.error_code for one in answer.members]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_one_member_leaves_before_v3(raw: RawClient, version: int) -> None:
    group, member = stable(raw)

    assert leave(raw, version, group, "who") == (ErrorCode.UNKNOWN_MEMBER_ID, [])
    assert leave(raw, version, group, member) == (0, [])
    assert leave(raw, version, group, member) == (ErrorCode.UNKNOWN_MEMBER_ID, [])
    assert beat(raw, 0, group, member) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", [3, 4, 5])
def test_many_members_leave_since_v3(raw: RawClient, version: int) -> None:
    """KIP-345: each has its own answer, static ones are named by their instance."""
    group, member = stable(raw)

    answer = leave(raw, version, group, "who", member, ("", "i1"))

    assert answer == (0, [ErrorCode.UNKNOWN_MEMBER_ID, 0, ErrorCode.UNKNOWN_MEMBER_ID])
    assert leave(raw, version, group) == (0, [])
    assert beat(raw, 0, group, member) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(6))
def test_leaving_an_empty_group_name(raw: RawClient, version: int) -> None:
    assert leave(raw, version, "", "who")[0] == ErrorCode.INVALID_GROUP_ID


def test_without_an_offsets_topic_clients_are_sent_to_look_for_a_coordinator() -> None:
    """Every request answers NOT_COORDINATOR in its own shape."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        codes = [
            join(raw, 9, "g").error_code,
            sync(raw, 5, "g", "m").error_code,
            beat(raw, 4, "g", "m"),
            leave(raw, 5, "g", "m")[0],
        ]

    assert codes == [ErrorCode.NOT_COORDINATOR] * 4


@pytest.mark.parametrize(("version", "name"), [(5, ""), (7, None), (9, None)])
def test_refused_join_has_no_protocol(version: int, name: str | None) -> None:
    """Null since v7, which can say so; also where the group was never asked."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        refused = join(raw, version, "g")

    assert (refused.error_code, refused.protocol_name) == (ErrorCode.NOT_COORDINATOR, name)


@pytest.mark.parametrize(
    "protocols",
    [{"range": bytes(1_100_000)}, {f"assignor-{number:06}": b"" for number in range(80_000)}],
    ids=["much metadata", "many protocols"],
)
def test_more_than_a_record_can_hold_is_refused_unread(
    raw: RawClient, monkeypatch: pytest.MonkeyPatch, protocols: dict[str, bytes]
) -> None:
    """Else the group could not be written down at the end of its rebalance, for nobody in it."""
    monkeypatch.setattr(GroupShard, "join", None)
    answer = join(raw, 9, fresh("group"), protocols=protocols)

    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
