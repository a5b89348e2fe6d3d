"""bench.load.requests: what a connection sends."""

import struct

from crc32c import crc32c
from load.requests import InTurn, Numbered, Same

from wirekafka.protocol.records import Record, build_batch
from wirekafka.protocol.records.batch import RecordBatch


def test_the_same_request_is_taken_as_often_as_asked() -> None:
    assert bytes(Same(b"ab", 5).take(3)) == b"ababab"


def test_requests_in_turn_begin_again_after_the_last() -> None:
    requests = InTurn([b"a", b"b", b"c"], first=1)

    assert bytes(requests.take(3)) == b"bca"
    assert bytes(requests.take(2)) == b"bc"


def test_numbered_batches_go_on_where_the_last_sequence_ended_and_are_sound() -> None:
    batch = bytes(build_batch([Record(value=b"x"), Record(value=b"y")]))
    requests = Numbered(b"head" + batch + b"between" + batch, batch, 77, most=3)

    first, second = bytes(requests.take(2)), bytes(requests.take(1))

    found = [RecordBatch(sent, at) for sent, at in _batches(first + second, batch)]
    assert [one.base_sequence for one in found] == [0, 0, 2, 2, 4, 4]
    assert {(one.producer_id, one.producer_epoch) for one in found} == {(77, 0)}
    assert all(
        struct.unpack_from(">I", sent, at + 17)[0] == crc32c(sent[at + 21 : at + len(batch)])
        for sent, at in _batches(first + second, batch)
    )


def _batches(sent: bytes, batch: bytes) -> list[tuple[bytes, int]]:
    size = len(b"head" + batch + b"between" + batch)
    second = len(b"head" + batch + b"between")
    return [(sent, start + at) for start in range(0, len(sent), size) for at in (4, second)]
