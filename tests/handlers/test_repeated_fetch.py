"""repeated_fetch: fetches found by their bytes, held against `fetch`, which parses each."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.handlers.one_topic import NOW_MS, PARTITIONS, TOPIC_ID, Topic, a_topic
from tests.handlers.support import batch
from tests.support.raw_client import parse_response, request_frame
from wirekafka.broker import Partition
from wirekafka.protocol.apis.fetch import (
    FETCH,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

MUCH = 1 << 20
SESSION = 1
"""The first id that a session gets here."""
every_form = pytest.mark.parametrize("version", range(12, FETCH.versions.newest + 1))


def frame(
    offset: int = 0,
    correlation_id: int = 0,
    *,
    version: int = 17,
    indexes: tuple[int, ...] = (0,),
    topic: str = "t",
    topic_id: bytes = TOPIC_ID,
    client_id: str | None = "raw",
    partition: dict[str, Any] | None = None,
    **facts: Any,
) -> bytes:
    """Of no session, if `facts` do not name one; nothing is waited for."""
    partitions = [
        FetchPartition(
            **{"partition": index, "fetch_offset": offset, "partition_max_bytes": MUCH, **(partition or {})}
        )
        for index in indexes
    ]
    topics = [FetchTopic(topic=topic, topic_id=topic_id, partitions=partitions)] if indexes else []
    request = FetchRequest(**{"max_wait_ms": 0, "min_bytes": 1, "topics": topics, **facts})
    return request_frame(request, version, correlation_id=correlation_id, client_id=client_id)


def fill(topic: Topic, *counts: int, index: int = 0) -> None:
    for count in counts:
        topic.partitions[index].append(
            memoryview(bytearray(batch(count, timestamp_ms=NOW_MS))), now_ms=NOW_MS
        )


def parsed(answer: bytes, version: int = 17) -> Any:
    return parse_response(FETCH, version, answer[4:])[1]


async def agreed(fast: Topic, slow: Topic, data: bytes) -> list[bytes]:
    """What both ways answer, which is the same."""
    answers = await fast.answers_to(data)
    assert answers == await slow.answers_to(data, repeats=False)
    return answers


@every_form
@pytest.mark.parametrize("isolation_level", [0, 1])
async def test_a_reader_that_goes_on_is_not_parsed_from_its_third_request_on(
    version: int, isolation_level: int
) -> None:
    """Whatever its correlation ids and offsets are."""
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 3, 1, 2)
        for number, offset in enumerate((0, 3, 4, 0, 5)):
            data = frame(offset, 70_000 * number, version=version, isolation_level=isolation_level)

            [answer] = await agreed(fast, slow, data)

            assert fast.taken == max(0, number - 1)
            assert parsed(answer, version).responses[0].partitions[0].records


@every_form
async def test_a_session_goes_on_whichever_way_its_requests_are_answered(version: int) -> None:
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1, 1, 1, 1, 1, 1)
        await agreed(fast, slow, frame(version=version, session_epoch=0))
        for epoch in (1, 2, 3, 4):
            await agreed(fast, slow, frame(epoch, version=version, session_id=SESSION, session_epoch=epoch))
        assert fast.taken == 2
        again = frame(4, version=version, session_id=SESSION, session_epoch=4)
        [answer] = await agreed(fast, slow, again)
        assert parsed(answer, version).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH

        # What was asked for last is what it goes on with when nothing is asked for.
        [idle] = await agreed(
            fast, slow, frame(indexes=(), version=version, session_id=SESSION, session_epoch=5)
        )
        assert parsed(idle, version).responses


async def test_what_a_session_was_told_it_is_not_told_again() -> None:
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1, 1, 1, 1)
        await agreed(fast, slow, frame(session_epoch=0))
        for epoch in (1, 2):
            await agreed(fast, slow, frame(epoch, session_id=SESSION, session_epoch=epoch))
        for topic in (fast, slow):
            fill(topic, 1)
        [all_there_is] = await agreed(fast, slow, frame(3, session_id=SESSION, session_epoch=3))
        assert fast.taken == 1

        [nothing] = await agreed(fast, slow, frame(5, session_id=SESSION, session_epoch=4))

        assert parsed(all_there_is).responses[0].partitions[0].high_watermark == 5
        assert not parsed(nothing).responses


async def test_a_session_whose_other_partition_has_news_tells_of_it() -> None:
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1, 1, 1, 1, 1, 1)
        await agreed(fast, slow, frame(indexes=(0, 1), session_epoch=0))
        for epoch in (1, 2, 3, 4):
            await agreed(fast, slow, frame(epoch, session_id=SESSION, session_epoch=epoch))
        for topic in (fast, slow):
            fill(topic, 2, index=1)

        [answer] = await agreed(fast, slow, frame(5, session_id=SESSION, session_epoch=5))

        assert {partition.partition_index for partition in parsed(answer).responses[0].partitions} == {0, 1}


async def test_a_session_that_has_ended_is_not_gone_on_with() -> None:
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1, 1, 1, 1, 1)
        await agreed(fast, slow, frame(session_epoch=0))
        for epoch in (1, 2, 3):
            await agreed(fast, slow, frame(epoch, session_id=SESSION, session_epoch=epoch))
        await agreed(fast, slow, frame(session_id=SESSION, session_epoch=-1))

        [answer] = await agreed(fast, slow, frame(4, session_id=SESSION, session_epoch=4))

        assert parsed(answer).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


WAIT_MS = 1000


async def both_while(
    fast: Topic, slow: Topic, data: bytes, act: Callable[[Topic], object] | None = None
) -> tuple[list[bytes], float]:
    """What both ways answer, which is the same, and after how many seconds.

    Something is done to both after a tenth of the time that is waited.
    """
    begun = trio.current_time()
    answers: dict[bool, list[bytes]] = {}
    ends: set[float] = set()

    async def answer(topic: Topic, repeats: bool) -> None:
        answers[repeats] = await topic.answers_to(data, repeats=repeats)
        ends.add(trio.current_time() - begun)

    async with trio.open_nursery() as running:
        for topic in (fast, slow):
            running.start_soon(topic.timeouts.run)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer, fast, True)
            nursery.start_soon(answer, slow, False)
            if act is not None:
                await trio.sleep(WAIT_MS / 10_000)
                act(fast)
                act(slow)
        running.cancel_scope.cancel()
    assert answers[True] == answers[False]
    [seconds] = ends
    return answers[True], seconds


async def known(fast: Topic, slow: Topic, version: int, session: bool, min_bytes: int = 1) -> bytes:
    """Have both know the reader of the log's end, and give its next request, which has to wait."""
    facts: dict[str, Any] = {"version": version, "max_wait_ms": WAIT_MS, "min_bytes": min_bytes}
    for topic in (fast, slow):
        fill(topic, 1, 1, 1)
    if session:
        await both_while(fast, slow, frame(session_epoch=0, **facts))
    for epoch in (1, 2):
        more: dict[str, Any] = {"session_id": SESSION, "session_epoch": epoch} if session else {}
        await both_while(fast, slow, frame(epoch, **facts, **more))
    more = {"session_id": SESSION, "session_epoch": 3} if session else {}
    return frame(3, 9, **facts, **more)


in_a_session_or_not = pytest.mark.parametrize("session", [False, True])


@every_form
@in_a_session_or_not
async def test_a_reader_at_the_end_waits_unparsed_and_hears_of_the_next_append(
    version: int, session: bool, autojump_clock: MockClock
) -> None:
    with a_topic() as fast, a_topic() as slow:
        data = await known(fast, slow, version, session)

        [answer], seconds = await both_while(fast, slow, data, lambda topic: fill(topic, 2))

        assert parsed(answer, version).responses[0].partitions[0].records
        assert fast.waited == 1
        assert seconds == pytest.approx(WAIT_MS / 10_000)
        more: dict[str, Any] = {"session_id": SESSION, "session_epoch": 4} if session else {}
        await agreed(fast, slow, frame(3, version=version, **more))


@every_form
@in_a_session_or_not
async def test_a_reader_at_the_end_is_answered_when_its_time_is_up(
    version: int, session: bool, autojump_clock: MockClock
) -> None:
    """With what there is, which in a session is nothing at all; and then it goes on."""
    with a_topic() as fast, a_topic() as slow:
        data = await known(fast, slow, version, session)

        _, seconds = await both_while(fast, slow, data)

        assert fast.waited == 1
        assert seconds == pytest.approx(WAIT_MS / 1000)
        facts: dict[str, Any] = {"version": version, "max_wait_ms": WAIT_MS}
        more: dict[str, Any] = {"session_id": SESSION, "session_epoch": 4} if session else {}
        [answer], _ = await both_while(fast, slow, frame(3, **facts, **more), lambda topic: fill(topic, 1))
        assert parsed(answer, version).responses[0].partitions[0].records


CHANGES: dict[str, Callable[[Topic], object]] = {
    "the topic is deleted": lambda topic: topic.partitions[0].mark_deleted(),
    "the session is overtaken": lambda topic: topic.sessions.plan(
        FetchRequest(max_wait_ms=0, min_bytes=0, topics=[], session_id=SESSION, session_epoch=4),
        by_topic_id=True,
        now_ms=NOW_MS,
    ),
    "it rings for nothing": lambda topic: topic.partitions[0].ring(),
    "the other partition grows": lambda topic: fill(topic, 1, index=1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_what_happens_while_a_reader_waits_is_told_as_ever(
    change: Callable[[Topic], object], autojump_clock: MockClock
) -> None:
    with a_topic() as fast, a_topic() as slow:
        data = await known(fast, slow, 17, session=True)

        await both_while(fast, slow, data, change)

        assert fast.waited == 1


@in_a_session_or_not
async def test_a_reader_whose_rest_of_an_older_segment_is_too_little_does_not_wait(
    session: bool, autojump_clock: MockClock
) -> None:
    """A read never goes from one segment to the next, so it would wait for nothing."""
    with a_topic(segment_bytes=200) as fast, a_topic(segment_bytes=200) as slow:
        data = await known(fast, slow, 17, session, min_bytes=MUCH)
        for topic in (fast, slow):
            fill(topic, 1, 1, 1, 1, 1)

        [answer], seconds = await both_while(fast, slow, data)

        assert parsed(answer).responses[0].partitions[0].records
        assert (fast.waited, seconds) == (0, 0)


async def test_too_little_of_the_newest_segment_waits_the_usual_way(autojump_clock: MockClock) -> None:
    size = len(batch(1, timestamp_ms=NOW_MS))
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1, 1, 1)
        data = frame(2, min_bytes=2 * size, max_wait_ms=WAIT_MS)
        for _ in range(2):
            await both_while(fast, slow, data)

        [answer], seconds = await both_while(fast, slow, data, lambda topic: fill(topic, 1))

        assert fast.waited == 0
        assert seconds == pytest.approx(WAIT_MS / 10_000)
        assert len(parsed(answer).responses[0].partitions[0].records) == 2 * size


NOT_PLAIN: dict[str, dict[str, Any]] = {
    "at the end": {"offset": 6},
    "behind the end": {"offset": 7},
    "too few bytes": {"min_bytes": MUCH},
    "before v12": {"version": 11},
    "a follower's": {"replica_id": 5, "version": 12},
    "a follower's of v15": {"replica_state": ReplicaState(replica_id=5)},
    "two partitions": {"indexes": (0, 1)},
    "one forgotten": {
        "forgotten_topics_data": [ForgottenTopic(topic="t", topic_id=TOPIC_ID, partitions=[1])]
    },
    "another leader epoch": {"partition": {"current_leader_epoch": 3}},
    "an epoch that was never": {"partition": {"last_fetched_epoch": 4}},
    "no such partition": {"indexes": (PARTITIONS,)},
    "no such topic": {"topic": "u", "version": 12},
}


@pytest.mark.parametrize("facts", NOT_PLAIN.values(), ids=NOT_PLAIN)
async def test_what_is_not_plain_goes_the_usual_way(facts: dict[str, Any]) -> None:
    """However often it is asked for."""
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 3, 1, 2)

        await agreed(fast, slow, frame(**facts) * 4)

        assert fast.taken == 0


async def test_the_least_and_the_most_bytes_are_kept() -> None:
    """Those of the request, of the partition and of the broker."""
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, *[1] * 20)
        for facts in ({"max_bytes": 300}, {"partition": {"partition_max_bytes": 300}}, {"max_bytes": 1}):
            await agreed(fast, slow, frame(3, **facts) * 5)
        for topic in (fast, slow):
            topic.fetch_max_bytes = 200
        taken = fast.taken
        await agreed(fast, slow, frame(3, max_bytes=300) * 2)

        assert (taken, fast.taken) == (11, 13)


async def test_a_partition_that_is_gone_is_told_so() -> None:
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1)
        await agreed(fast, slow, frame() * 3)
        for topic in (fast, slow):
            topic.partitions[0].mark_deleted()
        [deleted] = await agreed(fast, slow, frame())
        for topic in (fast, slow):
            topic.find = none_is_found  # type: ignore[method-assign]
        [unknown] = await agreed(fast, slow, frame())

        codes = [parsed(answer).responses[0].partitions[0].error_code for answer in (deleted, unknown)]
        assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2


def none_is_found(topic: str, index: int) -> Partition:
    raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is none.")


async def test_a_topic_that_has_another_id_by_now_is_not_read() -> None:
    other = b"\x08" * 16
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1)

        [answer, *_] = await agreed(fast, slow, frame(topic_id=other) * 4)

        assert parsed(answer).responses[0].partitions[0].error_code == ErrorCode.INCONSISTENT_TOPIC_ID
        assert fast.taken == 0


async def test_of_long_names_nothing_is_kept() -> None:
    """A name may be as long as a request, whether there is a topic or not."""
    with a_topic() as topic:
        fill(topic, 1)
        await topic.answers_to(frame(client_id="c" * 600) * 4)
        assert topic.taken == 0
        await topic.answers_to(frame(client_id="c" * 200) * 4)
        assert topic.taken == 2


async def test_of_many_readings_of_one_connection_the_latest_are_known() -> None:
    """So that what is kept of a peer stays small, and a long life costs no speed."""
    with a_topic() as topic:
        fill(topic, *[1] * 3)
        for number in range(200):
            await topic.answers_to(frame(max_bytes=MUCH + number) * 3)
        assert topic.taken == 200 + 199  # the first is known from its third time on, the others say the same


FETCHES = st.tuples(
    st.just("fetch"),
    st.sampled_from([(0,)] * 6 + [(1,), (0, 1), ()]),
    st.integers(0, 9),
    st.sampled_from([0] + [SESSION] * 5 + [SESSION + 1]),
    st.sampled_from(["next"] * 6 + ["none", "first", "wrong"]),
    st.sampled_from([MUCH] * 5 + [200, 1]),
)
STEPS = st.one_of(
    FETCHES,
    FETCHES,
    st.tuples(st.just("append"), st.integers(0, PARTITIONS - 1), st.integers(1, 3)),
    st.tuples(st.just("move start"), st.integers(0, PARTITIONS - 1), st.integers(0, 9)),
)


class History:
    """What both brokers live through, and a client that knows the epochs of its sessions."""

    def __init__(self, fast: Topic, slow: Topic, version: int) -> None:
        self.topics = fast, slow
        self._version = version
        self._epochs: dict[int, int] = {}

    async def fetch(
        self, indexes: tuple[int, ...], offset: int, session_id: int, which: str, max_bytes: int
    ) -> None:
        following = self._epochs.get(session_id, 1) if session_id else -1
        epoch = {"none": -1, "first": 0, "wrong": 7}.get(which, following)
        facts: dict[str, Any] = {"session_id": session_id, "session_epoch": epoch, "max_bytes": max_bytes}
        [answer] = await agreed(
            *self.topics, frame(offset, 5, indexes=indexes, version=self._version, **facts)
        )
        told = parsed(answer, self._version)
        if told.session_id and not told.error_code:
            self._epochs[told.session_id] = 1 if epoch == 0 else following + 1

    def append(self, index: int, count: int) -> None:
        for topic in self.topics:
            fill(topic, count, index=index)

    def move_start(self, index: int, offset: int) -> None:
        for topic in self.topics:
            partition = topic.partitions[index]
            partition.move_start(min(offset, partition.log.log_end_offset))


@given(st.lists(STEPS, max_size=30), st.sampled_from([12, 17]))
@settings(deadline=None)
async def test_whatever_happens_both_ways_answer_the_same(steps: list[Any], version: int) -> None:
    """Sessions that begin, go on, are spoken to out of turn and end, while the log grows and is shortened."""
    with a_topic(segment_bytes=400) as fast, a_topic(segment_bytes=400) as slow:
        history = History(fast, slow, version)
        for _ in range(6):
            history.append(0, 1)
        await history.fetch((0, 1), 0, 0, "first", MUCH)
        for offset in (1, 2, 3, 4):
            await history.fetch((0,), offset, SESSION, "next", MUCH)
        assert fast.taken == 2
        for step, *rest in steps:
            if step == "fetch":
                await history.fetch(*rest)
            elif step == "append":
                history.append(*rest)
            else:
                history.move_start(*rest)
