"""Tests of protocol/connection.py."""

import struct
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.raw_client import framed, parse_response, request_frame
from tests.support.samples import sample
from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from wirekafka.protocol.apis.fetch import FETCH, FetchableTopicResponse, FetchResponse, PartitionData
from wirekafka.protocol.apis.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from wirekafka.protocol.connection import ReceivedRequest, ServerConnection, parse_request, response_parts
from wirekafka.protocol.error_codes import MalformedMessage

every_api = pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)


def frame_of(api: Api[Any, Any], version: int) -> bytes:
    return request_frame(sample(api.request, version), version)[4:]


def received(api: Api[Any, Any], version: int, correlation_id: int = 7) -> ReceivedRequest:
    return ReceivedRequest(api, version, correlation_id, "raw", sample(api.request, version))


def joined(parts: Sequence[Any]) -> bytes:
    return b"".join(map(bytes, parts))


def header(key: int, version: int, rest: bytes = b"\0\0\0\7\xff\xff") -> memoryview:
    return memoryview(struct.pack(">hh", key, version) + rest)


@every_api
def test_every_request_is_read_with_its_header(api: Api[Any, Any]) -> None:
    """Header v1 before flexible versions and v2 from them on; the oldest and the newest version."""
    for version in (api.versions.oldest, api.versions.newest):
        request = parse_request(memoryview(frame_of(api, version)))

        assert (request.api, request.version, request.correlation_id) == (api, version, 7)
        assert request.client_id == "raw"
        assert request.message == sample(api.request, version)
        assert request.response_version == version


@every_api
def test_a_request_cut_at_any_byte_is_malformed(api: Api[Any, Any]) -> None:
    """Header or body, a frame that is short is refused, and with no other exception."""
    whole = frame_of(api, api.versions.newest)
    for cut in range(len(whole)):
        with pytest.raises(MalformedMessage):
            parse_request(memoryview(whole)[:cut])


@every_api
def test_bytes_behind_a_request_are_passed_over(api: Api[Any, Any]) -> None:
    """As in Kafka; librdkafka 2.16 sends four bytes for a compact null array that has one."""
    whole = frame_of(api, api.versions.newest)

    request = parse_request(memoryview(whole + b"\1\0\0"))

    assert request.message == parse_request(memoryview(whole)).message


@pytest.mark.parametrize("key", [-1, 999, 32767])
def test_an_unknown_key_is_malformed(key: int) -> None:
    """Kafka's RequestHeader.parse closes on a key without a name."""
    with pytest.raises(MalformedMessage, match=f"request key {key} "):
        parse_request(header(key, 0))


@every_api
def test_a_version_beyond_the_known_ones_is_malformed(api: Api[Any, Any]) -> None:
    """Every API but ApiVersions, which is answered whatever its version."""
    if api is API_VERSIONS:
        assert parse_request(header(api.key, -1)).message is None
        return
    for version in (api.versions.oldest - 1, -1, -32768, api.versions.newest + 1, 32767):
        with pytest.raises(MalformedMessage, match=f"{api.name} v{version} is not served"):
            parse_request(header(api.key, version))


@pytest.mark.parametrize("version", [6, 32767])
def test_a_too_new_api_versions_request_is_given_without_its_message(version: int) -> None:
    """KIP-511: the body is not looked at, the header's old part is; the answer is of v0."""
    request = parse_request(header(18, version, b"\0\0\0\x09\0\2me" + b"\xff a body from the future"))

    assert (request.api, request.correlation_id, request.client_id) == (API_VERSIONS, 9, "me")
    assert request.message is None
    assert request.response_version == 0


def test_a_too_new_api_versions_request_without_a_header_is_malformed() -> None:
    """Also there nothing but MalformedMessage comes of short bytes."""
    with pytest.raises(MalformedMessage):
        parse_request(header(18, 99, b"\0\0"))


def test_a_connection_hands_out_requests_in_the_order_they_came() -> None:
    """Frames of one receive become requests one by one; None says that more bytes are needed."""
    connection = ServerConnection(1000)
    ask = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    data = b"".join(request_frame(ask, 4, correlation_id=n) for n in range(3))
    connection.frames.space()[: len(data)] = data
    connection.frames.received(len(data) - 1)

    first = [connection.next_request() for _ in range(3)]
    connection.frames.received(1)
    last = connection.next_request()

    assert [request and request.correlation_id for request in first] == [0, 1, None]
    assert last is not None
    assert last.correlation_id == 2


def test_a_connection_refuses_a_request_above_its_limit() -> None:
    """socket.request.max.bytes is the connection's."""
    connection = ServerConnection(10)
    connection.frames.space()[:4] = framed(b"x" * 11)[:4]
    connection.frames.received(4)

    with pytest.raises(MalformedMessage, match="1 to 10 are taken"):
        connection.next_request()


@every_api
def test_every_answer_has_its_length_its_correlation_id_and_the_header_of_its_version(
    api: Api[Any, Any],
) -> None:
    """Response header v1 (an empty tagged section) in flexible versions, v0 in others."""
    for version in (api.versions.oldest, api.versions.newest):
        answer = sample(api.response, version)

        frame = joined(response_parts(received(api, version, 77), answer))

        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        assert parse_response(api, version, frame[4:]) == (77, answer)


def test_header_version_one_has_a_tagged_section_and_version_zero_none() -> None:
    """Heartbeat is flexible from v4 on: one byte more in front of the message."""
    answer = HeartbeatResponse(throttle_time_ms=0, error_code=0)

    old = joined(response_parts(received(HEARTBEAT, 3), answer))
    new = joined(response_parts(received(HEARTBEAT, 4), answer))

    assert old == bytes.fromhex("0000000a 00000007 00000000 0000")
    assert new == bytes.fromhex("0000000c 00000007 00 00000000 0000 00")


def test_an_api_versions_answer_has_header_version_zero_in_every_version() -> None:
    """KIP-511: a client that does not know what the broker speaks must be able to read it."""
    refusal = ApiVersionsResponse(error_code=35, api_keys=[])
    for version in API_VERSIONS.versions.as_range():
        parts = response_parts(received(API_VERSIONS, version), refusal)

        assert joined(parts)[8:10] == b"\0\x23", f"v{version}"


def test_the_answer_to_a_too_new_api_versions_request_is_of_version_zero() -> None:
    """KIP-511: error code, array with a count of four bytes, and nothing else."""
    too_new = parse_request(header(18, 99))

    parts = response_parts(too_new, ApiVersionsResponse(error_code=35, api_keys=[]))

    assert joined(parts) == bytes.fromhex("0000000a 00000007 0023 00000000")


class Region:
    """A stretch of a file, of which only the length is known here."""

    position = 0

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def fileno(self) -> int:
        raise AssertionError("the protocol reads no file")


def test_slices_of_files_stay_slices_and_count_in_the_length() -> None:
    """Fetched records are never copied here: the transport sends them from the file."""
    regions = [Region(1000), Region(70_000)]
    partitions = [
        PartitionData(
            partition_index=n,
            error_code=0,
            high_watermark=5,
            aborted_transactions=None,
            records=region,
        )
        for n, region in enumerate(regions)
    ]
    answer = FetchResponse(
        throttle_time_ms=0, responses=[FetchableTopicResponse(topic="t", partitions=partitions)]
    )

    parts: Sequence[Any] = response_parts(received(FETCH, 12), answer)

    assert [part for part in parts if isinstance(part, Region)] == regions
    assert int.from_bytes(bytes(parts[0])[:4], "big") == sum(map(len, parts)) - 4
    as_bytes = b"".join(b"r" * len(p) if isinstance(p, Region) else bytes(p) for p in parts)
    _, read = parse_response(FETCH, 12, as_bytes[4:])
    assert [len(data.records) for data in read.responses[0].partitions] == [1000, 70_000]


def test_two_answers_of_one_request_class_do_not_share_a_buffer() -> None:
    """Answers gather before they are sent, so each must own its bytes."""
    first = response_parts(received(HEARTBEAT, 4, 1), HeartbeatResponse(throttle_time_ms=0, error_code=0))
    before = joined(first)
    response_parts(received(HEARTBEAT, 4, 2), HeartbeatResponse(throttle_time_ms=9, error_code=9))

    assert joined(first) == before


def test_a_request_without_client_id_is_read() -> None:
    """The client id may be null."""
    frame = request_frame(ApiVersionsRequest(client_software_name="a"), 3, client_id=None)

    assert parse_request(memoryview(frame[4:])).client_id is None
