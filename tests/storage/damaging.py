"""Makes logs of several segments and damages them: for the tests of what looks at damage and mends it."""

from pathlib import Path

from tests.storage.support import NOW_MS, Store, simple_batch
from wirekafka.protocol.records import ControlRecordType, EndTxnMarker, build_marker_batch
from wirekafka.storage import LogConfig, Origin

SEGMENT_BATCHES = 6
SMALL = LogConfig(segment_bytes=600, index_interval_bytes=100)
BATCH_BYTES = len(simple_batch(2))


def filled(store: Store, batches: int = 20, *, clean: bool = True) -> Store:
    """A stopped folder: batches of two records, six to a segment."""
    store.config = SMALL
    log = store.open()
    for number in range(batches):
        log.append(simple_batch(2, timestamp_ms=NOW_MS + number), leader_epoch=number // 10, now_ms=NOW_MS)
    log.flush()
    assert store.directory is not None
    store.directory.checkpoint()
    store.stop(clean=clean)
    return store


def filled_with_transactions(store: Store) -> Store:
    """A stopped folder with committed and aborted transactions over several segments."""
    store.config = LogConfig(segment_bytes=600)
    log = store.open()
    sequence = 0
    for number in range(6):
        for _ in range(3):
            batch = simple_batch(1, producer_id=5, producer_epoch=0, base_sequence=sequence, attributes=0x10)
            log.append(batch, leader_epoch=0, now_ms=NOW_MS)
            sequence += 1
        kind = ControlRecordType.ABORT if number % 2 else ControlRecordType.COMMIT
        marker = build_marker_batch(
            EndTxnMarker(kind, 0), timestamp_ms=NOW_MS, producer_id=5, producer_epoch=0
        )
        log.append(marker, leader_epoch=0, now_ms=NOW_MS, origin=Origin.COORDINATOR)
    store.stop()
    return store


def flip(path: Path, position: int, bit: int = 1) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[position] ^= bit
    path.write_bytes(data)


def overwrite(path: Path, position: int, data: bytes) -> None:
    """Put bytes in place of others."""
    there = bytearray(path.read_bytes())
    there[position : position + len(data)] = data
    path.write_bytes(there)
