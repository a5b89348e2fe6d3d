"""Reads all of a partition's folder and says what in it is wrong; changes nothing.

Called by `stopped_folder`. Every batch is checked, also those below the recovery point, and all else is held
against the batches: indexes, snapshots, leader epochs, and the log's end.

Source: Kafka's DumpLogSegments (--verify-index-only, --index-sanity-check), which looks at single files.
"""

from dataclasses import dataclass, field
from enum import Enum

from wirekafka.ids import NO_TOPIC_ID, TopicPartition
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.disk.checkpoints import LEADER_EPOCHS, PARTITION_METADATA, decode_epochs
from wirekafka.storage.disk.files import Files, OpenFile, read_file
from wirekafka.storage.disk.set_aside import CLEANED, DELETED, SWAP
from wirekafka.storage.folder.partition_folder import topic_id_in
from wirekafka.storage.log.opening import Stopped
from wirekafka.storage.producers.snapshot import decode_snapshot
from wirekafka.storage.recovery.leftovers import offsets_of
from wirekafka.storage.repair.index_agreement import IndexAgreement
from wirekafka.storage.repair.survey import Stretch, survey


class Remedy(Enum):
    """What mends a finding."""

    NONE_NEEDED = "nothing: it is as it may be"
    START = "the next start of the broker"
    USE = "the broker when it comes to use it"
    REPAIR = "wirekafka log repair"
    COPY = "a copy of what is gone, if there is one"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a file that is not as it should be."""

    file_name: str
    position: int | None
    what: str
    remedy: Remedy

    def __str__(self) -> str:
        place = f" at position {self.position}" if self.position is not None else ""
        return f"{self.file_name}{place}: {self.what}"


@dataclass(slots=True)
class Verified:
    """What one partition's folder holds, and what is wrong with it."""

    topic_partition: TopicPartition
    findings: list[Finding] = field(default_factory=list)
    batches: int = 0
    records: int = 0
    size_bytes: int = 0
    first_offset: int = 0
    log_end_offset: int = 0

    @property
    def is_wrong(self) -> bool:
        return any(finding.remedy is not Remedy.NONE_NEEDED for finding in self.findings)

    @property
    def needs_indexes(self) -> bool:
        return any(finding.remedy is Remedy.USE for finding in self.findings)

    @property
    def lacks_records(self) -> bool:
        return any(finding.remedy is Remedy.COPY for finding in self.findings)

    @property
    def needs_repair(self) -> bool:
        return any(finding.remedy is Remedy.REPAIR for finding in self.findings)


def verify_partition(
    files: Files, folder: str, topic_partition: TopicPartition, stopped: Stopped, *, is_live: bool = False
) -> Verified:
    """Read a partition's folder. Raises OSError.

    `is_live` says that a broker is writing to it: then what is not whole at its very end is no finding.
    """
    verification = _Verification(files, folder, topic_partition, stopped, is_live)
    verification.run()
    return verification.found


class _Verification:
    def __init__(
        self, files: Files, folder: str, topic_partition: TopicPartition, stopped: Stopped, is_live: bool
    ) -> None:
        self._files = files
        self._folder = folder
        self._stopped = stopped
        self._is_live = is_live
        self._names = files.list_folder(folder)
        self._latest_epoch = -1
        self._epochs: list[tuple[int, int]] = []
        self.found = Verified(topic_partition)

    def _add(self, name: str, position: int | None, what: str, remedy: Remedy) -> None:
        self.found.findings.append(Finding(name, position, what, remedy))

    def run(self) -> None:
        bases = offsets_of(self._names, ".log")
        self.found.first_offset = self.found.log_end_offset = bases[0] if bases else 0
        for slot, base in enumerate(bases):
            following = bases[slot + 1] if slot + 1 < len(bases) else None
            self._check_segment(base, following)
        if not self._is_live:
            self._check_end()
            self._check_leftovers(bases)
        self._check_snapshots()
        self._check_epochs()
        if topic_id_in(self._files, self._folder) == NO_TOPIC_ID:
            self._add(PARTITION_METADATA, None, "is missing or cannot be read", Remedy.START)

    # --- batches

    def _check_segment(self, base_offset: int, following: int | None) -> None:
        name = f"{base_offset:020d}.log"
        expected = self.found.log_end_offset
        if expected > base_offset:
            self._add(name, None, f"begins before offset {expected}, where the last one ends", Remedy.REPAIR)
        elif expected < base_offset:
            self._note_lost_segments(name, expected, base_offset)
        file = OpenFile(self._files, f"{self._folder}/{name}")
        agreement = IndexAgreement(self._files, self._folder, base_offset)

        def on_batch(position: int, batch: RecordBatch) -> None:
            agreement.batch(position, batch)
            self._note_epoch(name, position, batch)

        stretches = survey(file, base_offset, on_batch=on_batch)
        self.found.size_bytes += file.size()
        self.found.log_end_offset = base_offset
        for slot, stretch in enumerate(stretches):
            if stretch.is_good:
                self._take_good(name, stretch)
            else:
                is_end = following is None and slot + 1 == len(stretches)
                self._add_bad(name, stretch, stretches[slot + 1 :], is_end=is_end)
        if all(stretch.is_good for stretch in stretches):
            for file_name, position, what in agreement.disagreements(is_active=following is None):
                self._add(file_name, position, what, Remedy.USE)
        if following is not None and self.found.log_end_offset > following:
            what = f"goes up to offset {self.found.log_end_offset - 1}, past the begin of the next segment"
            self._add(name, None, what, Remedy.REPAIR)

    def _take_good(self, name: str, stretch: Stretch) -> None:
        if stretch.first_offset > self.found.log_end_offset:
            self._note_gap(name, stretch.start, self.found.log_end_offset, stretch.first_offset)
        self.found.batches += stretch.batches
        self.found.records += stretch.records
        self.found.log_end_offset = stretch.next_offset

    def _add_bad(self, name: str, bad: Stretch, behind: list[Stretch], *, is_end: bool) -> None:
        if is_end and self._is_live:
            return
        is_torn_end = is_end and bad.first_offset >= (self._stopped.recovery_point or 0)
        good = [stretch for stretch in behind if stretch.is_good]
        if is_torn_end:
            what = "an unfinished write, which is cut off"
        elif good:
            what = (
                f"{bad.why}, and {sum(s.batches for s in good)} good batches are behind it, from position "
                f"{good[0].start} on"
            )
        else:
            what = f"{bad.why}, and no good batch is behind it in this file"
        what = f"{bad.size_bytes} wrong bytes, where offset {bad.first_offset} has to begin: {what}"
        self._add(name, bad.start, what, Remedy.START if is_torn_end else Remedy.REPAIR)

    def _note_gap(self, name: str, position: int, first: int, behind: int) -> None:
        what = f"there are no offsets {first} to {behind - 1}, as after a compaction or `repair --skip`"
        is_normal = self._stopped.was_compacted or behind <= (self._stopped.recovery_point or 0)
        self._add(name, position, what, Remedy.NONE_NEEDED if is_normal or self._is_live else Remedy.REPAIR)

    def _note_lost_segments(self, name: str, first: int, behind: int) -> None:
        """Of offsets that are missing between two files no start says a word: all below was made to last."""
        was_repaired = any(".damaged-" in left for left in self._names)
        is_flushed = behind <= (self._stopped.recovery_point or 0)
        if is_flushed and not (self._stopped.was_compacted or was_repaired or self._is_live):
            what = f"there are no offsets {first} to {behind - 1}: a file before it is gone, or a part of it"
            self._add(name, None, what, Remedy.COPY)
        else:
            self._note_gap(name, 0, first, behind)

    def _check_end(self) -> None:
        noted, end = self._stopped.recovery_point, self.found.log_end_offset
        if noted is None or self.found.needs_repair:
            return
        if end < noted:
            what = f"the log ends at offset {end}, though its records up to {noted} were made to last"
            self._add("recovery-point-offset-checkpoint", None, what, Remedy.START)

    # --- what stands beside them

    def _note_epoch(self, name: str, position: int, batch: RecordBatch) -> None:
        epoch = batch.partition_leader_epoch
        if epoch > self._latest_epoch:
            self._latest_epoch = epoch
            self._epochs.append((epoch, batch.base_offset))
        elif epoch < self._latest_epoch:
            what = f"the batch has leader epoch {epoch}, after one of epoch {self._latest_epoch}"
            self._add(name, position, what, Remedy.NONE_NEEDED)

    def _check_epochs(self) -> None:
        data = read_file(self._files, f"{self._folder}/{LEADER_EPOCHS}")
        if data is None or self.found.needs_repair or self._is_live:
            return
        try:
            noted = dict(decode_epochs(data))
        except ValueError as error:
            self._add(LEADER_EPOCHS, None, f"cannot be read: {error}", Remedy.START)
            return
        end = self.found.log_end_offset
        for epoch, start in self._epochs:
            # The first may begin at the log's start, and any where a batch was that compaction took out.
            if epoch not in noted or not noted[epoch] <= max(start, self._stopped.log_start_offset):
                what = f"epoch {epoch} begins with offset {start} in the batches, not so in the file"
                self._add(LEADER_EPOCHS, None, what, Remedy.START)
        there = {epoch for epoch, _ in self._epochs}
        for epoch in sorted(epoch for epoch, start in noted.items() if epoch not in there and start < end):
            self._add(LEADER_EPOCHS, None, f"no batch is of epoch {epoch}", Remedy.START)

    def _check_snapshots(self) -> None:
        for offset in offsets_of(self._names, ".snapshot"):
            name = f"{offset:020d}.snapshot"
            if decode_snapshot(read_file(self._files, f"{self._folder}/{name}") or b"") is None:
                self._add(name, None, "cannot be read, or its CRC is wrong", Remedy.START)
            elif offset > self.found.log_end_offset and not self._is_live:
                self._add(name, None, "is of an offset behind the log's end", Remedy.START)

    def _check_leftovers(self, bases: list[int]) -> None:
        left = [name for name in self._names if name.endswith((CLEANED, SWAP, DELETED))]
        if left:
            what = f"with it {len(left)} files are left of a stop, which the next start finishes or removes"
            self._add(left[0], None, what, Remedy.NONE_NEEDED)
        for name in self._names:
            if ".damaged-" in name:
                self._add(name, None, "bytes that a repair has moved aside", Remedy.NONE_NEEDED)
        orphans = {*offsets_of(self._names, ".index"), *offsets_of(self._names, ".timeindex")} - set(bases)
        for offset in sorted(orphans):
            self._add(f"{offset:020d}.index", None, "is the index of no segment", Remedy.START)
