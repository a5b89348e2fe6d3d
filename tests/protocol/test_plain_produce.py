"""plain_produce: the same bytes as the compiled codec gives for the same answer."""

import pytest

from wirekafka.protocol.apis.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.plain_produce import NEWEST, OLDEST, Told, plain_body

LARGE = 2**40


def name_of(version: int, name: str) -> bytes | str:
    return name if version < 13 else name.encode().ljust(16, b"\x09")[:16]


def by_codec(version: int, topics: list[tuple[bytes | str, list[Told]]]) -> bytes:
    responses = []
    for topic, told in topics:
        partitions = [
            PartitionProduceResponse(index=index, error_code=0, base_offset=base, log_start_offset=start)
            for index, base, start in told
        ]
        known = {"topic_id": topic} if isinstance(topic, bytes) else {"name": topic}
        responses.append(TopicProduceResponse(partition_responses=partitions, **known))
    return codec_for(ProduceResponse, version).build(ProduceResponse(responses=responses))


@pytest.mark.parametrize("version", range(OLDEST, NEWEST + 1))
def test_body_is_the_codecs_to_the_byte(version: int) -> None:
    one, other, long = (name_of(version, name) for name in ("t", "øther", "n" * 200))
    answers: list[list[tuple[bytes | str, list[Told]]]] = [
        [],
        [(one, [(0, 0, 0)])],
        [(one, [(3, LARGE, 7), (1, 0, LARGE), (3, LARGE + 1, 7)]), (long, [(2**31 - 1, 1, 1)])],
        [(other, [(index, index, 0) for index in range(200)])],
        [(name_of(version, f"t{number}"), [(0, number, 0)]) for number in range(150)],
    ]

    for topics in answers:
        assert plain_body(topics) == by_codec(version, topics)
