"""protocol.alike: requests told by their bytes, and answers with places to fill in, held to the codec."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.raw_client import request_frame
from wirekafka.protocol.alike import AlikeProduce, ProduceLikeness, ProduceLikenesses
from wirekafka.protocol.apis.produce import (
    PRODUCE,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from wirekafka.protocol.connection import ReceivedRequest, parse_request, response_parts
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.framing import FrameBuffer

RECORDS = b"r" * 70
TOPIC_ID = bytes(range(16))
VERSIONS = range(5, PRODUCE.versions.newest + 1)
MOST = 64


def a_produce(
    records: bytes | None = RECORDS,
    *,
    topic: str = "t",
    index: int = 0,
    acks: int = 1,
    timeout_ms: int = 1000,
) -> ProduceRequest:
    data = PartitionProduceData(index=index, records=None if records is None else memoryview(records))
    topics = [TopicProduceData(name=topic, topic_id=TOPIC_ID, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=topics)


def received(request: ProduceRequest, version: int, client_id: str | None = "raw") -> ReceivedRequest:
    frame = request_frame(request, version, client_id=client_id)
    return parse_request(memoryview(bytearray(frame))[4:])


def known(*requests: ReceivedRequest) -> ProduceLikenesses:
    likenesses = ProduceLikenesses()
    for request in requests:
        likenesses.add(ProduceLikeness(request))
    return likenesses


def frames_of(data: bytes, max_frame_bytes: int = 1 << 20) -> FrameBuffer:
    """A buffer in which `data` has been received."""
    frames = FrameBuffer(max_frame_bytes)
    while data:
        space = frames.space()
        count = min(len(space), len(data))
        space[:count] = data[:count]
        frames.received(count)
        data = data[count:]
        if data:
            frames.pass_over(frames.unread()[1])
    return frames


def found_in(data: bytes, likenesses: ProduceLikenesses) -> list[AlikeProduce]:
    return likenesses.find(frames_of(data), MOST)


every_version = pytest.mark.parametrize("version", VERSIONS)


@every_version
def test_what_is_found_is_what_would_be_parsed(version: int) -> None:
    """Of any size of records, and however it may be compressed: nobody looks into them."""
    likenesses = known(received(a_produce(), version))
    for size in (70, 126, 127, 128, 1000, 3000):
        request = a_produce(b"x" * size)
        data = request_frame(request, version, correlation_id=size)

        ((likeness, correlation_id, found, end),) = found_in(data, likenesses)

        parsed = parse_request(memoryview(data)[4:])
        assert isinstance(parsed.message, ProduceRequest)
        assert (correlation_id, end) == (parsed.correlation_id, len(data))
        assert found == parsed.message.topic_data[0].partition_data[0].records
        assert likeness.request.message == a_produce_without_records(parsed)


def a_produce_without_records(request: ReceivedRequest) -> ProduceRequest:
    assert isinstance(request.message, ProduceRequest)
    request.message.topic_data[0].partition_data[0].records = None
    return request.message


@every_version
def test_the_answer_is_what_the_codec_builds(version: int) -> None:
    request = received(a_produce(index=3), version)
    likeness = ProduceLikeness(request)
    for correlation_id, base_offset, start in ((0, 0, 0), (-1, 1 << 60, 5), (2**31 - 1, 255, 1 << 40)):
        partition = PartitionProduceResponse(
            index=3, error_code=0, base_offset=base_offset, log_start_offset=start
        )
        message = request.message
        assert isinstance(message, ProduceRequest)
        topic = message.topic_data[0]
        response = ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=topic.name, topic_id=topic.topic_id, partition_responses=[partition]
                )
            ]
        )
        request.correlation_id = correlation_id

        built = b"".join(
            bytes(part) for part in response_parts(request, response) if isinstance(part, bytearray)
        )
        assert likeness.answer(correlation_id, base_offset, start) == built


@pytest.mark.parametrize("version", [7, 12])
@pytest.mark.parametrize(
    "other",
    [
        {"topic": "u"},
        {"topic": "longer"},
        {"index": 1},
        {"acks": -1},
        {"timeout_ms": 1001},
        {"records": None},
        {"records": b""},
    ],
)
def test_a_request_that_says_something_else_is_not_alike(version: int, other: dict[str, object]) -> None:
    likenesses = known(received(a_produce(), version))

    assert found_in(request_frame(a_produce(**other), version), likenesses) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("client_id", [None, "", "other"])
def test_another_client_id_is_not_alike(client_id: str | None) -> None:
    likenesses = known(received(a_produce(), 9))

    assert found_in(request_frame(a_produce(), 9, client_id=client_id), likenesses) == []


def test_another_version_of_the_same_form_is_not_alike() -> None:
    """Its answer may have another form."""
    assert found_in(request_frame(a_produce(), 9), known(received(a_produce(), 10))) == []


def test_requests_are_found_up_to_the_first_that_is_another() -> None:
    """And up to the first that is not all there."""
    likenesses = known(received(a_produce(), 9))
    alike, other = request_frame(a_produce(), 9), request_frame(a_produce(index=1), 9)

    assert len(found_in(alike * 3 + other + alike, likenesses)) == 3
    for cut in range(1, len(alike)):
        assert len(found_in(alike * 2 + alike[:cut], likenesses)) == 2
    assert len(likenesses.find(frames_of(alike * 5), 2)) == 2


def test_nothing_is_taken_before_it_is_passed_over() -> None:
    likenesses = known(received(a_produce(), 9))
    frames = frames_of(request_frame(a_produce(), 9) * 2)
    first_end, second_end = (end for *_, end in likenesses.find(frames, MOST))

    frames.pass_over(first_end)

    assert [end for *_, end in likenesses.find(frames, MOST)] == [second_end]


def test_a_request_larger_than_is_taken_is_left_to_be_refused() -> None:
    data = request_frame(a_produce(), 9)
    likenesses = known(received(a_produce(), 9))

    assert likenesses.find(frames_of(data, len(data) - 5), MOST) == []
    assert len(likenesses.find(frames_of(data, len(data) - 4), MOST)) == 1


def test_starts_of_several_lengths_are_known_but_not_of_any_number() -> None:
    """Each costs a look at every request; who writes to that many topics is no worse off than before."""
    topics = ["t", "tt", "ttt", "tttt", "ttttt"]
    likenesses = known(*(received(a_produce(topic=topic), 9) for topic in topics))

    found = [len(found_in(request_frame(a_produce(topic=topic), 9), likenesses)) for topic in topics]

    assert found == [1, 1, 1, 1, 0]


def test_where_nothing_is_known_nothing_is_found() -> None:
    assert found_in(request_frame(a_produce(), 9), ProduceLikenesses()) == []


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([5, 8, 9, 13]), st.sampled_from([0, 3]), st.data())
def test_spoilt_requests_are_found_only_if_they_still_say_the_same(
    version: int, before: int, data: st.DataObject
) -> None:
    """Whatever byte is wrong: what is found here the codec parses to the same values, and to the end.

    Behind some of the same length, too, for which there is a shorter way.
    """
    usual = request_frame(a_produce(), version)
    frame = bytearray(usual)
    likenesses = known(received(a_produce(), version))
    at = data.draw(st.integers(0, len(frame) - 1))
    frame[at] = data.draw(st.integers(0, 255))
    frames, start = memoryview(bytearray(usual * before + frame)), 0

    all_found = found_in(bytes(frames), likenesses)
    assert len(all_found) >= before
    for likeness, correlation_id, found, end in all_found:
        parsed = parse_request(frames[start + 4 : end])
        assert isinstance(parsed.message, ProduceRequest)
        records = parsed.message.topic_data[0].partition_data[0].records
        assert (correlation_id, found) == (parsed.correlation_id, records)
        assert likeness.request.message == a_produce_without_records(parsed)
        start = end


SIZES = st.sampled_from([70, 70, 70, 71, 126, 127])


@given(st.sampled_from([8, 9, 13]), st.lists(st.tuples(st.integers(0, 2), SIZES), max_size=15))
def test_requests_in_any_order_are_found_as_if_each_came_alone(
    version: int, asked: list[tuple[int, int]]
) -> None:
    """To several partitions, of the same length and of another: none is found at the place of another."""
    likenesses = known(*(received(a_produce(index=index), version) for index in range(2)))
    frames = [
        request_frame(a_produce(b"x" * size, index=index), version, correlation_id=number)
        for number, (index, size) in enumerate(asked)
    ]

    together = found_in(b"".join(frames), likenesses)

    alone = []
    for data in frames:
        found = found_in(data, known(*(received(a_produce(index=index), version) for index in range(2))))
        if not found:  # to the third partition, of which nothing is known
            break
        alone += found
    told = [(one.partition, number, bytes(records)) for one, number, records, _ in together]
    assert told == [(one.partition, number, bytes(records)) for one, number, records, _ in alone]


def test_a_length_of_more_than_32_bits_is_left_to_the_codec() -> None:
    """Which closes the connection for it."""
    frame = bytearray(request_frame(a_produce(), 9))
    at = frame.index(RECORDS) - 1
    frame[at : at + 5] = b"\xff" * 5

    assert found_in(bytes(frame), known(received(a_produce(), 9))) == []
    with pytest.raises(MalformedMessage):
        parse_request(memoryview(frame)[4:])
