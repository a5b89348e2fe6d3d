"""Tests of storage.cleaning.cleaner: what a compaction leaves of a whole log."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.cleaning.support import (
    COMPACTED,
    batches,
    compact,
    contents,
    end_transaction,
    keyed_batch,
    put,
    put_transactional,
    reopened,
    seal,
)
from tests.storage.support import NOW_MS, Store, UnsyncedFiles
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec, RecordBatch, batches_in, decode_records
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.cleaning.offset_map import BYTES_AN_ENTRY


@pytest.fixture
def compacted(store: Store) -> Store:
    """A log that is compacted."""
    store.config = COMPACTED
    return store


def test_of_every_key_the_newest_record_stays_where_it_was(compacted: Store) -> None:
    """Offsets never change."""
    log = compacted.open()
    put(log, ("a", "1"), ("b", "1"), ("a", "2"))
    put(log, ("c", "1"))
    put(log, ("a", "3"), ("b", "2"))
    seal(log)

    cleaned = compact(log)

    assert contents(log) == [(3, "c", "1"), (4, "a", "3"), (5, "b", "2")]
    assert (cleaned.end_offset, log.log_end_offset) == (6, 6)


def test_the_active_segment_is_left_alone(compacted: Store) -> None:
    """It is appended to; its records count for nothing yet."""
    log = compacted.open()
    put(log, ("a", "1"))
    seal(log)
    put(log, ("a", "2"))

    compact(log)

    assert contents(log) == [(0, "a", "1"), (1, "a", "2")]


def test_a_batch_that_loses_nothing_stays_to_the_byte(compacted: Store) -> None:
    """It is not even unpacked to be packed again."""
    log = compacted.open()
    put(log, ("a", "1"))
    put(log, ("b", "x" * 100), ("c", "y" * 100), codec=Codec.GZIP)
    put(log, ("a", "2"))
    seal(log)
    before = [bytes(batch) for batch in batches(log)]

    compact(log)

    assert [bytes(batch) for batch in batches(log)] == before[1:]


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_that_loses_records_keeps_its_codec(compacted: Store, codec: Codec) -> None:
    """And its offsets, leader epoch and CRC are right."""
    log = compacted.open()
    put(log, ("a", "1"), ("b", "1"), ("c", "1"), codec=codec)
    put(log, ("a", "2"), ("c", "2"))
    seal(log)

    compact(log)

    first = batches(log)[0]
    assert contents(log) == [(1, "b", "1"), (3, "a", "2"), (4, "c", "2")]
    assert (first.codec, first.base_offset, first.last_offset, first.record_count) == (codec, 0, 2, 1)
    assert first.crc_ok()


def test_small_segments_become_one(compacted: Store) -> None:
    """As many as fit; reads and a restart find everything."""
    log = compacted.open()
    for i in range(6):
        put(log, ("k", str(i)), (f"k{i}", "v"))
        seal(log)
    assert len(log.segments.all()) == 7

    compact(log)

    assert len(log.segments.all()) == 2
    expected = [*((2 * i + 1, f"k{i}", "v") for i in range(5)), (10, "k", "5"), (11, "k5", "v")]
    assert contents(log) == expected
    log = reopened(compacted, clean_stop=True)
    assert contents(log) == expected
    log = reopened(compacted, clean_stop=False)
    assert contents(log) == expected


def test_segments_that_do_not_fit_stay_several(store: Store) -> None:
    """A group ends before it grows past segment.bytes."""
    store.config = LogConfig(cleanup_policy=("compact",), segment_bytes=400)
    log = store.open()
    for i in range(12):
        put(log, (f"k{i}", "v" * 60))
    seal(log)

    compact(log)

    assert len(log.segments.all()) > 3
    assert all(segment.size <= 400 for segment in log.segments.all())
    assert len(contents(log)) == 12


def test_offsets_in_a_gap_lead_to_the_next_record(compacted: Store) -> None:
    """A consumer that asks for a record which is gone goes on behind it."""
    log = compacted.open()
    for i in range(50):
        put(log, ("k", str(i)), timestamp_ms=NOW_MS + i)
    seal(log)
    put(log, ("z", "1"))

    compact(log)

    for offset in (0, 7, 49):
        piece = log.read(offset, 1000, up_to_offset=51, at_least_one_batch=True)
        assert next(batches_in(piece.read())).base_offset == 49
    assert any(segment.max_timestamp >= NOW_MS + 3 for segment in log.segments.all())


def test_a_reader_with_a_slice_reads_on(compacted: Store) -> None:
    """The old files are only renamed, and stay open for whoever holds them."""
    log = compacted.open()
    put(log, ("a", "1"))
    put(log, ("a", "2"))
    seal(log)
    held = log.read(0, 1000, up_to_offset=2, at_least_one_batch=True)

    gone: list[str] = []
    compact(log, gone=gone)
    assert gone
    for path in gone:
        compacted.files.unlink(path)

    assert [batch.base_offset for batch in batches_in(held.read())] == [0, 1]


def test_what_an_attempt_before_has_left_goes_first(compacted: Store) -> None:
    """Of whatever segment: a start that finds one half written takes all behind it for undone."""
    log = compacted.open()
    for value in "12":
        put(log, ("a", value), ("b", value))
        seal(log)
    for name in (f"{0:020d}.index.cleaned", f"{2:020d}.log.cleaned", f"{2:020d}.log.swap"):
        (compacted.folder / name).write_bytes(b"half")

    compact(log)

    assert [p.name for p in compacted.folder.iterdir() if p.name.endswith((".cleaned", ".swap"))] == []
    assert contents(log) == [(2, "a", "2"), (3, "b", "2")]


def test_a_log_that_has_failed_is_left_for_a_start_to_mend(compacted: Store) -> None:
    """Half a swap may be the only copy of what it replaces."""
    log = compacted.open()
    put(log, ("a", "1"))
    seal(log)
    only_copy = compacted.folder / f"{0:020d}.log.swap"
    only_copy.write_bytes(b"all there is")
    log.failed = True

    with pytest.raises(KafkaError) as caught:
        compact(log)

    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert only_copy.read_bytes() == b"all there is"


# --- tombstones


def test_a_tombstone_stays_until_its_horizon_and_deletes_at_once(store: Store) -> None:
    """KIP-534: the first compaction sets the horizon; one after it drops the tombstone."""
    store.config = LogConfig(cleanup_policy=("compact",), delete_retention_ms=1000)
    log = store.open()
    put(log, ("a", "1"), ("b", "1"))
    put(log, ("a", None))
    seal(log)

    first = compact(log)
    assert contents(log) == [(1, "b", "1"), (2, "a", None)]
    assert first.first_horizon_ms == NOW_MS + 1000
    compact(log, cleaned_up_to=3, now_ms=NOW_MS + 999)
    assert contents(log) == [(1, "b", "1"), (2, "a", None)]
    compact(log, cleaned_up_to=3, now_ms=NOW_MS + 1000)

    assert contents(log)[:1] == [(1, "b", "1")]
    assert [c for c in contents(log) if c[1] == "a"] == []


def test_the_last_batch_stays_as_a_header(compacted: Store) -> None:
    """Kafka keeps what tells where the log ends: the batch in front of the high watermark."""
    store = compacted
    log = store.open()
    put(log, ("a", "1"))
    put(log, ("a", None))
    seal(log)
    compact(log)

    compact(log, cleaned_up_to=2, now_ms=NOW_MS + COMPACTED.delete_retention_ms)

    (last,) = batches(log)
    assert (last.base_offset, last.last_offset, last.record_count) == (1, 1, 0)


# --- producers


def test_the_last_batch_of_a_producer_stays_as_a_header(compacted: Store) -> None:
    """So that a restart, even without its snapshots, still knows the sequence numbers."""
    log = compacted.open()
    put(log, ("a", "1"), ("b", "1"), producer_id=7, producer_epoch=0, base_sequence=0)
    put(log, ("a", "2"), ("b", "2"))
    seal(log)

    compact(log)

    header = batches(log)[0]
    assert (header.producer_id, header.last_offset, header.record_count, header.codec) == (7, 1, 0, 0)
    compacted.stop(clean=False)
    for path in compacted.folder.glob("*.snapshot"):
        path.unlink()
    log = compacted.open()
    repeated = keyed_batch(("a", "1"), ("b", "1"), producer_id=7, producer_epoch=0, base_sequence=0)
    again = log.append(repeated, leader_epoch=0, now_ms=NOW_MS)
    assert (again.duplicate, again.base_offset) == (True, 0)


# --- transactions


def test_what_was_aborted_goes_at_once_and_counts_for_nothing(compacted: Store) -> None:
    """The older value, which is committed, stays; the marker stays for as long as its batches were there."""
    log = compacted.open()
    put(log, ("a", "committed"))
    put_transactional(log, ("a", "aborted"), producer_id=1, base_sequence=0)
    marker = end_transaction(log, 1, commit=False)
    put_transactional(log, ("b", "committed"), producer_id=1, base_sequence=1)
    end_transaction(log, 1, commit=True)
    put(log, ("z", "end"))
    seal(log)

    compact(log)

    assert contents(log) == [(0, "a", "committed"), (3, "b", "committed"), (5, "z", "end")]
    assert [b.base_offset for b in batches(log) if b.is_control] == [marker, 4]
    assert log.aborted_transactions(0, 6) == [(1, 1)]
    assert compacted.folder.joinpath(f"{0:020d}.txnindex").stat().st_size == 34


@pytest.mark.parametrize("keys", range(1, 6))
def test_what_was_aborted_stays_so_where_no_room_is_left(compacted: Store, keys: int) -> None:
    """The rest of the segment in which the map was full is written anew as well, markers and all."""
    log = compacted.open()
    put(log, ("a", "1"), ("b", "1"))
    put_transactional(log, ("x", "aborted"), producer_id=1, base_sequence=0)
    put(log, ("c", "1"))
    put_transactional(log, ("y", "aborted"), producer_id=2, base_sequence=0)
    marker = end_transaction(log, 1, commit=False)
    put(log, ("d", "1"), ("a", "2"))
    seal(log)
    end_transaction(log, 2, commit=False)
    put(log, ("z", "end"))
    seal(log)
    aborted = log.aborted_transactions(0, log.log_end_offset)
    expected = [(1, "b", "1"), (3, "c", "1"), (6, "d", "1"), (7, "a", "2"), (9, "z", "end")]

    first = compact(log, room=int(keys * BYTES_AN_ENTRY / 0.9) + 1)

    assert [value for _, _, value in contents(log) if value == "aborted"] == []
    assert log.aborted_transactions(0, log.log_end_offset) == aborted == [(1, 2), (2, 4)]
    assert marker in [batch.base_offset for batch in batches(log) if batch.is_control]
    compact(log, cleaned_up_to=first.end_offset)
    assert contents(log)[-1] == expected[-1]
    assert set(expected) <= set(contents(log))


def test_an_open_transaction_is_not_compacted(compacted: Store) -> None:
    """Nothing at or behind the last stable offset is."""
    log = compacted.open()
    put(log, ("a", "1"))
    put(log, ("a", "2"))
    seal(log)
    put_transactional(log, ("a", "3"), producer_id=1, base_sequence=0)
    seal(log)
    put(log, ("b", "1"))
    seal(log)

    cleaned = compact(log)

    assert cleaned.end_offset == 2
    assert contents(log) == [(1, "a", "2"), (2, "a", "3"), (3, "b", "1")]


def test_a_marker_goes_after_its_transaction_and_its_horizon(store: Store) -> None:
    """The second compaction finds no batch of it and sets a horizon; the one after that drops it."""
    store.config = LogConfig(cleanup_policy=("compact",), delete_retention_ms=1000)
    log = store.open()
    put_transactional(log, ("a", "1"), producer_id=1, base_sequence=0)
    end_transaction(log, 1, commit=True)
    put_transactional(log, ("b", "1"), producer_id=1, base_sequence=1)
    end_transaction(log, 1, commit=True)
    put(log, ("a", "2"))
    seal(log)

    compact(log)
    compact(log, cleaned_up_to=5, now_ms=NOW_MS)
    assert [b.base_offset for b in batches(log) if b.is_control] == [1, 3]
    compact(log, cleaned_up_to=5, now_ms=NOW_MS + 1000)

    assert [b.base_offset for b in batches(log) if b.is_control] == [3]


# --- all of it, against a dict

KEYS = st.sampled_from("abcdef")
VALUES = st.none() | st.integers(0, 99).map(str)
RECORDS = st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), RECORDS, st.integers(0, 3), st.sampled_from(list(Codec))),
        st.tuples(st.just("transaction"), RECORDS, st.booleans(), st.integers(11, 12)),
        st.tuples(st.just("roll")),
        st.tuples(st.just("compact"), st.integers(1, 8)),
        st.tuples(st.just("wait"), st.integers(1, 80)),
        st.tuples(st.just("restart"), st.booleans()),
    ),
    max_size=40,
)
RETENTION_MS = 50


@dataclass
class Model:
    """A log and the dict that it stands for."""

    store: Store
    log: PartitionLog
    values: dict[str, str | None] = field(default_factory=dict)
    sequences: dict[int, int] = field(default_factory=dict)
    now_ms: int = NOW_MS
    cleaned_up_to: int | None = None

    def append(self, records: list[tuple[str, str | None]], producer: int, codec: int) -> None:
        """Producer 0 stands for none."""
        header = {"codec": codec, "timestamp_ms": self.now_ms}
        if producer:
            header |= {
                "producer_id": producer,
                "producer_epoch": 0,
                "base_sequence": self._sequence(producer),
            }
            self.sequences[producer] = self._sequence(producer) + len(records)
        put(self.log, *records, **header)
        self.values.update(records)

    def transaction(self, records: list[tuple[str, str | None]], commit: bool, producer: int) -> None:
        sequence = self._sequence(producer)
        put_transactional(self.log, *records, producer_id=producer, base_sequence=sequence)
        self.sequences[producer] = sequence + len(records)
        end_transaction(self.log, producer, commit=commit)
        if commit:
            self.values.update(records)

    def _sequence(self, producer: int) -> int:
        return self.sequences.get(producer, 0)

    def roll(self) -> None:
        self.log.roll(self.now_ms)

    def wait(self, time_ms: int) -> None:
        self.now_ms += time_ms

    def compact(self, keys: int) -> None:
        """With memory for a few keys only."""
        self.log.flush()
        cleaned = compact(
            self.log,
            cleaned_up_to=self.cleaned_up_to,
            now_ms=self.now_ms,
            room=int(keys * BYTES_AN_ENTRY / 0.9),
        )
        self.cleaned_up_to = cleaned.end_offset

    def restart(self, clean_stop: bool) -> None:
        self.log = reopened(self.store, clean_stop=clean_stop)

    def check(self) -> None:
        """What a reader of committed records finds is the dict; producers go on where they were."""
        aborted = self.log.aborted_transactions(0, self.log.log_end_offset)
        found: dict[str, str | None] = {}
        last = -1
        for batch in batches(self.log):
            assert batch.base_offset > last
            assert batch.crc_ok()
            last = batch.last_offset
            if batch.is_control or self._is_aborted(batch, aborted):
                continue
            for record in decode_records(batch):
                value = None if record.value is None else record.value.decode()
                found[(record.key or b"").decode()] = value
        assert {k: v for k, v in found.items() if v is not None} == {
            k: v for k, v in self.values.items() if v is not None
        }
        for producer, sequence in self.sequences.items():
            assert self.log.producers.producers[producer].last_sequence == sequence - 1

    def _is_aborted(self, batch: RecordBatch, aborted: list[tuple[int, int]]) -> bool:
        if not batch.is_transactional:
            return False
        first = max(
            (start for who, start in aborted if who == batch.producer_id and start <= batch.base_offset),
            default=None,
        )
        if first is None:
            return False
        markers = [b for b in batches(self.log) if b.is_control and b.producer_id == batch.producer_id]
        return batch.last_offset < next(b.base_offset for b in markers if b.base_offset > first)


@settings(max_examples=150, deadline=None)
@given(operations=OPERATIONS)
def test_a_compacted_log_is_a_dict(
    operations: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever is appended, whenever it is compacted or stopped: the newest values are there, no others."""
    store = Store(tmp_path_factory.mktemp("model") / "data", UnsyncedFiles())
    store.config = LogConfig(
        cleanup_policy=("compact",),
        segment_bytes=500,
        index_interval_bytes=100,
        max_message_bytes=400,
        delete_retention_ms=RETENTION_MS,
    )
    model = Model(store, store.open())

    for operation, *arguments in operations:
        getattr(model, str(operation))(*arguments)
        model.check()

    store.kill()
