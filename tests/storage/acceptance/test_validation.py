"""Tests of acceptance.validation, after ProduceRequest.validateRecords, UnifiedLog and LogValidator."""

import struct
from typing import Any

import pytest

from tests.storage.support import NOW_MS, TOPIC_PARTITION, simple_batch
from wirekafka.protocol.error_codes import ErrorCode, InvalidRecords, KafkaError
from wirekafka.protocol.records import Codec, Record, RecordBatch, build_batch
from wirekafka.storage.acceptance.validation import Origin, check, validate
from wirekafka.storage.config import LogConfig

LAST_OFFSET_DELTA, RECORD_COUNT, BASE_OFFSET, LENGTH, MAGIC, ATTRIBUTES = 23, 57, 0, 8, 16, 21


def checked(records: bytearray, *, origin: Origin = Origin.CLIENT, **config: Any) -> RecordBatch:
    return validate(records, TOPIC_PARTITION, LogConfig(**config), origin=origin, now_ms=NOW_MS)


def refusal(records: bytearray, **options: Any) -> KafkaError:
    with pytest.raises(KafkaError) as caught:
        checked(records, **options)
    return caught.value


def changed(batch: bytearray, position: int, form: str, value: int) -> bytearray:
    """The batch with a field changed, and the CRC right."""
    struct.pack_into(form, batch, position, value)
    view = RecordBatch(batch)
    crc = view._computed_crc()
    struct.pack_into(">I", batch, 17, crc)
    return batch


def test_a_good_batch_passes_unchanged() -> None:
    """Not a byte is touched."""
    for codec in Codec:
        batch = simple_batch(3, codec=codec)
        before = bytes(batch)

        assert checked(batch).record_count == 3
        assert bytes(batch) == before


def test_a_memoryview_inside_a_frame_is_accepted() -> None:
    """Produce hands in a slice of the request, without copying."""
    batch = simple_batch()
    frame = bytearray(b"head") + batch + b"tail"

    view = memoryview(frame)[4 : 4 + len(batch)]

    assert validate(view, TOPIC_PARTITION, LogConfig(), origin=Origin.CLIENT, now_ms=NOW_MS).crc_ok()


@pytest.mark.parametrize("length", [0, 5, 16, 60, 76])
def test_no_whole_batch_is_an_invalid_record(length: int) -> None:
    """Nothing, or a part of one."""
    error = refusal(simple_batch()[:length])

    assert error.code is ErrorCode.INVALID_RECORD
    assert "a whole record batch" in error.message
    assert "t-0" in error.message


def test_two_batches_are_an_invalid_record() -> None:
    """Exactly one per partition since Produce v3."""
    error = refusal(simple_batch() + simple_batch())

    assert error.code is ErrorCode.INVALID_RECORD
    assert "exactly one record batch" in error.message


def test_a_piece_behind_the_batch_is_passed_over() -> None:
    """Kafka trims a torn second batch; the one that is whole counts."""
    batch = simple_batch()

    assert checked(batch + batch[:40]).size_in_bytes == len(batch)
    assert checked(batch + b"123").size_in_bytes == len(batch)
    assert checked(batch + batch[:14]).size_in_bytes == len(batch)


def test_garbage_behind_the_batch_is_corrupt() -> None:
    """A length that no batch has, or a magic that none has."""
    assert refusal(simple_batch() + bytes(30)).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [0, 1])
def test_old_formats_are_an_invalid_record(magic: int) -> None:
    """A 4.x broker takes magic 2 alone (ProduceRequest.validateRecords)."""
    error = refusal(changed(simple_batch(), MAGIC, ">b", magic))

    assert error.code is ErrorCode.INVALID_RECORD
    assert f"magic {magic}" in error.message


@pytest.mark.parametrize("magic", [3, 127, -1])
def test_a_magic_that_does_not_exist_is_corrupt(magic: int) -> None:
    """ByteBufferLogInputStream calls it corruption."""
    assert refusal(changed(simple_batch(), MAGIC, ">b", magic)).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [-1, 0, 13, 14, 48])
def test_a_length_below_the_header_is_corrupt(length: int) -> None:
    """14 is the least of any format, 49 of magic 2."""
    batch = simple_batch()
    struct.pack_into(">i", batch, LENGTH, length)

    assert refusal(batch[: max(12 + length, 20)]).code is ErrorCode.CORRUPT_MESSAGE


def test_a_base_offset_other_than_zero_is_refused_from_clients_only() -> None:
    """Brokers assign offsets (UnifiedLog.analyzeAndValidateRecords)."""
    error = refusal(simple_batch(base_offset=5))

    assert (error.code, "base offset is 5" in error.message) == (ErrorCode.INVALID_RECORD, True)
    assert checked(simple_batch(base_offset=5), origin=Origin.COORDINATOR).base_offset == 5


def test_size_is_held_against_max_message_bytes() -> None:
    """The batch with its header counts; the limit itself is allowed."""
    batch = simple_batch()

    assert checked(batch, max_message_bytes=len(batch)).crc_ok()
    assert refusal(batch, max_message_bytes=len(batch) - 1).code is ErrorCode.MESSAGE_TOO_LARGE


def test_size_is_held_against_segment_bytes() -> None:
    """A batch has to fit into a segment."""
    batch = simple_batch()

    assert checked(batch, segment_bytes=len(batch)).crc_ok()
    assert refusal(batch, segment_bytes=len(batch) - 1).code is ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_wrong_crc_is_corrupt() -> None:
    """Any byte behind the CRC."""
    batch = simple_batch()
    batch[-1] ^= 1

    assert refusal(batch).code is ErrorCode.CORRUPT_MESSAGE
    assert refusal(batch, origin=Origin.COORDINATOR).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist_is_unsupported(codec: int) -> None:
    """Kafka answers UNKNOWN_SERVER_ERROR here; we say what is wrong."""
    error = refusal(changed(simple_batch(), ATTRIBUTES, ">h", codec))

    assert error.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


@pytest.mark.parametrize(
    ("count", "delta"), [(0, -1), (0, 0), (-1, -2), (2, 0), (1, 1), (1, -1), (1, 2147483647)]
)
def test_the_count_has_to_agree_with_the_offsets(count: int, delta: int) -> None:
    """A lie here would shift every later offset."""
    batch = changed(simple_batch(), LAST_OFFSET_DELTA, ">i", delta)
    batch = changed(batch, RECORD_COUNT, ">i", count)

    assert refusal(batch).code is ErrorCode.INVALID_RECORD


def test_more_records_than_the_bytes_can_hold_are_refused() -> None:
    """Count and last offset may agree with each other and lie: the log's end would leap ahead."""
    batch = changed(simple_batch(2), LAST_OFFSET_DELTA, ">i", 2147483646)
    batch = changed(batch, RECORD_COUNT, ">i", 2147483647)
    smallest = build_batch([Record(timestamp_ms=NOW_MS)] * 3)

    assert refusal(batch).code is ErrorCode.INVALID_RECORD
    assert checked(smallest).record_count == 3


def test_clients_may_not_write_control_batches() -> None:
    """The coordinator may."""
    error = refusal(simple_batch(attributes=0x20, producer_id=1, base_sequence=0, producer_epoch=0))

    assert (error.code, "control" in error.message) == (ErrorCode.INVALID_RECORD, True)
    assert checked(simple_batch(attributes=0x30, producer_id=1), origin=Origin.COORDINATOR).is_control


def test_a_producer_id_needs_a_sequence_from_clients_only() -> None:
    """The group coordinator writes offsets of a transaction without sequences."""
    assert refusal(simple_batch(producer_id=1, producer_epoch=0)).code is ErrorCode.INVALID_RECORD
    assert checked(simple_batch(producer_id=1, producer_epoch=0), origin=Origin.COORDINATOR).producer_id == 1


def test_a_producer_id_with_a_sequence_passes() -> None:
    """What an idempotent producer sends."""
    assert checked(simple_batch(producer_id=1, producer_epoch=0, base_sequence=0)).base_sequence == 0


def test_a_transactional_batch_needs_a_producer_id() -> None:
    """There is no transaction without a producer."""
    error = refusal(simple_batch(attributes=0x10))

    assert (error.code, "no producer id" in error.message) == (ErrorCode.INVALID_RECORD, True)


@pytest.mark.parametrize("origin", list(Origin))
@pytest.mark.parametrize(
    ("timestamp_ms", "passes"),
    [(NOW_MS + 50, True), (NOW_MS + 51, False), (NOW_MS - 100, True), (NOW_MS - 101, False), (-1, True)],
)
def test_timestamps_have_to_be_within_the_window(origin: Origin, timestamp_ms: int, passes: bool) -> None:
    """message.timestamp.before.max.ms and after.max.ms, both inclusive; no timestamp always passes."""
    batch = simple_batch(timestamp_ms=timestamp_ms)
    window = {"message_timestamp_before_max_ms": 100, "message_timestamp_after_max_ms": 50}

    if passes:
        assert checked(batch, origin=origin, **window).max_timestamp == timestamp_ms
    else:
        assert refusal(batch, origin=origin, **window).code is ErrorCode.INVALID_TIMESTAMP


def test_a_refused_timestamp_names_its_records() -> None:
    """The client is told which records of the batch to blame, by index."""
    times = [NOW_MS, NOW_MS + 9_000_000, NOW_MS, NOW_MS + 8_000_000]
    error = refusal(build_batch([Record(None, b"", time) for time in times], codec=Codec.GZIP))

    assert isinstance(error, InvalidRecords)
    assert [index for index, _ in error.record_errors] == [1, 3]
    assert str(NOW_MS + 9_000_000) in error.record_errors[0][1]


def test_the_first_record_is_held_against_the_window_too() -> None:
    """An old first record is seen though the newest is recent."""
    batch = build_batch([Record(None, b"", 5), Record(None, b"", NOW_MS)])
    error = refusal(batch, message_timestamp_before_max_ms=100)

    assert isinstance(error, InvalidRecords)
    assert [index for index, _ in error.record_errors] == [0]


def test_many_records_are_not_blamed_one_by_one() -> None:
    """Decoding a large batch to refuse it would be work for nothing."""
    error = refusal(simple_batch(1001, size=1, timestamp_ms=NOW_MS + 9_000_000))

    assert isinstance(error, InvalidRecords)
    assert error.record_errors == []


def test_log_append_time_stamps_the_batch() -> None:
    """Type, maximum and CRC; the window does not matter then."""
    batch = simple_batch(2, timestamp_ms=5)

    checked(batch, message_timestamp_type="LogAppendTime", message_timestamp_before_max_ms=1)

    read = RecordBatch(batch)
    assert (read.is_log_append_time, read.max_timestamp, read.crc_ok()) == (True, NOW_MS, True)
    assert read.base_timestamp == 5


def test_a_producer_may_not_claim_log_append_time() -> None:
    """On a LogAppendTime topic, and without a timestamp (LogValidator.validateTimestamp)."""
    claimed = refusal(simple_batch(attributes=0x08), message_timestamp_type="LogAppendTime")
    nothing = refusal(simple_batch(attributes=0x08, timestamp_ms=-1))

    assert (claimed.code, nothing.code) == (ErrorCode.INVALID_TIMESTAMP, ErrorCode.INVALID_TIMESTAMP)
    assert isinstance(claimed, InvalidRecords)
    assert claimed.record_errors[0][0] == 0


def test_a_claim_of_log_append_time_is_taken_back_on_a_create_time_topic() -> None:
    """Kafka rewrites the type to the topic's."""
    batch = simple_batch(attributes=0x08)

    checked(batch)

    read = RecordBatch(batch)
    assert (read.is_log_append_time, read.max_timestamp, read.crc_ok()) == (False, NOW_MS, True)


def test_errors_are_raised_in_kafkas_order() -> None:
    """Size before CRC before the client's rules before time."""
    batch = simple_batch(attributes=0x20, timestamp_ms=NOW_MS + 9_000_000)
    assert refusal(batch).code is ErrorCode.INVALID_RECORD

    batch[-1] ^= 1
    assert refusal(batch).code is ErrorCode.CORRUPT_MESSAGE
    assert refusal(batch, max_message_bytes=10).code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_compacted_topics_take_no_record_without_a_key(codec: Codec) -> None:
    """Nothing could ever take its place. Each keyless record is named."""
    records = [Record(key=b"k"), Record(), Record(key=b""), Record()]
    batch = build_batch(records, timestamp_ms=NOW_MS, codec=codec)
    error = refusal(batch, cleanup_policy=("delete", "compact"))

    assert isinstance(error, InvalidRecords)
    assert error.code is ErrorCode.INVALID_RECORD
    assert [index for index, _ in error.record_errors] == [1, 3]
    assert (
        checked(build_batch(records[:1], timestamp_ms=NOW_MS), cleanup_policy=("compact",)).record_count == 1
    )
    assert checked(build_batch(records, timestamp_ms=NOW_MS)).record_count == 4


def test_each_record_has_to_be_young_enough_where_age_is_limited() -> None:
    """An old record between two new ones is not told by the header."""
    times = [NOW_MS, NOW_MS - 1000, NOW_MS]
    batch = build_batch([Record(timestamp_ms=time) for time in times])
    error = refusal(batch, message_timestamp_before_max_ms=500)

    assert isinstance(error, InvalidRecords)
    assert (error.code, [index for index, _ in error.record_errors]) == (ErrorCode.INVALID_TIMESTAMP, [1])


def test_every_record_is_blamed_for_a_timestamp_type_that_is_not_the_producers_to_set() -> None:
    """Kafka's answer names each of them."""
    error = refusal(simple_batch(2, attributes=0x08), message_timestamp_type="LogAppendTime")

    assert isinstance(error, InvalidRecords)
    assert [index for index, _ in error.record_errors] == [0, 1]


def test_checking_alone_gives_a_batch_no_time() -> None:
    """What a thread does before the append leaves to it what is the log's to give."""
    batch = simple_batch(2, timestamp_ms=5)
    before = bytes(batch)
    config = LogConfig(message_timestamp_type="LogAppendTime", cleanup_policy=("delete",))

    assert check(batch, TOPIC_PARTITION, config, origin=Origin.CLIENT, now_ms=NOW_MS).record_count == 2
    assert bytes(batch) == before


def test_what_has_been_looked_into_is_not_looked_into_again() -> None:
    """The header is checked all the same, for the batch may be another one."""
    keyless, config = simple_batch(2), LogConfig(cleanup_policy=("compact",))

    def once_more(records: bytearray) -> RecordBatch:
        return validate(
            records, TOPIC_PARTITION, config, origin=Origin.CLIENT, now_ms=NOW_MS, looked_inside=True
        )

    assert once_more(keyless).record_count == 2
    keyless[-1] ^= 1
    with pytest.raises(KafkaError) as caught:
        once_more(keyless)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_a_header_that_lies_about_its_largest_time_is_put_right() -> None:
    """No record is at fault, so none is refused (LogValidator goes by the records)."""
    batch = simple_batch(2)
    RecordBatch(batch).set_timestamp_type(log_append_time=False, max_timestamp=NOW_MS + 9_000_000)

    assert checked(batch).max_timestamp == NOW_MS
    assert RecordBatch(batch).crc_ok()


def test_no_record_is_blamed_in_a_batch_that_is_large_when_unpacked() -> None:
    """A refusal is not worth a megabyte."""
    records = [Record(b"k", bytes(600_000), NOW_MS + 9_000_000)] * 2
    error = refusal(build_batch(records, codec=Codec.ZSTD))

    assert isinstance(error, InvalidRecords)
    assert (error.code, error.record_errors) == (ErrorCode.INVALID_TIMESTAMP, [])


def with_base_timestamp(batch: bytearray, base_timestamp: int) -> bytearray:
    """The batch, with another base in front of the deltas, and a CRC that is right."""
    batch[27:35] = base_timestamp.to_bytes(8, "big", signed=True)
    read = RecordBatch(batch)
    read.set_timestamp_type(log_append_time=False, max_timestamp=read.max_timestamp)
    return batch


def test_a_base_timestamp_is_held_to_the_window_too() -> None:
    """The largest may be in order, and the times of the records are none at all."""
    batch = with_base_timestamp(
        build_batch([Record(timestamp_ms=NOW_MS + add) for add in (0, 10)]), 2**63 - 1
    )

    assert refusal(batch).code is ErrorCode.INVALID_RECORD


def test_times_that_are_none_are_refused_where_the_broker_sets_the_time() -> None:
    """A compacted topic's records are looked into all the same, and the header cannot have such a time."""
    batch = with_base_timestamp(
        build_batch([Record(b"k", timestamp_ms=NOW_MS + add) for add in (0, 10)]), 2**63 - 1
    )

    error = refusal(batch, message_timestamp_type="LogAppendTime", cleanup_policy=("compact",))

    assert error.code is ErrorCode.INVALID_RECORD
