"""Tests of acceptance.recompression, after LogValidator.validateMessagesAndAssignOffsetsCompressed."""

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.support import NOW_MS, TOPIC_PARTITION, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch, decode_records
from wirekafka.protocol.records.batch import HEADER_BYTES
from wirekafka.storage.acceptance.recompression import needs_preparation, needs_recompression, prepare
from wirekafka.storage.acceptance.validation import Buffer, Origin, validate
from wirekafka.storage.config import LogConfig

TYPES = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}
RECORDS = [
    Record(b"k", b"v" * 300, NOW_MS, (("h", b"x"), ("", None))),
    Record(None, None, NOW_MS - 7),
    Record(b"", b"", NOW_MS + 3),
]


def prepared(records: Buffer, **config: Any) -> Buffer:
    return prepare(records, TOPIC_PARTITION, LogConfig(**config), now_ms=NOW_MS)


def refusal(records: Buffer, **config: Any) -> KafkaError:
    with pytest.raises(KafkaError) as caught:
        prepared(records, **config)
    return caught.value


def resealed(batch: bytearray) -> bytearray:
    """The batch with the CRC that its bytes have."""
    view = RecordBatch(batch)
    view.set_timestamp_type(log_append_time=view.is_log_append_time, max_timestamp=view.max_timestamp)
    return batch


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_takes_the_topics_codec(name: str, codec: Codec) -> None:
    """Records, times, producer and sequence stay; only what holds them changes."""
    sent = build_batch(
        RECORDS, producer_id=7, producer_epoch=3, base_sequence=11, attributes=0x10, codec=codec
    )
    before = bytes(sent)
    given = prepared(sent, compression_type=name)
    batch = RecordBatch(given)

    assert (given is sent) == (TYPES[name] == codec)
    assert bytes(sent) == before
    assert (batch.codec, batch.crc_ok(), batch.is_transactional) == (TYPES[name], True, True)
    assert decode_records(batch) == decode_records(RecordBatch(sent))
    same = ("base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence")
    for field in (*same, "record_count", "last_offset_delta", "base_offset"):
        assert getattr(batch, field) == getattr(RecordBatch(sent), field)


@settings(max_examples=80, deadline=None)
@given(
    records=st.lists(
        st.builds(
            Record,
            st.none() | st.binary(max_size=20),
            st.none() | st.binary(max_size=200),
            st.integers(NOW_MS - 1000, NOW_MS),
            st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=9)), max_size=2).map(
                tuple
            ),
        ),
        min_size=1,
        max_size=30,
    ),
    codec=st.sampled_from(list(Codec)),
    name=st.sampled_from(list(TYPES)),
    shift_ms=st.integers(0, 3),
)
def test_whatever_the_records_they_stay(
    records: list[Record], codec: Codec, name: str, shift_ms: int
) -> None:
    """Also where the header's first time is not that of the first record."""
    sent = build_batch(records)
    struct.pack_into(">q", sent, 27, RecordBatch(sent).base_timestamp - shift_ms)
    counted = prepared(resealed(sent), compression_type="zstd")  # counts the times anew
    again = prepared(prepared(counted, compression_type=codec.name.lower() if codec else "uncompressed"),
                     compression_type=name)  # fmt: skip

    wanted = [
        record._replace(timestamp_ms=record.timestamp_ms - shift_ms, offset=index)
        for index, record in enumerate(records)
    ]
    assert decode_records(RecordBatch(again)) == wanted
    assert RecordBatch(again).codec == TYPES[name]
    assert RecordBatch(again).max_timestamp == max(record.timestamp_ms for record in wanted)


@pytest.mark.parametrize("codec", list(Codec))
def test_the_producers_codec_is_kept_where_the_topic_has_none(codec: Codec) -> None:
    """compression.type=producer, the default: nothing to do before the append."""
    sent = simple_batch(200, codec=codec)

    assert not needs_preparation(sent, LogConfig())
    assert not needs_recompression(RecordBatch(sent), LogConfig())
    assert prepared(sent) is sent


def test_what_has_the_codec_stays_whatever_the_level() -> None:
    """Kafka compares the codecs alone."""
    sent = simple_batch(200, codec=Codec.ZSTD)

    assert not needs_preparation(sent, LogConfig(compression_type="zstd", compression_zstd_level=19))


def test_what_takes_long_to_look_into_is_prepared() -> None:
    """A compressed batch, or a large one, on a topic that asks for keys, ages or record sizes."""
    small, large = simple_batch(1), simple_batch(100, size=200)
    packed = simple_batch(1, codec=Codec.LZ4)

    for config in (
        LogConfig(cleanup_policy=("compact",)),
        LogConfig(message_timestamp_before_max_ms=5),
        LogConfig(max_decompressed_message_bytes=5),
    ):
        assert [needs_preparation(b, config) for b in (small, large, packed)] == [False, True, True]
    assert [needs_preparation(b, LogConfig()) for b in (small, large, packed)] == [False, False, False]


def test_another_codec_is_prepared_whatever_its_size() -> None:
    """One record or many: compressing is for a thread."""
    sent = simple_batch(1, codec=Codec.GZIP)

    assert needs_preparation(sent, LogConfig(compression_type="uncompressed"))
    assert needs_preparation(sent, LogConfig(compression_type="zstd"))
    assert not needs_preparation(sent, LogConfig(compression_type="gzip"))


@pytest.mark.parametrize("records", [b"", b"short", bytes(HEADER_BYTES)])
def test_bytes_that_are_no_batch_are_left_to_the_append(records: bytes) -> None:
    """It refuses them, and says why."""
    assert not needs_preparation(bytearray(records), LogConfig(compression_type="gzip"))


def test_a_prepared_batch_is_appended_as_it_is() -> None:
    """The append checks its header and gives it its time, and does not look into it again."""
    config = LogConfig(compression_type="gzip", message_timestamp_type="LogAppendTime")
    given = prepare(build_batch(RECORDS), TOPIC_PARTITION, config, now_ms=NOW_MS)
    batch = validate(
        given, TOPIC_PARTITION, config, origin=Origin.CLIENT, now_ms=NOW_MS + 5, looked_inside=True
    )

    assert batch.is_log_append_time
    assert [record.timestamp_ms for record in decode_records(batch)] == [NOW_MS + 5] * 3
    assert batch.crc_ok()


def test_nothing_is_made_right_by_being_made_anew() -> None:
    """What the append refuses is refused before it could get a new header and a new CRC."""
    corrupt = build_batch(RECORDS)
    corrupt[-1] ^= 1
    shifted = resealed(build_batch(RECORDS, base_offset=5))
    control = build_batch(RECORDS, attributes=0x20)

    assert refusal(corrupt, compression_type="zstd").code is ErrorCode.CORRUPT_MESSAGE
    assert refusal(shifted, compression_type="zstd").code is ErrorCode.INVALID_RECORD
    assert refusal(control, compression_type="zstd").code is ErrorCode.INVALID_RECORD
    assert refusal(build_batch(RECORDS), compression_type="zstd", max_message_bytes=99).code is (
        ErrorCode.MESSAGE_TOO_LARGE
    )


def test_each_record_at_fault_is_named() -> None:
    """As where nothing is compressed anew."""
    late = build_batch([Record(b"k", b"", NOW_MS), Record(b"k", b"", NOW_MS + 9_000_000)], codec=Codec.LZ4)
    error = refusal(late, compression_type="zstd")
    keyless = refusal(build_batch(RECORDS), compression_type="zstd", cleanup_policy=("compact",))

    assert isinstance(error, InvalidRecords)
    assert (error.code, [i for i, _ in error.record_errors]) == (ErrorCode.INVALID_TIMESTAMP, [1])
    assert isinstance(keyless, InvalidRecords)
    assert (keyless.code, [i for i, _ in keyless.record_errors]) == (ErrorCode.INVALID_RECORD, [1])


def test_what_grows_is_held_against_the_maximum_by_the_append() -> None:
    """Kafka looks at the size again after it has compressed, or not, anew."""
    config = LogConfig(compression_type="uncompressed", max_message_bytes=200)
    sent = build_batch([Record(None, bytes(1000), NOW_MS)], codec=Codec.ZSTD)
    given = prepare(sent, TOPIC_PARTITION, config, now_ms=NOW_MS)

    with pytest.raises(KafkaError) as caught:
        validate(given, TOPIC_PARTITION, config, origin=Origin.CLIENT, now_ms=NOW_MS, looked_inside=True)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_offsets_and_times_are_counted_anew() -> None:
    """A strange client may leave gaps, or count times from elsewhere; a builder does neither."""
    sent = build_batch([Record(b"a", b"1", NOW_MS), Record(b"b", b"2", NOW_MS + 1)])
    sent[HEADER_BYTES + 2] = 8  # the first time is 4 ms after the base
    second = HEADER_BYTES + 9
    sent[second + 3] = 20  # the second offset is 10 after the base
    before = decode_records(RecordBatch(resealed(sent)))
    batch = RecordBatch(prepared(sent, compression_type="lz4"))

    assert [record.offset for record in before] == [0, 10]
    assert [record.offset for record in decode_records(batch)] == [0, 1]
    assert [r._replace(offset=0) for r in decode_records(batch)] == [r._replace(offset=0) for r in before]
    assert batch.base_timestamp == NOW_MS + 4


def test_a_claim_of_log_append_time_becomes_every_records_time() -> None:
    """The new batch does not claim it, and Kafka has read the claim as the records' times."""
    sent = build_batch(RECORDS, attributes=0x08)
    RecordBatch(sent).set_timestamp_type(log_append_time=True, max_timestamp=NOW_MS + 9)
    batch = RecordBatch(prepared(sent, compression_type="snappy"))

    assert not batch.is_log_append_time
    assert [record.timestamp_ms for record in decode_records(batch)] == [NOW_MS + 9] * 3
    assert batch.base_timestamp == NOW_MS + 9


@pytest.mark.parametrize(
    ("name", "setting", "low", "high"),
    [
        ("gzip", "compression_gzip_level", 1, 9),
        ("lz4", "compression_lz4_level", 9, 12),
        ("zstd", "compression_zstd_level", -5, 19),
    ],
)
def test_the_topics_level_counts(name: str, setting: str, low: int, high: int) -> None:
    """compression.gzip.level, compression.lz4.level, compression.zstd.level."""
    text = b"".join(b"%d squared is %d, " % (i, i * i) for i in range(4000))
    sizes = [
        len(prepared(build_batch([Record(None, text, NOW_MS)]), compression_type=name, **{setting: level}))
        for level in (low, high)
    ]

    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
@pytest.mark.parametrize("config", [{"compression_type": "snappy"}, {"cleanup_policy": ("compact",)}])
def test_a_bomb_is_too_large(codec: Codec, config: dict[str, Any]) -> None:
    """A producer that meant it splits its batch; any other has cost 64 MiB for a moment."""
    bomb = build_batch([Record(b"k", bytes(1 << 20), NOW_MS)] * 70, codec=codec)

    assert len(bomb) < 1 << 20
    assert refusal(bomb, **config).code is ErrorCode.MESSAGE_TOO_LARGE
