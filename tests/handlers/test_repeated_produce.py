"""repeated_produce: many requests at a time, held against `produce`, which takes them one by one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.handlers.one_topic import (
    MAX_REQUEST_BYTES,
    NOW_MS,
    PARTITIONS,
    TOPIC_ID,
    Topic,
    a_topic,
    joined,
    split,
)
from tests.handlers.support import batch
from tests.support.raw_client import parse_response, request_frame
from wirekafka.broker import Partition
from wirekafka.handlers import CloseConnection
from wirekafka.protocol.alike import ProduceLikenesses
from wirekafka.protocol.apis.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from wirekafka.protocol.connection import ServerConnection
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.framing import FrameBuffer
from wirekafka.storage import Run
from wirekafka.storage.segments.segment import Segment

OWN_TOPIC = "__consumer_offsets"


def frame(
    records: bytes | None,
    correlation_id: int = 0,
    *,
    version: int = 9,
    index: int = 0,
    acks: int = 1,
    topic: str = "t",
    **facts: Any,
) -> bytes:
    data = PartitionProduceData(index=index, records=None if records is None else memoryview(records))
    topics = [TopicProduceData(name=topic, topic_id=TOPIC_ID, partition_data=[data])]
    request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=topics, **facts)
    return request_frame(request, version, correlation_id=correlation_id)


def received(data: bytes) -> ServerConnection:
    """A connection that these bytes have come by."""
    connection = ServerConnection(MAX_REQUEST_BYTES)
    connection.frames.space()[: len(data)] = data
    connection.frames.received(len(data))
    return connection


def good(count: int = 1, **header: Any) -> bytes:
    return batch(count, timestamp_ms=NOW_MS, **header)


def answered(answers: list[bytes], version: int = 9) -> list[tuple[int, int, int]]:
    """Correlation id, error code and base offset of each answer."""
    found = []
    for answer in answers:
        correlation_id, message = parse_response(PRODUCE, version, answer[4:])
        [partition] = message.responses[0].partition_responses
        found.append((correlation_id, partition.error_code, partition.base_offset))
    return found


@pytest.mark.parametrize("version", [7, 9, 13])
async def test_requests_like_an_earlier_one_are_written_by_one_call(version: int) -> None:
    """Each has its own answer, in their order."""
    with a_topic() as topic:
        await topic.answers_to(frame(good(), version=version) * 2)
        topic.files.writes = 0

        data = b"".join(frame(good(2), number, version=version) for number in range(5))
        answers = await topic.answers_to(data)

        assert answered(answers, version) == [(number, 0, 2 + 2 * number) for number in range(5)]
        assert topic.files.writes == 1
        assert topic.partitions[0].log.log_end_offset == 12


async def test_each_partition_has_a_call_of_its_own() -> None:
    with a_topic() as topic:
        for index in range(PARTITIONS):
            await topic.answers_to(frame(good(), index=index) * 2)
        topic.files.writes = 0

        answers = await topic.answers_to(b"".join(frame(good(), n, index=n // 2) for n in range(4)))

        assert answered(answers) == [(0, 0, 2), (1, 0, 3), (2, 0, 2), (3, 0, 3)]
        assert topic.files.writes == 2


async def test_a_failed_write_refuses_all_that_were_in_it() -> None:
    """And leaves nothing of them; the next may succeed."""
    with a_topic() as topic:
        await topic.answers_to(frame(good()) * 2)
        topic.files.is_full = True
        refused = await topic.answers_to(frame(good(), 1) + frame(good(), 2))
        topic.files.is_full = False

        assert answered(refused) == [(n, ErrorCode.KAFKA_STORAGE_ERROR, -1) for n in (1, 2)]
        assert b"No space left on device" in refused[0]
        assert answered(await topic.answers_to(frame(good(), 3))) == [(3, 0, 2)]


async def test_requests_without_answer_are_written_by_one_call_too() -> None:
    """acks=0; those with an answer before them have it first."""
    with a_topic() as topic:
        await topic.answers_to(frame(good(), acks=0) * 2 + frame(good()) * 2)
        topic.files.writes = 0

        none = await topic.answers_to(frame(good(), acks=0) * 5)
        mixed = await topic.answers_to(frame(good(), 1) + frame(good(), acks=0) + frame(good(), 2))

        assert (none, answered(mixed)) == ([], [(1, 0, 9), (2, 0, 11)])
        assert topic.files.writes == 4


async def test_a_failed_write_of_what_is_not_answered_closes_the_connection() -> None:
    """Nothing else can tell of it, as in the usual way. What has an answer is answered before."""
    with a_topic() as topic:
        await topic.answers_to(frame(good(), acks=0) * 2 + frame(good(), 5) * 2)
        topic.files.is_full = True
        connection = received(frame(good(), 6) + frame(good(), acks=0))

        count, refused = topic.repeated.answers(connection.frames)
        assert (count, answered([joined(refused)])) == (1, [(6, ErrorCode.KAFKA_STORAGE_ERROR, -1)])
        with pytest.raises(CloseConnection, match="acks=0 produce failed"):
            topic.repeated.answers(connection.frames)


# --- a fault of ours


OUR_FAULT = KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "A bug.")


def failing(*arguments: Any, **named: Any) -> Any:
    raise ZeroDivisionError("a bug")


async def after_a_fault(topic: Topic, data: bytes) -> tuple[int, list[tuple[int, int, int]], FrameBuffer]:
    """How many requests are answered in spite of it, how, and what is left."""
    frames = received(data).frames
    with pytest.raises(ZeroDivisionError):
        topic.repeated.answers(frames)
    count, parts = topic.repeated.answers_after(OUR_FAULT, frames)
    return count, answered(split(joined(parts))), frames


@pytest.mark.parametrize("where", [(Run, "take"), (Partition, "begin_run"), (ProduceLikenesses, "find")])
async def test_after_a_fault_before_the_write_requests_go_the_usual_way(
    where: tuple[type, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are as they came."""
    with a_topic() as topic:
        await topic.answers_to(frame(good()) * 2)
        data = frame(good(), 1) + frame(good(), 2)
        with monkeypatch.context() as faulty:
            faulty.setattr(*where, failing)
            count, answers, frames = await after_a_fault(topic, data)

        view, start, end = frames.unread()
        left = bytes(view[start:end])

        assert (count, answers, left) == (0, [], data)
        assert answered(await topic.answers_to(left)) == [(1, 0, 2), (2, 0, 3)]


async def test_a_fault_in_the_middle_of_a_run_leaves_its_batches_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that were taken in before it, too."""
    with a_topic() as topic:
        await topic.answers_to(frame(good()) * 2)
        data = b"".join(frame(good(), number) for number in range(3))
        take, taken = Run.take, []

        def second_fails(run: Run, records: memoryview) -> int:
            taken.append(take(run, records))
            return taken[-1] if len(taken) < 2 else failing()

        with monkeypatch.context() as faulty:
            faulty.setattr(Run, "take", second_fails)
            count, _, frames = await after_a_fault(topic, data)

        view, start, end = frames.unread()

        assert (count, taken, bytes(view[start:end])) == (0, [2, 3], data)


@pytest.mark.parametrize("where", [(Run, "write"), (Segment, "append_several"), (Partition, "end_run")])
async def test_after_a_fault_at_the_write_its_batches_are_refused(
    where: tuple[type, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written before is answered truly; what comes behind goes the usual way."""
    with a_topic() as topic:
        for index in range(PARTITIONS):
            await topic.answers_to(frame(good(), index=index) * 2)
        real, calls = getattr(*where), []

        def second_fails(*arguments: Any) -> Any:
            calls.append(arguments)
            return real(*arguments) if len(calls) != 2 else failing()

        monkeypatch.setattr(*where, second_fails)
        data = b"".join(frame(good(), number, index=index) for number, index in enumerate([0, 0, 1, 1, 0]))

        count, answers, frames = await after_a_fault(topic, data)
        rest, parts = topic.repeated.answers(frames)

        refused = [(number, ErrorCode.UNKNOWN_SERVER_ERROR, -1) for number in (2, 3)]
        assert (count, answers) == (4, [(0, 0, 2), (1, 0, 3), *refused])
        assert (rest, answered([joined(parts)])) == (1, [(4, 0, 4)])
        assert [partition.log.log_end_offset for partition in topic.partitions] == [5, 2]


async def test_after_a_fault_at_the_write_of_what_is_not_answered_the_connection_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in the usual way; it is acks=0."""
    with a_topic() as topic:
        await topic.answers_to(frame(good(), acks=0) * 2)
        monkeypatch.setattr(Partition, "end_run", failing)

        with pytest.raises(CloseConnection, match="acks=0 produce failed"):
            await after_a_fault(topic, frame(good(), acks=0))


async def test_the_same_sent_again_after_a_failed_write_is_there_once() -> None:
    """An idempotent producer's; the numbers go on where they were."""
    with a_topic() as topic:
        producer = {"producer_id": 1, "producer_epoch": 0}

        def numbered(first: int, count: int) -> bytes:
            sequences = range(first, first + count)
            return b"".join(frame(good(**producer, base_sequence=n), n) for n in sequences)

        await topic.answers_to(numbered(0, 2))
        topic.files.is_full = True
        refused = await topic.answers_to(numbered(2, 3))
        topic.files.is_full = False
        again = await topic.answers_to(numbered(2, 3))
        twice = await topic.answers_to(numbered(2, 3))

        assert [code for _, code, _ in answered(refused)] == [ErrorCode.KAFKA_STORAGE_ERROR] * 3
        assert answered(again) == answered(twice) == [(2, 0, 2), (3, 0, 3), (4, 0, 4)]
        assert topic.partitions[0].log.log_end_offset == 5


NOT_REPEATED = {
    "acks=2": {"acks": 2},
    "a transactional id": {"transactional_id": "x"},
    "before v7": {"version": 6},
}


@pytest.mark.parametrize("facts", NOT_REPEATED.values(), ids=NOT_REPEATED)
async def test_what_needs_more_than_to_be_written_is_not_learnt(facts: dict[str, Any]) -> None:
    with a_topic() as topic:
        await topic.answers_to(frame(good(), **facts) * 2)
        connection = received(frame(good(), **facts))

        assert topic.repeated.answers(connection.frames) == (0, ())


@pytest.mark.parametrize(
    "config", [{"min_insync_replicas": 2}, {"cleanup_policy": ("compact",)}, {"compression_type": "gzip"}]
)
async def test_what_the_topic_asks_for_is_done(config: dict[str, Any]) -> None:
    """It is refused, looked into or compressed anew, as often as it is sent."""
    with a_topic(**config) as fast, a_topic(**config) as slow:
        data = frame(good(3), acks=-1) * 5

        assert await fast.answers_to(data) == await slow.answers_to(data, repeats=False)
        assert fast.stored() == slow.stored()


async def test_a_partition_that_is_gone_is_told_so() -> None:
    with a_topic() as topic:
        await topic.answers_to(frame(good()) * 2)
        topic.partitions[0].mark_deleted()
        deleted = await topic.answers_to(frame(good()))
        topic.partitions.clear()
        topic.find = none_is_found  # type: ignore[method-assign]

        unknown = await topic.answers_to(frame(good()))

        assert [code for _, code, _ in answered(deleted + unknown)] == [3, 3]


def none_is_found(topic: str, index: int) -> Partition:
    raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is none.")


@pytest.mark.parametrize("version", [9, 13])
async def test_the_brokers_own_topics_are_written_to_by_no_client(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name or by id, and however often it is tried."""
    with a_topic() as topic:
        await topic.answers_to(frame(good()))
        monkeypatch.setattr(topic, "name_of", lambda topic_id: OWN_TOPIC)
        monkeypatch.setattr(topic, "find", lambda name, index: topic.partitions[index])

        answers = await topic.answers_to(frame(good(), version=version, topic=OWN_TOPIC) * 3)

        refused = int(ErrorCode.INVALID_TOPIC_EXCEPTION)
        assert [code for _, code, _ in answered(answers, version)] == [refused] * 3
        assert topic.partitions[0].log.log_end_offset == 1


async def test_of_long_names_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may be as long as a request, whether there is a topic or not."""
    with a_topic() as topic:
        monkeypatch.setattr(topic, "find", lambda name, index: topic.partitions[index])
        usual, long = (frame(good(), topic="n" * length) for length in (200, 600))
        await topic.answers_to(frame(good()) + usual + long)

        taken = [topic.repeated.answers(received(data).frames)[0] for data in (usual, long)]

        assert taken == [1, 0]


async def test_what_is_not_written_wakes_nobody() -> None:
    """A batch that is refused is no news to those who wait for more."""
    with a_topic() as topic:
        await topic.answers_to(frame(good()) * 2)
        spoilt, bell = bytearray(good()), trio.Event()
        spoilt[-1] ^= 1
        topic.partitions[0].wait_with(bell)

        refused = await topic.answers_to(frame(bytes(spoilt)))

        assert [code for _, code, _ in answered(refused)] == [ErrorCode.CORRUPT_MESSAGE]
        assert not bell.is_set()


async def test_behind_one_that_is_not_plain_only_one_is_looked_for() -> None:
    """Where none ever is (LogAppendTime, the mode fsync), all at hand would be looked at for each."""
    with a_topic() as topic:
        spoilt = bytearray(good())
        spoilt[-1] ^= 1
        await topic.answers_to(frame(good()) * 2 + frame(bytes(spoilt)))
        frames = received(frame(good()) * 3).frames

        taken = [topic.repeated.answers(frames)[0] for _ in range(2)]

        assert taken == [1, 2]


# --- against the slow twin


class Sent(NamedTuple):
    partition: int
    acks: int
    records: int
    producer_id: int
    sequence_off_by: int
    spoilt: int


SENT = st.builds(
    Sent,
    st.sampled_from([0, 0, 0, 1, 2]),
    st.sampled_from([1, 1, 1, -1, 0]),
    st.integers(1, 3),
    st.sampled_from([-1, -1, 1]),
    st.sampled_from([0, 0, 0, -1, 1]),
    st.sampled_from([-1] * 9 + [7, 16, 22, 61]),
)


def frames_of(sent: list[Sent], version: int) -> Iterator[bytes]:
    sequences: dict[tuple[int, int], int] = {}
    for number, each in enumerate(sent):
        header = {}
        if each.producer_id >= 0:
            who = each.producer_id, each.partition
            expected = sequences.get(who, 0)
            sequences[who] = expected + each.records
            sequence = max(0, expected + each.sequence_off_by)
            header = {"producer_id": each.producer_id, "producer_epoch": 0, "base_sequence": sequence}
        records = bytearray(good(each.records, **header))
        acks = each.acks
        if each.spoilt >= 0:
            records[each.spoilt] ^= 1
            acks = acks or 1  # else the connection would be closed for it
        if each.partition == PARTITIONS or header:
            acks = acks or 1
        yield frame(bytes(records), number, version=version, index=each.partition, acks=acks)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([7, 8, 9, 13]), st.lists(SENT, max_size=30), st.sampled_from([1 << 30, 600]))
def test_answers_and_logs_are_those_of_the_usual_way(
    version: int, sent: list[Sent], segment_bytes: int
) -> None:
    """Byte for byte, whatever is sent and however many at a time."""
    data = b"".join(frames_of(sent, version))
    with a_topic(segment_bytes=segment_bytes) as fast, a_topic(segment_bytes=segment_bytes) as slow:
        answers = trio.run(fast.answers_to, data)

        async def one_by_one() -> list[bytes]:
            return await slow.answers_to(data, repeats=False)

        assert answers == trio.run(one_by_one)
        assert fast.stored() == slow.stored()
