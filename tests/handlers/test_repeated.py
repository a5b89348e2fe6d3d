"""repeated: requests of either kind, one after the other on one connection."""

from tests.handlers.one_topic import MAX_REQUEST_BYTES, a_topic
from tests.handlers.test_repeated_fetch import fill
from tests.handlers.test_repeated_fetch import frame as fetch_frame
from tests.handlers.test_repeated_produce import frame as produce_frame
from tests.handlers.test_repeated_produce import good
from tests.support.raw_client import request_frame
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.connection import ServerConnection


async def test_requests_of_both_kinds_are_answered_in_their_order() -> None:
    with a_topic() as fast, a_topic() as slow:
        for topic in (fast, slow):
            fill(topic, 1, 1, 1)
        asked = [produce_frame(good(), 1), fetch_frame(1, 2), fetch_frame(2, 3), produce_frame(good(), 4)] * 3

        answers = await fast.answers_to(b"".join(asked))

        assert answers == await slow.answers_to(b"".join(asked), repeats=False)
        assert [int.from_bytes(answer[4:8], "big") for answer in answers] == [1, 2, 3, 4] * 3
        # the second produce is the first that is known; of fetches the third
        assert fast.taken == 5 + 4


def test_of_other_requests_and_of_parts_nothing_is_taken() -> None:
    other = request_frame(MetadataRequest(topics=[]), 12)
    with a_topic() as topic:
        for data in (other, fetch_frame()[:5], produce_frame(good())[:3], b""):
            connection = ServerConnection(MAX_REQUEST_BYTES)
            connection.frames.space()[: len(data)] = data
            connection.frames.received(len(data))

            assert topic.repeated.answers(connection.frames) == (0, ())
            assert connection.frames.unread()[2] - connection.frames.unread()[1] == len(data)
