"""What can be told from a log's batches when its own file is missing, damaged, or of another time.

Called by `recovery`, after the segments are known to be right: leader epochs, producers.

Source: Kafka's LeaderEpochFileCache, ProducerStateManager.truncateAndReload and
UnifiedLog.rebuildProducerState.
"""

from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.records import ControlRecordType, RecordBatch, marker_of
from wirekafka.protocol.records.batch import NO_PRODUCER_ID
from wirekafka.storage.disk.checkpoints import LEADER_EPOCHS, decode_epochs
from wirekafka.storage.disk.files import read_file, unlink_if_there
from wirekafka.storage.log.epochs import UNKNOWN, LeaderEpochs
from wirekafka.storage.log.opening import Opening
from wirekafka.storage.producers.history import recall_batches
from wirekafka.storage.producers.snapshot import decode_snapshot
from wirekafka.storage.producers.state import ProducerState
from wirekafka.storage.recovery.leftovers import offsets_of
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.segment import Segment
from wirekafka.storage.segments.transaction_index import AbortedTransaction


def load_epochs(opening: Opening) -> bool:
    """Read the leader epochs' file; whether there was one, and it could be read."""
    data = read_file(opening.files, opening.path(LEADER_EPOCHS))
    if data is None:
        return False
    try:
        opening.epochs = LeaderEpochs(decode_epochs(data))
    except ValueError as error:
        opening.notice(f"the leader epochs are read from the batches anew: {error}")
        return False
    return True


def settle_epochs(opening: Opening, log_start_offset: int, *, known: bool) -> None:
    """Hold the leader epochs to the log: to what its batches say, and to its range."""
    if known and not _epochs_agree(opening, log_start_offset):
        opening.notice(f"{LEADER_EPOCHS} does not agree with the batches and is made anew of them")
        known = False
    if not known:
        opening.epochs = LeaderEpochs()
        for segment in opening.segments:
            for _, batch in segment.headers():
                if batch.partition_leader_epoch > opening.epochs.latest:
                    opening.epochs.assign(batch.partition_leader_epoch, batch.base_offset)
        opening.epochs.dirty = True
    opening.epochs.truncate_from_end(opening.log_end_offset)
    opening.epochs.truncate_from_start(log_start_offset)


def _epochs_agree(opening: Opening, log_start_offset: int) -> bool:
    """Whether the batches at the bounds of each epoch, and the last of all, have the right epochs."""
    end = opening.log_end_offset
    entries = [(epoch, start) for epoch, start in opening.epochs.entries() if start < end]
    ends = [*(start for _, start in entries[1:]), end]
    for (epoch, start), following in zip(entries, ends, strict=False):
        first = opening.header_at(max(start, log_start_offset)) if following > log_start_offset else None
        if first is not None and first.base_offset < following and first.partition_leader_epoch != epoch:
            return False
        before = opening.header_at(start - 1) if start > log_start_offset else None
        if before is not None and before.base_offset < start and before.partition_leader_epoch >= epoch:
            return False
    last = opening.header_at(end - 1) if end > log_start_offset else None
    return last is None or last.partition_leader_epoch == (entries[-1] if entries else UNKNOWN)[0]


def first_wrong_transactions(opening: Opening, names: list[str]) -> int | None:
    """The slot of the first segment whose index of aborted transactions does not agree with its batches."""
    with_index = set(offsets_of(names, ".txnindex"))
    for slot, segment in enumerate(opening.segments):
        if segment.base_offset not in with_index:
            continue
        try:
            agrees = all(_is_in_the_log(opening, segment, each) for each in segment.transactions.all())
        except Damaged:
            agrees = False
        if not agrees:
            return slot
    return None


def _is_in_the_log(opening: Opening, segment: Segment, aborted: AbortedTransaction) -> bool:
    """Whether a transaction is where the index, which has no checksum, says: first batch to marker.

    Either may be gone by a compaction.
    """
    found = segment.find(aborted.last_offset)
    batch = None if found is None else segment.batch_at(*found)
    if batch is None or batch.base_offset != aborted.last_offset:
        return opening.is_compacted
    if batch.producer_id != aborted.producer_id or not _is_abort_marker(batch):
        return False
    if opening.is_compacted or aborted.first_offset < opening.segments[0].base_offset:
        return True
    before = opening.header_at(aborted.first_offset - 1)
    if before is not None and before.last_offset < aborted.first_offset and _is_data_of(before, aborted):
        return False
    within = opening.headers_between(aborted.first_offset, aborted.last_offset)
    first = next(within, None)
    if first is None or first.base_offset != aborted.first_offset or not _is_data_of(first, aborted):
        return False
    return all(_is_data_of(header, aborted) for header in within if header.producer_id == aborted.producer_id)


def _is_abort_marker(batch: RecordBatch) -> bool:
    try:
        marker = marker_of(batch) if batch.is_control else None
    except KafkaError:
        return False  # its bytes are damaged: who checks the segment will say so
    return marker is not None and marker.kind is ControlRecordType.ABORT


def _is_data_of(header: RecordBatch, aborted: AbortedTransaction) -> bool:
    is_data = header.is_transactional and not header.is_control
    return is_data and header.producer_id == aborted.producer_id


def rebuild_producers(opening: Opening, names: list[str]) -> tuple[ProducerState, list[int]]:
    """Load the newest good snapshot that will do, and replay the batches behind it.

    Without one, all batches that are there: those before the log's start may be sent again as well.
    """
    producers = ProducerState(opening.topic_partition)
    offsets = _good_snapshots(opening, offsets_of(names, ".snapshot"))
    start = opening.segments[0].base_offset
    usable = [
        offset for offset in offsets if opening.replayed_from is None or offset <= opening.replayed_from
    ]
    if usable:
        start = usable[-1]
        producers.load(decode_snapshot(_snapshot(opening, start)) or [])
        # Not those of the replay: a record's time may be long past, and its producer still retrying.
        producers.expire(opening.now_ms, opening.config.producer_id_expiration_ms)
        recall_batches(opening.segments, producers, start)
    _replay(opening, producers, start)
    return producers, offsets


def _good_snapshots(opening: Opening, offsets: list[int]) -> list[int]:
    """Remove snapshots behind the log's end, those of no segment but the newest, and damaged ones.

    Only the newest is known to be good, and one at or below where a replay has to begin.
    """
    bases = {segment.base_offset for segment in opening.segments}
    within = [offset for offset in offsets if offset <= opening.log_end_offset]
    kept = [offset for offset in within if offset in bases or offset == within[-1]]
    for offset in offsets:
        if offset not in kept:
            unlink_if_there(opening.files, opening.path(f"{offset:020d}.snapshot"))
    for offset in reversed(kept.copy()):
        if decode_snapshot(_snapshot(opening, offset)) is None:
            opening.notice(f"the producer snapshot at offset {offset} is damaged and removed")
            unlink_if_there(opening.files, opening.path(f"{offset:020d}.snapshot"))
            kept.remove(offset)
        elif opening.replayed_from is None or offset <= opening.replayed_from:
            break
    return kept


def _snapshot(opening: Opening, offset: int) -> bytes:
    return read_file(opening.files, opening.path(f"{offset:020d}.snapshot")) or b""


def _replay(opening: Opening, producers: ProducerState, start: int) -> None:
    for segment in opening.segments:
        if opening.has_no_producers(segment):
            continue
        found = segment.find(start) if segment.next_offset > start else None
        if found is None:
            continue
        is_made_anew = opening.replayed_from is not None and segment.base_offset >= opening.replayed_from
        if is_made_anew:
            segment.transactions.reset()
        for position, header in segment.headers(found[0]):
            if header.producer_id <= NO_PRODUCER_ID or header.base_offset < start:
                continue
            # Of a control batch the record is needed as well, which says how the transaction ended.
            whole = segment.batch_at(position, header.size_in_bytes) if header.is_control else header
            try:
                aborted = producers.replay(whole)
            except KafkaError as error:
                where = f"{segment.file_name} has a batch at position {position} that cannot be read"
                raise opening.damage(f"{where}: {error.message}") from error
            if aborted is not None and is_made_anew:
                segment.transactions.add(aborted)
