"""plain_fetch: the same bytes as the compiled codec gives for the same answer."""

import pytest

from wirekafka.protocol.apis.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.plain_fetch import NEWEST, OLDEST, PlainPartition, plain_body

LARGE = 2**40
RECORDS = b"r" * 200_000


def told(topic: bytes | str, partition: int, records: bytes = b"") -> PlainPartition:
    return PlainPartition(topic, partition, LARGE + partition, LARGE - 1, 7, records)


def name_of(version: int, name: str) -> bytes | str:
    return name if version < 13 else name.encode().ljust(16, b"\x09")[:16]


def by_codec(
    version: int, session_id: int, partitions: list[PlainPartition], *, aborted_is_null: bool
) -> bytes:
    topics: list[FetchableTopicResponse] = []
    last: bytes | str | None = None
    for one in partitions:
        if one.topic != last:
            last = one.topic
            if isinstance(last, bytes):
                topics.append(FetchableTopicResponse(topic_id=last, partitions=[]))
            else:
                topics.append(FetchableTopicResponse(topic=last, partitions=[]))
        topics[-1].partitions.append(
            PartitionData(
                partition_index=one.partition,
                error_code=0,
                high_watermark=one.high_watermark,
                last_stable_offset=one.last_stable_offset,
                log_start_offset=one.log_start_offset,
                aborted_transactions=None if aborted_is_null else [],
                records=one.records,
            )
        )
    response = FetchResponse(throttle_time_ms=0, session_id=session_id, responses=topics)
    return codec_for(FetchResponse, version).build(response)


@pytest.mark.parametrize("aborted_is_null", [True, False])
@pytest.mark.parametrize("version", range(OLDEST, NEWEST + 1))
def test_body_is_the_codecs_to_the_byte(version: int, aborted_is_null: bool) -> None:
    one, other, long = (name_of(version, name) for name in ("t", "other", "n" * 200))
    answers = [
        [],
        [told(one, 0)],
        [told(long, 3, b"r")],
        [told(one, 0, RECORDS)],
        [told(one, 0, b"r" * 126), told(one, 1), told(other, 0, b"r" * 127), told(one, 2, RECORDS)],
        [told(long, partition, b"r" * partition) for partition in range(200)],
        [told(name_of(version, f"t{topic}"), 0) for topic in range(150)],
    ]

    for partitions in answers:
        parts = plain_body(2**31 - 1, partitions, aborted_is_null=aborted_is_null)

        expected = by_codec(version, 2**31 - 1, partitions, aborted_is_null=aborted_is_null)
        assert b"".join(bytes(part) for part in parts) == expected  # type: ignore[call-overload]


def test_records_are_a_part_of_their_own() -> None:
    """They may be a slice of a file, which has a length and no bytes."""
    records = memoryview(RECORDS)

    parts = plain_body(1, [PlainPartition("t", 0, 1, 1, 0, records)], aborted_is_null=True)

    assert len(parts) == 3
    assert parts[1] is records
