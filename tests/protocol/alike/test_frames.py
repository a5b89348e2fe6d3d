"""alike.frames: what the codec writes, whole."""

import pytest

from tests.support import raw_client
from wirekafka.protocol.alike.frames import first_difference, request_frame, response_frame
from wirekafka.protocol.apis.metadata import METADATA, MetadataRequest, MetadataResponse
from wirekafka.protocol.connection import ReceivedRequest, parse_request


@pytest.mark.parametrize("version", METADATA.versions.as_range())
def test_a_request_and_its_answer_are_whole_frames(version: int) -> None:
    request = ReceivedRequest(METADATA, version, 5, "who", MetadataRequest(topics=[]))
    response = MetadataResponse(brokers=[], controller_id=1, topics=[])

    frame, answer = request_frame(request), response_frame(request, response)

    assert frame == raw_client.request_frame(request.message, version, correlation_id=5, client_id="who")  # type: ignore[arg-type]
    assert request_frame(parse_request(memoryview(frame)[4:])) == frame
    assert int.from_bytes(answer[:4], "big") == len(answer) - 4
    assert raw_client.parse_response(METADATA, version, answer[4:])[0] == 5


def test_the_first_difference_is_looked_for_from_a_place_on() -> None:
    assert first_difference(b"abcd", b"aXcX") == 1
    assert first_difference(b"abcd", b"aXcX", 2) == 3
