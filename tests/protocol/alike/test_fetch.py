"""alike.fetch: requests told by their bytes, and answers with places to fill in, held to the codec."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.raw_client import request_frame
from wirekafka.protocol.alike.fetch import AlikeFetch, FetchLikeness, FetchLikenesses, may_be_repeated
from wirekafka.protocol.apis.fetch import (
    FETCH,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from wirekafka.protocol.connection import ReceivedRequest, parse_request, response_parts
from wirekafka.protocol.plain_fetch import PlainPartition

TOPIC_ID = bytes(range(16))
LARGE = 2**40
VERSIONS = range(12, FETCH.versions.newest + 1)
every_version = pytest.mark.parametrize("version", VERSIONS)
_OF_PARTITION = {field.name for field in FetchPartition.wire_fields}
SAID: list[dict[str, Any]] = [
    {"session_id": 7},
    {"max_wait_ms": 1},
    {"min_bytes": 2},
    {"max_bytes": 1},
    {"isolation_level": 1},
    {"rack_id": "r"},
    {"cluster_id": "c"},
    {"topic": "other", "topic_id": bytes(16)},
    {"partition": 1},
    {"current_leader_epoch": 1},
    {"last_fetched_epoch": 1},
    {"log_start_offset": 1},
    {"partition_max_bytes": 1},
]
"""Whatever else a request may say."""


def a_fetch(session_epoch: int = -1, fetch_offset: int = 0, **more: Any) -> FetchRequest:
    wanted: dict[str, Any] = {"partition": 0, "fetch_offset": fetch_offset, "partition_max_bytes": 1 << 20}
    wanted |= {name: value for name, value in more.items() if name in _OF_PARTITION}
    topic: dict[str, Any] = {"topic": "t", "topic_id": TOPIC_ID}
    topic |= {name: value for name, value in more.items() if name in ("topic", "topic_id")}
    top: dict[str, Any] = {"max_wait_ms": 500, "min_bytes": 1, "session_epoch": session_epoch}
    top |= {name: value for name, value in more.items() if name not in wanted and name not in topic}
    partition = FetchPartition(**wanted)
    topics = [FetchTopic(**topic, partitions=[partition])]
    return FetchRequest(**top, topics=topics)


def received(request: FetchRequest, version: int, client_id: str | None = "raw") -> ReceivedRequest:
    return parse_request(memoryview(request_frame(request, version, client_id=client_id))[4:])


def known(*requests: ReceivedRequest) -> FetchLikenesses:
    likenesses = FetchLikenesses()
    for request in requests:
        likenesses.add(FetchLikeness(request))
    return likenesses


def found_in(data: bytes, likenesses: FetchLikenesses) -> AlikeFetch | None:
    return likenesses.find(memoryview(data), 0, len(data))


def all_of(found: AlikeFetch) -> FetchRequest:
    """The message that the request would be parsed to."""
    message = found.likeness.message
    message.session_epoch, found.likeness.wanted.fetch_offset = found.session_epoch, found.fetch_offset
    return message


@every_version
@pytest.mark.parametrize("client_id", ["raw", "", None])
def test_what_is_found_is_what_would_be_parsed(version: int, client_id: str | None) -> None:
    likenesses = known(received(a_fetch(3, 5), version, client_id))
    for epoch, offset, correlation_id in ((3, 5, 1), (0, 0, 0), (-1, -1, -1), (2**31 - 1, LARGE, 2**31 - 1)):
        request = a_fetch(epoch, offset)
        data = request_frame(request, version, correlation_id=correlation_id, client_id=client_id)

        found = found_in(data, likenesses)

        assert found is not None
        assert found[1:] == (correlation_id, epoch, offset, len(data))
        assert all_of(found) == parse_request(memoryview(data)[4:]).message


@every_version
@pytest.mark.parametrize("said", SAID, ids=lambda said: next(iter(said)))
def test_what_says_anything_else_is_not_found(version: int, said: dict[str, Any]) -> None:
    usual, other = received(a_fetch(), version), received(a_fetch(**said), version)
    assert usual.message != other.message
    data = request_frame(a_fetch(**said), version)

    assert found_in(data, known(usual)) is None
    both = found_in(data, known(usual, other))
    assert both is not None
    assert all_of(both) == other.message


@every_version
def test_another_version_or_client_is_not_found(version: int) -> None:
    likenesses = known(received(a_fetch(), version))

    assert found_in(request_frame(a_fetch(), version, client_id="who"), likenesses) is None
    for other in VERSIONS:
        assert (found_in(request_frame(a_fetch(), other), likenesses) is None) == (other != version)


def test_a_part_of_a_request_is_not_found() -> None:
    data = request_frame(a_fetch(), 17)
    likenesses = known(received(a_fetch(), 17))

    assert all(found_in(data[:length], likenesses) is None for length in range(len(data)))


@given(st.binary(max_size=200))
def test_of_other_bytes_none_is_found(data: bytes) -> None:
    assert found_in(data, known(received(a_fetch(), 17))) is None


@every_version
@pytest.mark.parametrize("isolation_level", [0, 1])
@pytest.mark.parametrize("size", [1, 126, 127, 20_000, 3_000_000])
def test_an_answer_is_the_codecs_to_the_byte(version: int, isolation_level: int, size: int) -> None:
    request = a_fetch(session_id=9, isolation_level=isolation_level, partition=4)
    likeness = FetchLikeness(received(request, version))
    records = bytes(size)
    told = PlainPartition("unused", 4, LARGE + 2, LARGE + 1, 7, records)

    parts = likeness.answer(70_000, told)

    data = PartitionData(
        partition_index=4,
        error_code=0,
        high_watermark=LARGE + 2,
        last_stable_offset=LARGE + 1,
        log_start_offset=7,
        aborted_transactions=[] if isolation_level else None,
        records=records,
    )
    topic = FetchableTopicResponse(topic="t", topic_id=TOPIC_ID, partitions=[data])
    asked = received(request, version)
    asked.correlation_id = 70_000
    expected = response_parts(asked, FetchResponse(throttle_time_ms=0, session_id=9, responses=[topic]))
    assert b"".join(map(bytes, parts)) == b"".join(map(bytes, expected))  # type: ignore[arg-type]


def test_the_request_it_was_made_of_is_left_alone() -> None:
    request = received(a_fetch(1, 2), 17)

    known(request)

    assert request.message == a_fetch(1, 2, topic="")


def test_only_who_reads_one_partition_may_be_known() -> None:
    one = a_fetch()
    two = FetchRequest(max_wait_ms=0, min_bytes=1, topics=[*one.topics, *one.topics])
    follower = a_fetch(replica_id=3)

    assert may_be_repeated(one, 12)
    assert not may_be_repeated(one, 11)
    assert not may_be_repeated(two, 12)
    assert not may_be_repeated(follower, 12)


def test_only_so_many_are_known_and_the_latest_always() -> None:
    requests = [received(a_fetch(max_wait_ms=number), 17) for number in range(200)]
    likenesses = known(*requests)

    frames = [request_frame(a_fetch(max_wait_ms=number), 17) for number in range(200)]
    found = [number for number, data in enumerate(frames) if found_in(data, likenesses)]
    assert 0 < len(found) <= 64
    assert found[-1] == 199
