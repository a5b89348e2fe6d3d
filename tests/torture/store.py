"""A data folder in this process, and the account of what it has acknowledged.

Used by `scenarios`, `mangling` and their tests. `Account` is the oracle: it knows the bytes of every
batch that an append returned for, and from where on they have to be there.
"""

import gc
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.records import Record, RecordBatch, build_batch, decode_records
from wirekafka.protocol.records.batch import TRANSACTIONAL_FLAG, batches_in
from wirekafka.protocol.records.control import ControlRecordType, EndTxnMarker, build_marker_batch
from wirekafka.storage import Files, LogConfig, LogDirectory, Origin, PartitionLog

NOW_MS = 1_700_000_000_000
LEADER_EPOCH = 3
RECORDS_A_BATCH = 2
LEFT_OVERS = (".cleaned", ".swap", ".deleted", ".tmp", "-delete")
_TRANSACTIONAL = 8
_READ_BYTES = 1 << 20


class NotAsAcknowledged(AssertionError):
    """The log is not what its account says."""


@dataclass(slots=True)
class Account:
    """What one log has to have."""

    batches: list[tuple[int, bytes]] = field(default_factory=list)
    """Base offset and bytes of every batch acknowledged."""
    end: int = 0
    start: int = 0
    """Records before it may be gone; those from it on may not."""
    aborted: list[tuple[int, int]] = field(default_factory=list)
    """Producer and first offset of every transaction that was aborted."""
    begun: bytes = b""
    """A batch whose append did not return: the process died in it, so it may be there."""
    compacted: bool = False
    """Whether records may be gone for the sake of later ones of their keys."""
    deleted: bool = False
    """Whether the whole log may be gone."""

    def check(self, log: PartitionLog) -> None:
        """Raise NotAsAcknowledged unless the log has what it must, and nothing that was never sent."""
        there = list(served(log))
        if self.compacted:
            return self._check_compacted(there)
        aborted = log.aborted_transactions(log.log_start_offset, log.log_end_offset)
        if aborted != [each for each in self.aborted if each[1] >= log.log_start_offset]:
            raise NotAsAcknowledged(f"{aborted} are said to be aborted, {self.aborted} were")
        first = min([self.start, *(offset for offset, _ in there[:1])])
        wanted = [batch for batch in self.batches if batch[0] >= first]
        extra = there[len(wanted) :]
        if there[: len(wanted)] != wanted:
            raise NotAsAcknowledged(f"{_bases(there)} are there, {_bases(wanted)} were acknowledged")
        if extra and not (len(extra) == 1 and self._was_begun(extra[0])):
            raise NotAsAcknowledged(f"{_bases(extra)} are there and were not acknowledged")
        return None

    def adopt(self) -> None:
        """Take up the batch that was begun, for it is there."""
        batch = bytearray(self.begun)
        RecordBatch(batch).assign(self.end, LEADER_EPOCH)
        self.batches.append((self.end, bytes(batch)))
        self.end += RECORDS_A_BATCH

    def _was_begun(self, batch: tuple[int, bytes]) -> bool:
        return batch[0] == self.end and batch[1][16:] == self.begun[16:]

    def _check_compacted(self, there: list[tuple[int, bytes]]) -> None:
        latest = latest_values([data for _, data in self.batches])
        found = latest_values([data for _, data in there])
        begun = latest_values([self.begun]) if self.begun else {}
        for key, value in latest.items():
            if found.get(key) not in (value, begun.get(key, value)):
                raise NotAsAcknowledged(f"key {key!r} has {found.get(key)!r}, not {value!r}")
        offsets = [offset for offset, _ in there]
        if offsets != sorted(set(offsets)):
            raise NotAsAcknowledged(f"batches in the order {offsets}")


def _bases(batches: list[tuple[int, bytes]]) -> list[int]:
    return [offset for offset, _ in batches]


def latest_values(batches: list[bytes]) -> dict[bytes | None, bytes | None]:
    """The last value of each key; keys whose last record is a tombstone are left out."""
    latest: dict[bytes | None, bytes | None] = {}
    for data in batches:
        for batch in batches_in(data):
            for record in decode_records(batch):
                latest[record.key] = record.value
    return {key: value for key, value in latest.items() if value is not None}


def served(log: PartitionLog) -> Iterator[tuple[int, bytes]]:
    """Base offset and bytes of every batch, read as a consumer does; each has to pass its CRC."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        piece = log.read(offset, _READ_BYTES, up_to_offset=log.log_end_offset, at_least_one_batch=True)
        before = offset
        for batch in batches_in(piece.read()):
            if not batch.crc_ok():
                raise NotAsAcknowledged(f"the batch at offset {batch.base_offset} fails its CRC")
            yield batch.base_offset, bytes(batch)
            offset = batch.last_offset + 1
        if offset == before:
            raise NotAsAcknowledged(f"nothing is served at offset {offset} of {log.log_end_offset}")


class Store:
    """A data folder, opened, closed and dropped at will."""

    def __init__(self, path: Path, config: LogConfig) -> None:
        self.path, self.config = path, config
        self.accounts: dict[TopicPartition, Account] = {}
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.directory: LogDirectory | None = None
        self.sequences: dict[TopicPartition, int] = {}

    def open(self, files: Files) -> None:
        """Open the folder and every log that there is an account of."""
        self.directory = LogDirectory.open(self.path, node_id=1, files=files)
        for topic_partition, account in self.accounts.items():
            if not account.deleted:
                self.open_log(topic_partition)

    def open_log(self, topic_partition: TopicPartition) -> PartitionLog:
        """Open a log, new if there is no account of it."""
        assert self.directory is not None
        self.accounts.setdefault(topic_partition, Account())
        topic_id = topic_partition.topic.encode().ljust(16, b"-")
        log = self.directory.open_log(topic_partition, topic_id, self.config, now_ms=NOW_MS)
        self.logs[topic_partition] = log
        return log

    def append(self, topic_partition: TopicPartition, *, size: int = 40, keys: int = 5) -> None:
        """Append a batch of two records, and keep account of it."""
        account = self.accounts[topic_partition]
        sequence = self.sequences.get(topic_partition, 0)
        records = [
            Record(b"k%d" % ((sequence + n) % keys), b"%d" % (sequence + n) + b"." * size, NOW_MS)
            for n in range(RECORDS_A_BATCH)
        ]
        batch = build_batch(records, producer_id=7, producer_epoch=0, base_sequence=sequence)
        account.begun = bytes(batch)
        try:
            appended = self.logs[topic_partition].append(batch, leader_epoch=LEADER_EPOCH, now_ms=NOW_MS)
        except KafkaError:
            account.begun = b""  # refused is not begun: nothing of it may be there
            raise
        account.begun = b""
        account.batches.append((appended.base_offset, bytes(batch)))
        account.end = appended.last_offset + 1
        self.sequences[topic_partition] = sequence + RECORDS_A_BATCH

    def abort_transaction(self, topic_partition: TopicPartition) -> None:
        """Append a batch of a transaction, and the marker that aborts it."""
        account, log = self.accounts[topic_partition], self.logs[topic_partition]
        records = [Record(b"t", b"to be aborted", NOW_MS)]
        named = {"producer_id": _TRANSACTIONAL, "producer_epoch": 0}
        batch = build_batch(
            records, attributes=TRANSACTIONAL_FLAG, base_sequence=len(account.aborted), **named
        )
        end = EndTxnMarker(ControlRecordType.ABORT, 0)
        account.aborted.append((_TRANSACTIONAL, account.end))
        for written in (batch, build_marker_batch(end, timestamp_ms=NOW_MS, **named)):
            origin = Origin.CLIENT if written is batch else Origin.COORDINATOR
            appended = log.append(written, leader_epoch=LEADER_EPOCH, now_ms=NOW_MS, origin=origin)
            account.batches.append((appended.base_offset, bytes(written)))
            account.end = appended.last_offset + 1

    def close(self) -> None:
        """A clean stop."""
        assert self.directory is not None
        self.directory.close(clean=True)
        self.drop()

    def drop(self) -> None:
        """Forget everything that is open, as the end of a process does."""
        if self.directory is not None:
            self.directory = None
        self.logs.clear()
        gc.collect(0)

    def check(self) -> None:
        """Hold every open log to its account."""
        for topic_partition, log in self.logs.items():
            self.accounts[topic_partition].check(log)

    def left_over(self) -> list[str]:
        """Names that only an unfinished operation leaves."""
        names = [path.name for path in self.path.rglob("*")]
        return sorted(name for name in names if name.endswith(LEFT_OVERS))


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path within."""
    found = {}
    for folder, _, names in os.walk(path):
        for name in names:
            with open(f"{folder}/{name}", "rb") as file:
                found[os.path.relpath(f"{folder}/{name}", path)] = file.read()
    return found


def restore(path: Path, files: dict[str, bytes]) -> None:
    """Make a folder hold these files and no others."""
    shutil.rmtree(path, ignore_errors=True)
    for folder in {os.path.dirname(f"{path}/{name}") for name in files}:
        os.makedirs(folder, exist_ok=True)
    for name, data in files.items():
        with open(f"{path}/{name}", "wb") as file:
            file.write(data)
