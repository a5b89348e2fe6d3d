"""Tests of storage.cleaning.keys: held to the decoder of whole records."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.storage.cleaning.support import keyed_batch
from tests.support.records import RECORD
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch, decode_records
from wirekafka.protocol.records.record import encode_record
from wirekafka.storage.cleaning.keys import RecordKey, keys_of

RECORDS = st.lists(RECORD, max_size=200)
MOST = 1 << 20


@given(RECORDS, st.sampled_from([Codec.NONE, Codec.LZ4]), st.integers(0, 1 << 40))
def test_they_are_those_of_the_records(records: list[Record], codec: Codec, base_offset: int) -> None:
    """Whatever the sizes, offsets and headers."""
    batch = RecordBatch(build_batch(records, codec=codec, base_offset=base_offset))

    expected = [RecordKey(r.offset, r.key, r.value is not None) for r in decode_records(batch)]

    assert keys_of(batch, MOST) == expected


@given(st.binary(max_size=60), st.integers(0, 4))
def test_what_is_no_record_is_told(payload: bytes, count: int) -> None:
    """Never anything but CORRUPT_MESSAGE, however the bytes are."""
    data = build_batch([]) + payload
    data[8:12] = (len(data) - 12).to_bytes(4, "big")
    data[57:61] = count.to_bytes(4, "big")

    try:
        keys = keys_of(RecordBatch(data), MOST)
    except KafkaError as error:
        code = error.code
    else:
        code = ErrorCode.NONE
        assert len(keys) == count

    assert code in (ErrorCode.NONE, ErrorCode.CORRUPT_MESSAGE)


@pytest.mark.parametrize("deltas", [(0, 2), (1, 0), (0, 0), (0, -1)])
def test_offsets_that_are_not_the_batchs_are_told(deltas: tuple[int, int]) -> None:
    """The newest record of a key would be dropped for one that claims an offset behind it."""
    data = build_batch([])
    for delta in deltas:
        encode_record(data, Record(b"k", b"v"), offset_delta=delta, timestamp_delta=0)
    struct.pack_into(">i", data, 8, len(data) - 12)
    struct.pack_into(">i", data, 23, 1)  # the last offset delta
    struct.pack_into(">i", data, 57, 2)  # how many records there are

    with pytest.raises(KafkaError, match="offset") as caught:
        keys_of(RecordBatch(data), MOST)

    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_a_batch_that_would_grow_without_bound_is_not_unpacked() -> None:
    """It may have been written when nobody had to look into it: by its bytes, or by its records."""
    packed = RecordBatch(keyed_batch(("k", "v" * 100_000), codec=Codec.ZSTD))
    many = RecordBatch(keyed_batch(("k", "v"), codec=Codec.ZSTD))
    many.record_count = (1 << 20) + 1

    assert len(keys_of(packed, 200_000)) == 1
    for batch, most in ((packed, 50_000), (many, 200_000)):
        with pytest.raises(KafkaError) as caught:
            keys_of(batch, most)
        assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
