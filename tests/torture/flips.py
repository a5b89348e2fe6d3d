"""One bit of one file of a data folder the other way round, and what may come of that.

`flip` makes the damage; `look` opens the folder and reads all of it; `wrong` says what must not be.
Used by `test_flips`.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.torture.faulty_files import CountedFiles
from tests.torture.scenarios import ONE, OTHER, SMALL, delete_before, fill
from tests.torture.store import Account, Store, contents
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import HEADER_BYTES, RecordBatch
from wirekafka.protocol.records.batch import MAGIC_V2
from wirekafka.storage import PartitionLog

_REFUSALS = (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.INCONSISTENT_TOPIC_ID)
_LEADER_EPOCH = slice(12, 16)
"""The bytes of a batch that no CRC covers and nothing contradicts. In a segment that a start does not check
again they are served as they lie, as by Kafka; clients compare them with what OffsetForLeaderEpoch says."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A sound data folder of two logs, and what has to be in it."""

    files: dict[str, bytes]
    accounts: dict[TopicPartition, Account]
    recovery_points: dict[TopicPartition, int]
    clean: bool

    @classmethod
    def make(cls, path: Path, *, clean: bool) -> "Folder":
        """Logs of some segments, half of them flushed, the oldest records deleted."""
        files = CountedFiles()
        store = Store(path, SMALL)
        store.open(files)
        store.open_log(ONE)
        store.open_log(OTHER)
        fill(store)
        account = store.accounts[ONE]
        account.start = account.batches[1][0]
        delete_before(store, account.start)
        points = {tp: account.end if clean else store.logs[tp].recovery_point for tp in store.accounts}
        if clean:
            store.close()
        store.drop()
        files.let_go()
        return cls(contents(path), store.accounts, points, clean)


@dataclass(frozen=True, slots=True)
class Flip:
    """Where the damage is."""

    name: str
    position: int
    bit: int

    @classmethod
    def draw(cls, folder: Folder, chance: random.Random) -> "Flip":
        """Any bit of any file that has one; each file as likely as another."""
        name = chance.choice(sorted(name for name, data in folder.files.items() if data))
        return cls(name, chance.randrange(len(folder.files[name])), chance.randrange(8))

    def of(self, files: dict[str, bytes]) -> dict[str, bytes]:
        """The folder's files with the damage."""
        data = bytearray(files[self.name])
        data[self.position] ^= 1 << self.bit
        return {**files, self.name: bytes(data)}


@dataclass(slots=True)
class Seen:
    """What became of one log."""

    refusal: str = ""
    batches: dict[int, bytes | None] = field(default_factory=dict)
    """What is served at the base offset of every batch that was acknowledged; None for an error 56."""
    start: int = 0
    end: int = 0
    aborted: list[tuple[int, int]] | None = None
    """The transactions that a committed read leaves out; None for an error 56."""


@dataclass(slots=True)
class Look:
    """What became of the folder."""

    refusal: str = ""
    logs: dict[TopicPartition, Seen] = field(default_factory=dict)
    notices: str = ""


def look(path: Path, folder: Folder) -> Look:
    """Open the folder and read everything. Raises what is no refusal."""
    found = Look()
    files = CountedFiles()
    store = Store(path, SMALL)
    try:
        store.open(files)
        for topic_partition, account in folder.accounts.items():
            found.logs[topic_partition] = _open_and_read(store, topic_partition, account)
        assert store.directory is not None
        found.notices = " | ".join(store.directory.notices)
    except KafkaError as error:
        if error.code not in _REFUSALS:
            raise
        found.refusal = error.message
    finally:
        store.drop()
        files.let_go()
    return found


def _open_and_read(store: Store, topic_partition: TopicPartition, account: Account) -> Seen:
    try:
        log = store.open_log(topic_partition)
    except KafkaError as error:
        if error.code not in _REFUSALS:
            raise
        return Seen(error.message)
    seen = Seen(start=log.log_start_offset, end=log.log_end_offset, aborted=_aborted(log))
    for offset, _ in account.batches:
        if seen.start <= offset < seen.end:
            seen.batches[offset] = _read_at(log, offset)
    return seen


def _aborted(log: PartitionLog) -> list[tuple[int, int]] | None:
    try:
        return log.aborted_transactions(log.log_start_offset, log.log_end_offset)
    except KafkaError as error:
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            raise
        return None


def _read_at(log: PartitionLog, offset: int) -> bytes | None:
    try:
        return log.read(offset, 1, up_to_offset=log.log_end_offset, at_least_one_batch=True).read()
    except KafkaError as error:
        if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
            raise
        return None


def wrong(flip: Flip, folder: Folder, found: Look) -> list[str]:
    """A sentence for all that must not have come of the flip."""
    if found.refusal:
        return [] if flip.name in found.refusal else [f"refused without naming the file: {found.refusal}"]
    findings = []
    for topic_partition, seen in found.logs.items():
        struck = flip.name.startswith(f"{topic_partition}/")
        for finding in _wrong_of_log(flip, folder, topic_partition, seen, found.notices, struck):
            findings.append(f"{topic_partition}: {finding}")
    return findings


def _wrong_of_log(
    flip: Flip, folder: Folder, topic_partition: TopicPartition, seen: Seen, notices: str, struck: bool
) -> list[str]:
    account = folder.accounts[topic_partition]
    file_name = flip.name.rpartition("/")[2]
    if seen.refusal:
        if not struck:
            return [f"refused, and nothing is wrong with it: {seen.refusal}"]
        named = file_name in seen.refusal and ("position" in seen.refusal or not file_name.endswith(".log"))
        told = named or file_name == "partition.metadata"
        return [] if told else [f"refused without the file and the place: {seen.refusal}"]
    findings = []
    if seen.start > account.start:
        findings.append(f"begins at {seen.start}, and records from {account.start} on are lost")
    if seen.end < folder.recovery_points[topic_partition]:
        findings.append(f"ends at {seen.end}, below its recovery point {notices!r}")
    if seen.end != account.end and not (struck and file_name in notices):
        findings.append(f"ends at {seen.end}, not {account.end}, and no notice names the file: {notices!r}")
    aborted = [each for each in account.aborted if seen.start <= each[1] < seen.end]
    if seen.aborted not in (None, aborted):
        findings.append(f"{seen.aborted} are said to be aborted, {aborted} were")
    for offset, data in account.batches:
        if max(account.start, seen.start) <= offset < seen.end:
            served = seen.batches[offset]
            if served != data and not (struck and file_name.endswith(".log") and given_away(served, data)):
                findings.append(f"wrong bytes are served at offset {offset}: {_difference(served, data)}")
    return findings


def given_away(served: bytes | None, data: bytes) -> bool:
    """Whether a client is told, or sees for itself, that what it got is not what was sent."""
    if served is None:
        return True
    if len(served) < HEADER_BYTES:
        return len(served) > 0
    if _without_leader_epoch(served) == _without_leader_epoch(data):
        return True
    batch = RecordBatch(served)
    whole = batch.magic == MAGIC_V2 and batch.size_in_bytes == len(served)
    return not whole or not batch.crc_ok()


def _without_leader_epoch(batch: bytes) -> bytes:
    return batch[: _LEADER_EPOCH.start] + batch[_LEADER_EPOCH.stop :]


def _difference(served: bytes | None, data: bytes) -> str:
    if served is None:
        return "none"
    if len(served) != len(data):
        return f"{len(served)} bytes, not {len(data)}"
    return f"byte {next(n for n, (a, b) in enumerate(zip(served, data, strict=True)) if a != b)} of the batch"
