"""What the tests of compaction share: batches with keys, a log to compact, what is left in it."""

from typing import Any

from tests.storage.support import NOW_MS, Store
from wirekafka.protocol.records import Codec, Record, build_batch, decode_records
from wirekafka.protocol.records.batch import TRANSACTIONAL_FLAG, RecordBatch
from wirekafka.protocol.records.control import ControlRecordType, EndTxnMarker, build_marker_batch
from wirekafka.storage import LogConfig, Origin, PartitionLog
from wirekafka.storage.cleaning import Cleaned, OffsetMap, clean, cleanable

ROOM = 1 << 20
COMPACTED = LogConfig(
    cleanup_policy=("compact",),
    min_cleanable_dirty_ratio=0.0,
    segment_bytes=1 << 20,
    index_interval_bytes=200,
)

KeyAndValue = tuple[str, str | None]


def keyed_batch(
    *pairs: KeyAndValue, timestamp_ms: int = NOW_MS, codec: int = Codec.NONE, **header: Any
) -> bytearray:
    """A batch of records with these keys and values; no value is a tombstone."""
    records = [Record(k.encode(), None if v is None else v.encode(), timestamp_ms) for k, v in pairs]
    return build_batch(records, codec=codec, **header)


def put(log: PartitionLog, *pairs: KeyAndValue, **header: Any) -> int:
    """Append one batch; give its base offset."""
    appended = log.append(keyed_batch(*pairs, **header), leader_epoch=0, now_ms=NOW_MS)
    return appended.base_offset


def put_transactional(log: PartitionLog, *pairs: KeyAndValue, producer_id: int, **header: Any) -> int:
    """Append one batch of a producer's transaction."""
    return put(
        log,
        *pairs,
        producer_id=producer_id,
        producer_epoch=0,
        attributes=TRANSACTIONAL_FLAG,
        **header,
    )


def end_transaction(log: PartitionLog, producer_id: int, *, commit: bool, timestamp_ms: int = NOW_MS) -> int:
    """Append the marker; give its offset."""
    kind = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
    marker = build_marker_batch(
        EndTxnMarker(kind, 0), producer_id=producer_id, producer_epoch=0, timestamp_ms=timestamp_ms
    )
    return log.append(marker, leader_epoch=0, now_ms=NOW_MS, origin=Origin.COORDINATOR).base_offset


def seal(log: PartitionLog) -> None:
    """Let all that is in the log be compacted."""
    log.roll(NOW_MS)
    log.flush()


def compact(
    log: PartitionLog,
    *,
    cleaned_up_to: int | None = None,
    now_ms: int = NOW_MS,
    room: int = ROOM,
    gone: list[str] | None = None,
    **named: Any,
) -> Cleaned:
    """Compact what can be."""
    what = cleanable(
        log,
        cleaned_up_to,
        high_watermark=log.log_end_offset,
        flushed_up_to=log.recovery_point,
        now_ms=now_ms,
    )
    drop = ([] if gone is None else gone).extend
    return clean(what, OffsetMap(room), high_watermark=log.log_end_offset, now_ms=now_ms, drop=drop, **named)


def batches(log: PartitionLog) -> list[RecordBatch]:
    return list(log.batches(0))


def contents(log: PartitionLog) -> list[tuple[int, str, str | None]]:
    """Offset, key and value of every record that is left, but of markers."""
    return [
        (r.offset, (r.key or b"").decode(), None if r.value is None else r.value.decode())
        for batch in batches(log)
        if not batch.is_control
        for r in decode_records(batch)
    ]


def reopened(store: Store, *, clean_stop: bool) -> PartitionLog:
    store.stop(clean=clean_stop)
    return store.open()
