"""What compaction leaves of one batch. Pure.

Made by `cleaner`, given each batch in order by `rewriting`. A batch of which everything stays is given back
as it is, to the byte. One that loses records keeps its offsets, sequence numbers and codec. A batch that
holds the last word on a producer stays as a header without records, so that the producer is still known.

A tombstone goes when its delete horizon has passed: that time is set by the first compaction that meets the
tombstone, and stands in the batch in place of its base timestamp (KIP-534). The same is true of the
marker of a transaction without records.

Source: Kafka's Cleaner (cleanInto, shouldRetainRecord) and MemoryRecords.filterTo.
"""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import HEADER_BYTES, Record, RecordBatch, decode_records
from wirekafka.protocol.records.batch import HEADER, LENGTH_PREFIX_BYTES, MAGIC_V2
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.protocol.records.compression import compress
from wirekafka.protocol.records.record import NO_TIMESTAMP, encode_record
from wirekafka.storage.cleaning.keys import RecordKey, keys_of
from wirekafka.storage.cleaning.offset_map import OffsetMap
from wirekafka.storage.cleaning.transactions import CleanedTransactions

DELETE_HORIZON_FLAG = 0x40
_CODEC_MASK = 0x07
_CRC_COVERS_FROM = 21
_NO_DATA = -1
_LONGEST_MS = (1 << 63) - 1


class LastBatch(NamedTuple):
    """The newest that a partition knows of a producer: its last data batch (-1: only markers), its epoch."""

    last_offset: int
    epoch: int


def delete_horizon_ms(batch: RecordBatch) -> int | None:
    """When the tombstones of a batch may go; None while no compaction has met them."""
    return batch.base_timestamp if batch.attributes & DELETE_HORIZON_FLAG else None


@dataclass(slots=True)
class BatchFilter:
    """The circumstances of one compaction; `retained` is asked of every batch in order."""

    newest: OffsetMap
    transactions: CleanedTransactions
    _: KW_ONLY
    high_watermark: int
    now_ms: int
    delete_retention_ms: int
    most_unpacked_bytes: int
    producers: Mapping[int, LastBatch] = field(default_factory=dict)
    """What is known of the producers that are not forgotten yet."""
    first_horizon_ms: int = _LONGEST_MS
    """The first of the delete horizons that are still to come."""

    def retained(self, batch: RecordBatch) -> bytes | memoryview | None:
        """The bytes that stay of a whole batch; None when it goes.

        Raises what `keys_of` and `rebuilt_batch` do.
        """
        may_drop = self.transactions.may_drop(batch)
        horizon_ms = delete_horizon_ms(batch)
        drops_all = may_drop
        if batch.is_control:
            drops_all = may_drop and horizon_ms is not None and horizon_ms <= self.now_ms
        stays_empty = self._is_last_word(batch)
        if drops_all and not stays_empty:
            return None
        keys = [] if drops_all else keys_of(batch, self.most_unpacked_bytes)
        kept = [n for n, key in enumerate(keys) if batch.is_control or self._stays(key, horizon_ms)]
        if not kept:
            return empty_batch(batch) if stays_empty else None
        waits = (batch.is_control and may_drop) or not all(keys[n].has_value for n in kept)
        sets_horizon = waits and horizon_ms is None
        if sets_horizon:
            horizon_ms = min(self.now_ms + self.delete_retention_ms, _LONGEST_MS)
        if waits and horizon_ms is not None:
            self.first_horizon_ms = min(self.first_horizon_ms, horizon_ms)
        if len(kept) == batch.record_count and not sets_horizon:
            return memoryview(batch.buffer)[batch.position : batch.position + batch.size_in_bytes]
        records = decode_records(batch, max_bytes=self.most_unpacked_bytes)
        return rebuilt_batch(batch, [records[n] for n in kept], horizon_ms)

    def _stays(self, record: RecordKey, horizon_ms: int | None) -> bool:
        if record.offset > self.newest.latest_offset:
            return True
        if record.key is None or record.offset < self.newest.newest(record.key):
            return False
        return record.has_value or horizon_ms is None or self.now_ms < horizon_ms

    def _is_last_word(self, batch: RecordBatch) -> bool:
        """Whether a header must stay: for what it says of a producer, or of where the log ends."""
        if batch.last_offset + 1 == self.high_watermark:
            return True
        last = self.producers.get(batch.producer_id)
        if last is None:
            return False
        if last.last_offset != _NO_DATA:
            return batch.last_offset == last.last_offset
        return batch.is_control and batch.producer_epoch == last.epoch


def rebuilt_batch(batch: RecordBatch, kept: list[Record], horizon_ms: int | None) -> bytes:
    """The batch with these of its records alone, and a delete horizon if it has one.

    Raises CORRUPT_MESSAGE for times that no batch can have: a producer may write a base timestamp to which
    its records add more than 64 bits hold.
    """
    times = [record.timestamp_ms for record in kept]
    base_timestamp = times[0] if horizon_ms is None else horizon_ms
    _check_times(base_timestamp, min(times), max(times))
    body = bytearray()
    for record in kept:
        encode_record(
            body,
            record,
            offset_delta=record.offset - batch.base_offset,
            timestamp_delta=record.timestamp_ms - base_timestamp,
        )
    stamped = batch.is_log_append_time
    return _batch(
        batch,
        compress(batch.codec, body),
        attributes=batch.attributes | (DELETE_HORIZON_FLAG if horizon_ms is not None else 0),
        times=(base_timestamp, batch.max_timestamp if stamped else max(times)),
        record_count=len(kept),
    )


def _check_times(base_ms: int, oldest_ms: int, newest_ms: int) -> None:
    """Hold times, and how far they are from the base, against what is written of them."""
    least = min(base_ms, oldest_ms, oldest_ms - base_ms)
    most = max(base_ms, newest_ms, newest_ms - base_ms)
    if least < -_LONGEST_MS - 1 or most > _LONGEST_MS:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"its records have times from {oldest_ms} to {newest_ms}, past 64 bits"
        )


def empty_batch(batch: RecordBatch) -> bytes:
    """The header of a batch without its records: offsets, times and what it says of its producer."""
    return _batch(
        batch,
        b"",
        attributes=batch.attributes & ~_CODEC_MASK & ~DELETE_HORIZON_FLAG,
        times=(NO_TIMESTAMP, batch.max_timestamp),
        record_count=0,
    )


def _batch(
    batch: RecordBatch, payload: bytes, *, attributes: int, times: tuple[int, int], record_count: int
) -> bytes:
    fields = [
        batch.base_offset,
        HEADER_BYTES + len(payload) - LENGTH_PREFIX_BYTES,
        batch.partition_leader_epoch,
        MAGIC_V2,
        0,
        attributes,
        batch.last_offset_delta,
        *times,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        record_count,
    ]
    whole = bytearray(HEADER_BYTES)
    whole += payload
    HEADER.pack_into(whole, 0, *fields)
    fields[4] = crc32c(memoryview(whole)[_CRC_COVERS_FROM:])
    HEADER.pack_into(whole, 0, *fields)
    return bytes(whole)
