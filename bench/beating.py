"""1,000 groups of 3 members that do nothing but send heartbeats, each over a connection of its own.

Members join by plain requests, so that what is measured is the broker and not 3,000 clients; they name
themselves as librdkafka does.
"""

import resource
import selectors
import socket
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeVar

from frames import ask, create_topic, frame, receive_frame

from wirekafka.protocol.api import Api
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    CONSUMER_GROUP_HEARTBEAT,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.apis.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest
from wirekafka.protocol.apis.join_group import (
    JOIN_GROUP,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from wirekafka.protocol.apis.leave_group import LEAVE_GROUP, LeaveGroupRequest, MemberIdentity
from wirekafka.protocol.apis.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.message import Message

CLASSIC, CONSUMER = "classic", "consumer"
GROUPS, MEMBERS = 1000, 3
_TOPIC, _PARTITIONS = "beats", 6
_FIND, _JOIN, _SYNC, _HEARTBEAT, _LEAVE, _CONSUMER, _VERSIONS = 4, 7, 4, 4, 4, 1, 3
_SESSION_MS, _REBALANCE_MS = 120_000, 300_000
_CLASSIC_INTERVAL_MS = 3000
_LEAVING_EPOCH = -1
_TICK_SECONDS = 0.01
_MOST_PASSES = 20
_MOST_SECONDS = 15.0
"""For an answer: far above what any is held back."""
_BEHIND_HEADER = 5
"""Where the body of an answer begins, behind correlation id and tags."""
_ERROR_CODE = slice(9, 11)
_ANSWER_BYTES = 64 * 1024

Q = TypeVar("Q", bound=Message)
M = TypeVar("M", bound=Message)


@dataclass(slots=True)
class Beating:
    """One member: what it sends, and for the consumer protocol what it knows."""

    group_id: str
    member_id: str
    sock: socket.socket
    epoch: int = 0
    owned: list[HeartbeatTopicPartitions] = field(default_factory=list)
    request: bytes = b""
    asked_at: float | None = None
    """When the heartbeat that is not answered yet was sent; None where none waits."""


class Beats(NamedTuple):
    """What was answered, and the time from the first heartbeat to the last answer."""

    answers: int
    seconds: float


class BeatingGroups:
    """All the groups; on entering they join and settle, on leaving they leave."""

    def __init__(self, bootstrap: str, protocol: str) -> None:
        host, port = bootstrap.split(":")
        self._address = host, int(port)
        self._sockets = [_connected(self._address) for _ in range(MEMBERS)]
        self._protocol = protocol
        self._members: list[Beating] = []
        self._ready = selectors.DefaultSelector()
        self._space = bytearray(_ANSWER_BYTES)
        self.interval_ms = _CLASSIC_INTERVAL_MS

    def __enter__(self) -> Self:
        _find_coordinator(self._sockets[0])
        names = [f"beats-{uuid.uuid4()}" for _ in range(GROUPS)]
        if self._protocol == CLASSIC:
            for name in names:
                self._members += _joined_classic(name, self._sockets)
        else:
            create_topic(self._sockets[0], _TOPIC, partitions=_PARTITIONS)
            for name in names:
                for sock in self._sockets:
                    member = Beating(name, str(uuid.uuid4()), sock)
                    self._members.append(member)
                    self._beat_consumer(member, joins=True)
            self._settle()
        self._connect_each()
        return self

    def _connect_each(self) -> None:
        """Give every member a connection of its own, on which it says who it is."""
        _allow_connections(len(self._members))
        naming = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.16.0")
        for member in self._members:
            member.sock = _connected(self._address)
            member.sock.sendall(frame(API_VERSIONS.key, _VERSIONS, naming))
            receive_frame(member.sock, self._space)
            self._ready.register(member.sock, selectors.EVENT_READ, member)

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:  # else the broker may answer nobody
            self._leave()
        self._ready.close()
        for sock in (*self._sockets, *(member.sock for member in self._members)):
            sock.close()

    def _leave(self) -> None:
        if self._protocol == CLASSIC:
            for trio in _by_group(self._members):
                gone = [MemberIdentity(member_id=member.member_id) for member in trio]
                request = LeaveGroupRequest(group_id=trio[0].group_id, members=gone)
                _asked(trio[0].sock, LEAVE_GROUP, _LEAVE, request)
        else:
            for member in self._members:
                member.epoch = _LEAVING_EPOCH
                self._beat_consumer(member)

    def beat(self, seconds: float) -> Beats:
        """Let every member beat at its interval for so long, evenly spread, and wait for the last answers.

        RuntimeError when an answer does not come.
        """
        begun, turns, answered = time.perf_counter(), 0, 0
        gap_seconds = self.interval_ms / 1000 / len(self._members)
        while (now := time.perf_counter()) - begun < seconds:
            due = int((now - begun) / gap_seconds)
            for number in range(turns, due):
                _send_beat(self._members[number % len(self._members)], now)
            turns = due
            answered += self._take_answers(now + _TICK_SECONDS)
        while waiting := [member for member in self._members if member.asked_at is not None]:
            for member in waiting:
                _see_that_it_comes(member, time.perf_counter())
            answered += self._take_answers(time.perf_counter() + _TICK_SECONDS)
        return Beats(answered, time.perf_counter() - begun)

    def _take_answers(self, until: float) -> int:
        """Take what is answered by then; every answer must be without an error."""
        count = 0
        while (left := until - time.perf_counter()) > 0:
            for key, _ in self._ready.select(left):
                answer = receive_frame(key.data.sock, self._space)
                code = int.from_bytes(answer[_ERROR_CODE], "big", signed=True)
                assert code == ErrorCode.NONE, f"a heartbeat was answered with {code}"
                key.data.asked_at = None
                count += 1
        return count

    def _settle(self) -> None:
        """Beat until nobody's epoch or assignment changes any more."""
        for _ in range(_MOST_PASSES):
            time.sleep(0.3)
            changed = [member for member in self._members if self._beat_consumer(member)]
            if not changed:
                return
        raise RuntimeError(f"{len(changed)} members still change")

    def _beat_consumer(self, member: Beating, *, joins: bool = False) -> bool:
        """Send one heartbeat with all a member has to say; whether its answer told of a change."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=member.group_id, member_id=member.member_id, member_epoch=member.epoch
        )
        member.request = frame(CONSUMER_GROUP_HEARTBEAT.key, _CONSUMER, request)
        if member.epoch != _LEAVING_EPOCH:
            request.topic_partitions = member.owned
            request.rebalance_timeout_ms = _REBALANCE_MS
            request.subscribed_topic_names = [_TOPIC]
        answer: ConsumerGroupHeartbeatResponse = _asked(
            member.sock, CONSUMER_GROUP_HEARTBEAT, _CONSUMER, request
        )
        self.interval_ms = answer.heartbeat_interval_ms or self.interval_ms
        before = member.epoch, member.owned
        member.epoch = answer.member_epoch
        if answer.assignment is not None:
            member.owned = answer.assignment.topic_partitions
        return joins or before != (member.epoch, member.owned)


def _connected(address: tuple[str, int]) -> socket.socket:
    """A connection on which nothing is waited for for ever."""
    sock = socket.create_connection(address, timeout=_MOST_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _send_beat(member: Beating, now: float) -> None:
    """Send a member's heartbeat, if none of it waits: a client has one in flight."""
    if member.asked_at is None:
        member.sock.sendall(member.request)
        member.asked_at = now
    _see_that_it_comes(member, now)


def _see_that_it_comes(member: Beating, now: float) -> None:
    if member.asked_at is not None and now - member.asked_at > _MOST_SECONDS:
        raise RuntimeError(
            f"a heartbeat of {member.group_id}, {member.member_id}, had no answer in {_MOST_SECONDS:.0f} s"
        )


def _allow_connections(count: int) -> None:
    """Let this process hold so many, and some files beside them."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 200, most), most))


def _find_coordinator(sock: socket.socket) -> None:
    """Ask for the coordinator, which makes the topic of offsets, until its partitions are open."""
    for _ in range(_MOST_PASSES):
        finding = FindCoordinatorRequest(key_type=0, coordinator_keys=["beats"])
        ask(sock, frame(FIND_COORDINATOR.key, _FIND, finding), FIND_COORDINATOR.response, _FIND)
        joining = frame(JOIN_GROUP.key, _JOIN, _join("beats", ""))
        if ask(sock, joining, JoinGroupResponse, _JOIN).error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return
        time.sleep(0.5)
    raise RuntimeError("no coordinator was found")


def _joined_classic(group_id: str, sockets: list[socket.socket]) -> list[Beating]:
    """Three members of one stable group; the first is there before, so that it leads."""
    first, *others = sockets
    leader = _member_id(group_id, first)
    _asked(first, JOIN_GROUP, _JOIN, _join(group_id, leader))
    ids = [leader, *(_member_id(group_id, sock) for sock in others)]
    for sock, member_id in zip(others, ids[1:], strict=True):
        sock.sendall(frame(JOIN_GROUP.key, _JOIN, _join(group_id, member_id)))
    beat = frame(HEARTBEAT.key, _HEARTBEAT, _beat(group_id, 1, leader))
    deadline = time.perf_counter() + _MOST_SECONDS
    while ask(first, beat, HEARTBEAT.response, _HEARTBEAT).error_code != ErrorCode.REBALANCE_IN_PROGRESS:
        if time.perf_counter() > deadline:
            raise RuntimeError(f"{group_id} did not begin a rebalance in {_MOST_SECONDS:.0f} s")
    first.sendall(frame(JOIN_GROUP.key, _JOIN, _join(group_id, leader)))
    joined = [_answer(sock, JoinGroupResponse, _JOIN) for sock in sockets]
    generation_id = joined[0].generation_id
    assert all(answer.error_code == 0 and answer.leader == leader for answer in joined), joined
    assigned = [SyncGroupRequestAssignment(member_id=each, assignment=b"x") for each in ids]
    members = []
    for sock, member_id in zip(sockets, ids, strict=True):
        sync = SyncGroupRequest(
            group_id=group_id,
            generation_id=generation_id,
            member_id=member_id,
            assignments=assigned if member_id == leader else [],
        )
        _asked(sock, SYNC_GROUP, _SYNC, sync)
        request = frame(HEARTBEAT.key, _HEARTBEAT, _beat(group_id, generation_id, member_id))
        members.append(Beating(group_id, member_id, sock, request=request))
    return members


def _beat(group_id: str, generation_id: int, member_id: str) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group_id, generation_id=generation_id, member_id=member_id)


def _member_id(group_id: str, sock: socket.socket) -> str:
    answer = ask(sock, frame(JOIN_GROUP.key, _JOIN, _join(group_id, "")), JoinGroupResponse, _JOIN)
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, answer
    return answer.member_id


def _join(group_id: str, member_id: str) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=_SESSION_MS,
        rebalance_timeout_ms=_REBALANCE_MS,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\1\0\0\0\0\0\0\0\0")],
    )


def _asked(sock: socket.socket, api: Api[Q, M], version: int, request: Q) -> M:
    """Ask, and give the answer, which must be without an error."""
    answer = ask(sock, frame(api.key, version, request), api.response, version)
    assert getattr(answer, "error_code", 0) == ErrorCode.NONE, answer
    return answer


def _answer(sock: socket.socket, response: type[M], version: int) -> M:
    answer = receive_frame(sock, bytearray(_ANSWER_BYTES))
    return codec_for(response, version).parse(bytes(answer[_BEHIND_HEADER:]))


def _by_group(members: Iterable[Beating]) -> Iterator[list[Beating]]:
    by_group: dict[str, list[Beating]] = {}
    for member in members:
        by_group.setdefault(member.group_id, []).append(member)
    yield from by_group.values()
