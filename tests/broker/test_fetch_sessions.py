"""fetch_sessions: the rules of KIP-227."""

import itertools
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.broker.conftest import MakePartition
from tests.broker.support import append
from wirekafka.broker.fetch_sessions import FetchKey, FetchPlan, FetchSessions
from wirekafka.broker.fetching import FetchLimits, deadline_of, wait_for_more
from wirekafka.broker.timeouts import Timeouts
from wirekafka.protocol.apis.fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

MAX_EPOCH = 2**31 - 1
TOPIC_ID = b"\x07" * 16


class Sessions:
    """The sessions of a broker, and short ways to ask them."""

    def __init__(self, slots: int = 10) -> None:
        ids = itertools.count(100)
        self.cache = FetchSessions(slots, draw_id=lambda: next(ids))
        self.now_ms = 0

    def plan(
        self,
        *partitions: int,
        session: int = 0,
        epoch: int = 0,
        forget: tuple[int, ...] = (),
        by_id: bool = False,
        offset: int = 0,
        replica: int = -1,
    ) -> FetchPlan:
        name = {"topic_id": TOPIC_ID} if by_id else {"topic": "t"}
        asked = [FetchPartition(partition=p, fetch_offset=offset, partition_max_bytes=9) for p in partitions]
        request = FetchRequest(
            replica_id=replica,
            max_wait_ms=0,
            min_bytes=0,
            session_id=session,
            session_epoch=epoch,
            topics=[FetchTopic(partitions=asked, **name)] if asked else [],
            forgotten_topics_data=[ForgottenTopic(partitions=list(forget), **name)] if forget else [],
        )
        return self.cache.plan(request, by_topic_id=by_id, now_ms=self.now_ms)

    def open(self, *partitions: int, by_id: bool = False, replica: int = -1) -> int:
        """Ask for a session of these partitions, which hold nothing yet; give its id."""
        plan = self.plan(*partitions, by_id=by_id, replica=replica)
        told = [(key, data(key.partition)) for key in plan.partitions]
        return self.cache.open(plan, told, self.now_ms)


def data(partition: int, **more: Any) -> PartitionData:
    nothing: dict[str, Any] = {"high_watermark": 0, "log_start_offset": 0, "records": b"", "error_code": 0}
    return PartitionData(partition_index=partition, aborted_transactions=None, **{**nothing, **more})


def keys(plan: FetchPlan) -> list[int]:
    return [key.partition for key in plan.partitions]


def code_of(sessions: Sessions, **asked: int | bool) -> ErrorCode:
    with pytest.raises(KafkaError) as refusal:
        sessions.plan(**asked)  # type: ignore[arg-type]
    return refusal.value.code


def test_first_epoch_opens_a_session() -> None:
    sessions = Sessions()

    session = sessions.open(0, 1)

    assert (session, len(sessions.cache)) == (100, 1)


def test_final_epoch_opens_none() -> None:
    """Epoch -1 is a full fetch without a session."""
    sessions = Sessions()
    plan = sessions.plan(0, epoch=-1)

    assert sessions.cache.open(plan, [], 0) == 0
    assert (keys(plan), plan.is_incremental, len(sessions.cache)) == ([0], False, 0)


def test_session_without_partitions_is_opened_too() -> None:
    """As in Kafka: a consumer may add them later."""
    sessions = Sessions()
    session = sessions.open()

    assert session == 100
    assert keys(sessions.plan(3, session=session, epoch=1)) == [3]


@pytest.mark.parametrize("epoch", [0, -1])
def test_full_fetch_drops_the_session_it_names(epoch: int) -> None:
    sessions = Sessions()
    session = sessions.open(0)

    sessions.plan(0, session=session, epoch=epoch)

    assert len(sessions.cache) == 0
    assert code_of(sessions, session=session, epoch=1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_incremental_fetch_reads_what_the_session_holds() -> None:
    sessions = Sessions()
    session = sessions.open(0, 1)

    plan = sessions.plan(session=session, epoch=1)

    assert (keys(plan), plan.is_incremental) == ([0, 1], True)


def test_incremental_fetch_adds_changes_and_forgets() -> None:
    sessions = Sessions()
    session = sessions.open(0, 1)

    plan = sessions.plan(1, 2, session=session, epoch=1, forget=(0, 9), offset=5)

    assert keys(plan) == [1, 2]
    assert plan.partitions[FetchKey("t", 1)].wanted.fetch_offset == 5
    assert keys(sessions.plan(session=session, epoch=2)) == [1, 2]


def test_partition_added_and_forgotten_at_once_is_forgotten() -> None:
    sessions = Sessions()
    session = sessions.open(0)

    assert keys(sessions.plan(1, session=session, epoch=1, forget=(1,))) == [0]


def test_session_that_holds_nothing_any_more_ends() -> None:
    """The answer says so with session id 0."""
    sessions = Sessions()
    session = sessions.open(0)

    plan = sessions.plan(session=session, epoch=1, forget=(0,))

    assert (plan.session, keys(plan), len(sessions.cache)) == (None, [], 0)
    assert sessions.cache.open(plan, [], 0) == 0


@pytest.mark.parametrize("epoch", [2, 7, -2])
def test_unexpected_epoch_is_refused_and_changes_nothing(epoch: int) -> None:
    """A repeated or lost request shows by its epoch."""
    sessions = Sessions()
    session = sessions.open(0)

    assert code_of(sessions, session=session, epoch=epoch) == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    assert keys(sessions.plan(session=session, epoch=1)) == [0]
    assert code_of(sessions, session=session, epoch=1) == ErrorCode.INVALID_FETCH_SESSION_EPOCH


@pytest.mark.parametrize("session", [0, 5])
def test_unknown_session_is_refused(session: int) -> None:
    assert code_of(Sessions(), session=session, epoch=1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("by_id", [False, True])
def test_session_keeps_to_names_or_to_ids(by_id: bool) -> None:
    """KIP-516: a client that was upgraded, or met an older broker, opens another."""
    sessions = Sessions()
    session = sessions.open(0, by_id=by_id)

    refusal = code_of(sessions, session=session, epoch=1, by_id=not by_id)

    assert refusal == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_request_that_was_overtaken_is_told() -> None:
    """Two connections with one session: the answer to the first would tell what the second was told."""
    sessions = Sessions()
    opened = sessions.open(0)
    first = sessions.plan(session=opened, epoch=1)
    assert not first.is_overtaken

    second = sessions.plan(session=opened, epoch=2)

    assert (first.is_overtaken, second.is_overtaken) == (True, False)
    assert not sessions.plan(0).is_overtaken


def test_name_of_a_topic_is_kept_with_the_session() -> None:
    """What an id meant at first, for who asks when it means nothing, or the name another topic."""
    sessions = Sessions()
    opened = sessions.open(0, by_id=True)
    plan = sessions.plan(session=opened, epoch=1, by_id=True)
    plan.partitions[FetchKey(TOPIC_ID, 0)].topic_name = "t"

    again = sessions.plan(0, session=opened, epoch=2, by_id=True, offset=7)

    assert again.partitions[FetchKey(TOPIC_ID, 0)].topic_name == "t"
    assert again.partitions[FetchKey(TOPIC_ID, 0)].wanted.fetch_offset == 7
    assert sessions.plan(0, by_id=True).partitions[FetchKey(TOPIC_ID, 0)].topic_name is None


def test_epoch_wraps_to_one() -> None:
    """0 opens a session, so it is passed over."""
    sessions = Sessions()
    session = sessions.plan(session=sessions.open(0), epoch=1).session
    assert session is not None
    session.next_epoch = MAX_EPOCH

    sessions.plan(session=session.session_id, epoch=MAX_EPOCH)

    assert keys(sessions.plan(session=session.session_id, epoch=1)) == [0]


def test_full_cache_opens_no_session() -> None:
    """While the others are in use."""
    sessions = Sessions(slots=2)
    sessions.open(0)
    sessions.open(0)
    sessions.now_ms = 120_000

    assert sessions.open(0) == 0
    assert len(sessions.cache) == 2


def test_session_unused_for_more_than_two_minutes_makes_room() -> None:
    """The one that was used longest ago goes, whatever it is worth."""
    sessions = Sessions(slots=2)
    first, second = sessions.open(0), sessions.open(0, 1, 2)
    sessions.now_ms = 60_000
    sessions.plan(session=first, epoch=1)
    sessions.now_ms = 120_001

    third = sessions.open(0)

    assert third != 0
    assert code_of(sessions, session=second, epoch=1) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert keys(sessions.plan(session=first, epoch=2)) == [0]


FOLLOWER, CONSUMER = 5, -1


@pytest.mark.parametrize(
    ("held", "lasted_ms", "comes", "makes_room"),
    [
        # A consumer pushes out no session that is young, however small, ...
        ((CONSUMER, 1), 120_000, (CONSUMER, 3), False),
        # ... and of those that have lasted only one with fewer partitions, ...
        ((CONSUMER, 2), 120_001, (CONSUMER, 3), True),
        ((CONSUMER, 3), 120_001, (CONSUMER, 3), False),
        ((CONSUMER, 4), 120_001, (CONSUMER, 3), False),
        # ... never a follower's.
        ((FOLLOWER, 1), 120_001, (CONSUMER, 3), False),
        # A follower pushes out any consumer's, ...
        ((CONSUMER, 9), 0, (FOLLOWER, 1), True),
        # ... and another follower's by the same rules as consumers among themselves.
        ((FOLLOWER, 1), 120_000, (FOLLOWER, 3), False),
        ((FOLLOWER, 2), 120_001, (FOLLOWER, 3), True),
        ((FOLLOWER, 3), 120_001, (FOLLOWER, 3), False),
    ],
)
def test_who_makes_room_for_whom(
    held: tuple[int, int], lasted_ms: int, comes: tuple[int, int], makes_room: bool
) -> None:
    """FetchSessionCacheShard.tryEvict: by privilege, then by size, once a session is two minutes old."""
    sessions = Sessions(slots=1)
    old = sessions.open(*range(held[1]), replica=held[0])
    for epoch, now_ms in enumerate((lasted_ms // 2, lasted_ms), 1):
        sessions.now_ms = now_ms
        sessions.plan(session=old, epoch=epoch)

    new = sessions.open(*range(comes[1]), replica=comes[0])

    assert (new != 0) == makes_room
    assert len(sessions.cache) == 1
    if makes_room:
        assert code_of(sessions, session=old, epoch=3) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_age_is_looked_at_when_a_session_is_used() -> None:
    """As in Kafka: a session counts as having lasted from its first use after two minutes."""
    sessions = Sessions(slots=1)
    old = sessions.open(0)
    sessions.now_ms = 60_000
    sessions.plan(session=old, epoch=1)
    sessions.now_ms = 121_000

    assert sessions.open(0, 1) == 0
    sessions.plan(session=old, epoch=2)
    assert sessions.open(0, 1) != 0


def test_the_smallest_of_those_that_may_go_goes() -> None:
    """As it is now: partitions that were added count, and those that were forgotten do not."""
    sessions = Sessions(slots=2)
    shrunk, grown = sessions.open(0, 1, 2), sessions.open(0)
    for epoch, now_ms in enumerate((60_000, 120_001), 1):
        sessions.now_ms = now_ms
        sessions.plan(session=shrunk, epoch=epoch, forget=(0, 1))
        sessions.plan(1, 2, session=grown, epoch=epoch)
    sessions.open(0, 1)

    assert code_of(sessions, session=shrunk, epoch=3) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert keys(sessions.plan(session=grown, epoch=3)) == [0, 1, 2]


def test_follower_of_a_new_version_is_one_too() -> None:
    """Since v15 the id is in the replica state (KIP-903)."""
    sessions = Sessions(slots=1)
    sessions.open(0, 1)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, session_epoch=0, topics=[], replica_state=ReplicaState(replica_id=3)
    )
    plan = sessions.cache.plan(request, by_topic_id=True, now_ms=0)

    assert plan.privileged
    assert sessions.cache.open(plan, [], 0) != 0


def test_without_slots_there_are_no_sessions() -> None:
    """`max.incremental.fetch.session.cache.slots=0` turns them off."""
    assert Sessions(slots=0).open(0) == 0


def test_id_that_is_taken_is_drawn_again() -> None:
    ids = iter([7, 7, 0, 8])
    sessions = Sessions()
    sessions.cache = FetchSessions(10, draw_id=lambda: next(ids))

    assert (sessions.open(0), sessions.open(0)) == (7, 8)


NEWS = [
    {"records": b"x"},
    {"high_watermark": 1},
    {"log_start_offset": 1},
    {"error_code": 3},
    {"diverging_epoch": EpochEndOffset(epoch=0, end_offset=0)},
]


@pytest.mark.parametrize("news", NEWS, ids=lambda news: next(iter(news)))
def test_incremental_answer_tells_what_is_new(news: dict[str, object]) -> None:
    sessions = Sessions()
    plan = sessions.plan(session=sessions.open(0), epoch=1)
    assert plan.session is not None
    key = FetchKey("t", 0)

    assert not plan.session.must_tell(key, data(0))
    assert plan.session.must_tell(key, data(0, **news))


@pytest.mark.parametrize("changes", [{"high_watermark": 1}, {"log_start_offset": 1}], ids=["high", "start"])
def test_what_was_told_is_not_told_again(changes: dict[str, object]) -> None:
    sessions = Sessions()
    plan = sessions.plan(session=sessions.open(0), epoch=1)
    assert plan.session is not None

    plan.session.must_tell(FetchKey("t", 0), data(0, **changes))

    assert not plan.session.must_tell(FetchKey("t", 0), data(0, **changes))


def test_last_stable_offset_alone_is_no_news() -> None:
    """As in Kafka: it moves with the watermark, or with records."""
    sessions = Sessions()
    plan = sessions.plan(session=sessions.open(0), epoch=1)
    assert plan.session is not None

    assert not plan.session.must_tell(FetchKey("t", 0), data(0, last_stable_offset=5))


def test_end_of_an_error_is_told() -> None:
    """The error is told each time, and after it the same watermark once more."""
    sessions = Sessions()
    session = sessions.plan(session=sessions.open(0), epoch=1).session
    assert session is not None
    key, failed = FetchKey("t", 0), data(0, error_code=3)

    told = [session.must_tell(key, one) for one in (failed, failed, data(0), data(0))]

    assert told == [True, True, True, False]


def test_forgotten_partition_is_not_told_of() -> None:
    """A request may forget it while an earlier one waits."""
    sessions = Sessions()
    opened = sessions.open(0, 1)
    session = sessions.plan(session=opened, epoch=1).session
    assert session is not None

    sessions.plan(session=opened, epoch=2, forget=(0,))

    assert not session.must_tell(FetchKey("t", 0), data(0, records=b"x"))


def test_served_partition_goes_to_the_end() -> None:
    """So that none starves behind one that always has records."""
    sessions = Sessions()
    opened = sessions.open(0, 1, 2)
    session = sessions.plan(session=opened, epoch=1).session
    assert session is not None

    session.must_tell(FetchKey("t", 0), data(0, records=b"x"))

    assert keys(sessions.plan(session=opened, epoch=2)) == [1, 2, 0]


# --- partitions at rest


class Idle:
    """A session of three partitions which are there, empty, and told of."""

    def __init__(self, make_partition: MakePartition, slots: int = 10) -> None:
        self.partitions = [make_partition(index=index) for index in range(3)]
        self.sessions = Sessions(slots)
        self.id = self.sessions.open(0, 1, 2)
        self.epoch = 0
        self.plan = self.next()

    def next(self, *asked: int, **more: Any) -> FetchPlan:
        """Plan the next incremental fetch, and find its partitions."""
        self.epoch += 1
        plan = self.sessions.plan(*asked, session=self.id, epoch=self.epoch, **more)
        for key, fetched in plan.partitions.items():
            fetched.found = self.partitions[key.partition]
        return plan

    def answer(self, **high_watermarks: int) -> list[int]:
        """Answer the last plan; give what was told."""
        assert self.plan.session is not None
        return [
            key.partition
            for key in list(self.plan.partitions)
            if self.plan.session.must_tell(
                key, data(key.partition, high_watermark=high_watermarks.get(f"p{key.partition}", 0))
            )
        ]

    def rest(self) -> None:
        """Answer with nothing."""
        assert self.answer() == []

    def watched(self) -> list[int]:
        """The partitions that somebody waits at."""
        return [index for index, partition in enumerate(self.partitions) if partition._waiting]


def test_partition_with_nothing_to_tell_is_not_looked_at_again(make_partition: MakePartition) -> None:
    idle = Idle(make_partition)

    before = keys(idle.plan)
    idle.rest()

    assert (before, keys(idle.next())) == ([0, 1, 2], [])
    assert idle.watched() == [0, 1, 2]


def test_what_is_told_is_looked_at_once_more(make_partition: MakePartition) -> None:
    """A consumer may lack the answer's records; a watermark has been told when it is asked for again."""
    idle = Idle(make_partition)

    told = idle.answer(p1=1)

    assert (told, keys(idle.next())) == ([1], [1])


def test_partition_is_looked_at_when_it_rings_or_is_asked_for(make_partition: MakePartition) -> None:
    """In the order in which they are served, whatever rang first."""
    idle = Idle(make_partition)
    idle.rest()

    append(idle.partitions[2])
    idle.partitions[0].ring()
    rung = keys(idle.next())
    idle.plan = idle.next(1)

    assert (rung, keys(idle.plan)) == ([0, 2], [0, 1, 2])


def test_partition_that_begins_later_is_looked_at(make_partition: MakePartition) -> None:
    idle = Idle(make_partition)
    append(idle.partitions[1], 2)
    idle.plan = idle.next(1, offset=2)
    idle.answer(p1=2)
    idle.plan = idle.next()
    idle.answer(p1=2)
    quiet = keys(idle.next())

    idle.partitions[1].move_start(1)

    assert (quiet, keys(idle.next())) == ([], [1])


def test_partition_that_had_no_room_in_the_answer_is_no_idle_one(make_partition: MakePartition) -> None:
    """There are records behind the offset; nothing rings for them."""
    idle = Idle(make_partition)
    idle.answer(p0=3)
    idle.plan = idle.next()

    told = idle.answer(p0=3)

    assert (told, keys(idle.next())) == ([], [0])


def test_error_is_looked_at_every_time(make_partition: MakePartition) -> None:
    idle = Idle(make_partition)
    assert idle.plan.session is not None
    for fetched in idle.plan.partitions.values():
        fetched.found = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        assert idle.plan.session.must_tell(fetched.key, data(fetched.key.partition, error_code=3))

    assert keys(idle.next()) == [0, 1, 2]


def test_forgotten_partition_is_let_go(make_partition: MakePartition) -> None:
    idle = Idle(make_partition)
    idle.rest()

    idle.next(forget=(1,))

    assert idle.watched() == [0, 2]


@pytest.mark.parametrize("how", ["closed", "opened anew", "evicted"])
def test_session_that_ends_lets_its_partitions_go(make_partition: MakePartition, how: str) -> None:
    idle = Idle(make_partition, slots=1)
    idle.rest()

    if how == "evicted":
        idle.sessions.now_ms = 120_001
        idle.sessions.open(5)
    else:
        idle.sessions.plan(session=idle.id, epoch=-1 if how == "closed" else 0)

    assert idle.watched() == []
    assert code_of(idle.sessions, session=idle.id, epoch=2) == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_who_waits_is_woken_by_the_next_request_of_its_session(make_partition: MakePartition) -> None:
    """It has been overtaken, and is answered with that."""
    idle = Idle(make_partition)
    woken: list[bool] = []
    idle.plan.reading.wake = lambda: woken.append(idle.plan.is_overtaken)

    idle.next()

    assert woken == [True]


def test_session_that_ends_while_a_request_waits_keeps_its_bells(make_partition: MakePartition) -> None:
    idle = Idle(make_partition)
    idle.rest()
    woken: list[int] = []
    idle.plan.reading.wake = lambda: woken.append(1)

    idle.sessions.plan(session=idle.id, epoch=-1)
    idle.partitions[1].ring()

    assert (woken, idle.watched()) == ([1], [0, 2])


# --- two requests of one session, and what happens before the first waits


LIMITS = FetchLimits(min_bytes=1, max_bytes=1 << 20, max_wait_ms=60_000, committed_only=False)


class Waiting:
    """A request that waits for a byte, until a deadline far away; `woken` says when it was, in seconds."""

    def __init__(self, plan: FetchPlan) -> None:
        self._plan = plan
        self._sizes = dict.fromkeys(plan.partitions, 0)
        self.woken: float | None = None
        plan.watch()

    async def wait(self) -> None:
        assert await wait_for_more(self._plan, LIMITS, self._sizes, Timeouts(), deadline_of(LIMITS))
        self.woken = trio.current_time()


async def test_who_is_overtaken_before_it_waits_leaves_the_other_its_bell(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """Its earlier answers, to a peer that reads slowly, are sent before it waits."""
    idle = Idle(make_partition)
    late = Waiting(idle.plan)
    other = Waiting(idle.next())
    nursery.start_soon(other.wait)
    await wait_all_tasks_blocked()

    await late.wait()
    append(idle.partitions[1])
    await wait_all_tasks_blocked()

    assert (late.woken, other.woken) == (0, 0)


async def test_who_is_overtaken_while_it_waits_takes_no_ring_of_the_other(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """The records come after the other has been planned, and before the first is gone."""
    idle = Idle(make_partition)
    first = Waiting(idle.plan)
    nursery.start_soon(first.wait)
    await wait_all_tasks_blocked()

    other = Waiting(idle.next())
    append(idle.partitions[1])
    await wait_all_tasks_blocked()
    await other.wait()

    assert (first.woken, other.woken) == (0, 0)


async def test_session_that_ends_before_its_request_waits_lets_it_hear_of_records(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """It is answered as any other, and leaves nobody at the partitions."""
    idle = Idle(make_partition)
    late = Waiting(idle.plan)
    idle.sessions.plan(session=idle.id, epoch=-1)

    nursery.start_soon(late.wait)
    await wait_all_tasks_blocked()
    append(idle.partitions[1])
    await wait_all_tasks_blocked()

    assert (late.woken, idle.watched()) == (0, [])


async def test_partition_at_rest_that_rings_before_the_request_watches_is_heard(
    make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """An index may be read in a thread between the plan and the first look."""
    idle = Idle(make_partition)
    idle.rest()
    plan = idle.next(0)
    append(idle.partitions[1])

    waiting = Waiting(plan)
    await waiting.wait()

    assert (keys(plan), waiting.woken) == ([0], 0)
    plan.look_again()
    assert keys(plan) == [0, 1]
