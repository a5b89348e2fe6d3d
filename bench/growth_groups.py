"""How does cost grow from 1 to 1,000 groups?

    python bench/growth_groups.py [--rounds N] [--quick]

In every round and for each size a new broker: so many groups of the classic protocol with one member each
join, all over one connection, and commit an offset for each of ten partitions. Measured are the processor
time of the event loop for a group's join and sync, for a heartbeat, a commit and an OffsetFetch, each of one
group after the other; the memory resident with all of them; and after a clean stop the time from exec until
an OffsetFetch is answered, and the processor time of all threads until then: the coordinator has to read what
the groups have left.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from socket import socket

from frames import ask as ask_frame
from frames import check_answered, create_topic, frame
from growing import FLAT, LINEAR, Curve, Growth, Plotted, connection, cost_us, pinned, request_cost_us
from instrument.answers import Answer
from instrument.question import Options, Question, alternating, progress, run
from rivals import start

from wirekafka.protocol.apis.find_coordinator import FIND_COORDINATOR, FindCoordinatorRequest
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest
from wirekafka.protocol.apis.join_group import (
    JOIN_GROUP,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from wirekafka.protocol.apis.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from wirekafka.protocol.apis.offset_fetch import (
    OFFSET_FETCH,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from wirekafka.protocol.apis.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from wirekafka.protocol.error_codes import ErrorCode

_SIZES, _QUICK_SIZES = (1, 10, 100, 1_000), (1, 10)
_FIND, _JOIN, _SYNC, _HEARTBEAT, _COMMIT, _OFFSETS = 4, 7, 4, 4, 8, 8
_TOPIC, _PARTITIONS = "growth", 10
_SESSION_MS, _REBALANCE_MS = 1_000_000, 1_000_000
_REQUESTS = 1_000
_MOST_TRIES = 40
_GENERATION = 1
_SETTINGS = {"group.initial.rebalance.delay.ms": 0}

JOIN = Curve("a group's join and sync", "us of processor", FLAT)
HEARTBEATS = Curve("heartbeat", "us of processor", FLAT)
COMMIT = Curve("commit of 10 partitions", "us of processor", FLAT)
FETCHED = Curve("OffsetFetch of 10 partitions", "us of processor", FLAT)
MEMORY = Curve("resident with all groups", "MiB", LINEAR)
START = Curve("exec until the offsets are told", "s", LINEAR)
START_CPU = Curve("processor time until then", "s", LINEAR)


def ask(options: Options) -> Answer:
    """Make every number of groups in every round, and start again."""
    sizes = _QUICK_SIZES if options.quick else _SIZES
    growth = Growth("groups")
    for number, size in alternating(options.rounds, *sizes):
        folder = options.folder / f"{size}-{number}"
        names = [f"group-{each}" for each in range(size)]
        _work(growth, folder, names)
        _restart(growth, folder, names)
        progress(f"round {number + 1}, {size:,} groups: {growth.told([HEARTBEATS, COMMIT, START], size)}")
    requests = Plotted("requests", "A request as groups grow", [JOIN, HEARTBEATS, COMMIT, FETCHED])
    starts = Plotted("start", "A start as groups grow", [START, START_CPU])
    memory = Plotted("memory", "Memory as groups grow", [MEMORY])
    return growth.answer("Cost as groups grow", [requests, starts, memory])


def _work(growth: Growth, folder: Path, names: Sequence[str]) -> None:
    size = len(names)
    with start("wirekafka", folder, _SETTINGS) as broker, connection(broker) as sock:
        pinned(broker)
        create_topic(sock, _TOPIC, partitions=_PARTITIONS)
        _find_coordinator(sock)
        members = [_joined(sock, "first")]

        def join() -> int:
            members[:] = [_joined(sock, name) for name in names]
            return size

        growth.add(JOIN, size, cost_us(broker, join))
        pairs = list(zip(names, members, strict=True))
        beats = [_heartbeat(*pair) for pair in pairs]
        commits = [_commit(*pair) for pair in pairs]
        fetches = [_offset_fetch(name) for name in names]
        for curve, requests in ((HEARTBEATS, beats), (COMMIT, commits), (FETCHED, fetches)):
            for request in requests:  # the first time a group has no offsets
                check_answered(sock, request)
            growth.add(curve, size, request_cost_us(broker, sock, requests * (_REQUESTS // size)))
        growth.add(MEMORY, size, broker.resident_mib())


def _restart(growth: Growth, folder: Path, names: Sequence[str]) -> None:
    size = len(names)
    with start("wirekafka", folder, _SETTINGS) as broker, connection(broker) as sock:
        check_answered(sock, _offset_fetch(names[-1]))
        growth.add(START, size, time.perf_counter() - broker.exec_at)
        growth.add(START_CPU, size, broker.cpu_seconds())


def _find_coordinator(sock: socket) -> None:
    """Ask for the coordinator, which makes the topic of offsets, until its partitions are open."""
    for _ in range(_MOST_TRIES):
        finding = FindCoordinatorRequest(key_type=0, coordinator_keys=["first"])
        ask_frame(sock, frame(FIND_COORDINATOR.key, _FIND, finding), FIND_COORDINATOR.response, _FIND)
        if _join(sock, "first", "").error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return
        time.sleep(0.25)
    raise RuntimeError("no coordinator was found")


def _joined(sock: socket, group_id: str) -> str:
    """Have a group with one member; give the member's id."""
    member_id = _join(sock, group_id, "").member_id
    answer = _join(sock, group_id, member_id)
    assert (answer.error_code, answer.generation_id) == (0, _GENERATION), answer
    sync = SyncGroupRequest(
        group_id=group_id,
        generation_id=_GENERATION,
        member_id=member_id,
        assignments=[SyncGroupRequestAssignment(member_id=member_id, assignment=b"x")],
    )
    response = ask_frame(sock, frame(SYNC_GROUP.key, _SYNC, sync), SYNC_GROUP.response, _SYNC)
    assert response.error_code == 0, response
    return member_id


def _join(sock: socket, group_id: str, member_id: str) -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=_SESSION_MS,
        rebalance_timeout_ms=_REBALANCE_MS,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\0\1\0\0\0\0\0\0\0\0")],
    )
    return ask_frame(sock, frame(JOIN_GROUP.key, _JOIN, request), JoinGroupResponse, _JOIN)


def _heartbeat(group_id: str, member_id: str) -> bytes:
    request = HeartbeatRequest(group_id=group_id, generation_id=_GENERATION, member_id=member_id)
    return frame(HEARTBEAT.key, _HEARTBEAT, request)


def _commit(group_id: str, member_id: str) -> bytes:
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1, committed_metadata="")
        for index in range(_PARTITIONS)
    ]
    request = OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=_GENERATION,
        member_id=member_id,
        topics=[OffsetCommitRequestTopic(name=_TOPIC, partitions=partitions)],
    )
    return frame(OFFSET_COMMIT.key, _COMMIT, request)


def _offset_fetch(group_id: str) -> bytes:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)])
    return frame(OFFSET_FETCH.key, _OFFSETS, request)


QUESTION = Question("growth_groups", "How does cost grow with groups?", ask, minutes=0.8)

if __name__ == "__main__":
    run(QUESTION)
