"""What a crash left half done in a partition's folder: finished or undone before anything is read.

Called when a log is opened, or looked at by the tools. The compactor writes `.cleaned` files, makes them
last, renames them to `.swap`, renames the segments they replace to `.deleted`, and the `.swap` files to what
they are to be called. So a `.cleaned` file is thrown away, and a `.swap` file is put in place of what it
covers; but not one with a `.cleaned` file at or before it, which was one of several and is not complete with
the others.

Source: Kafka's LogLoader (the first four passes) and KAFKA-6264.
"""

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.disk.files import TEMPORARY, Files, OpenFile, unlink_if_there
from wirekafka.storage.disk.set_aside import CLEANED, DELETED, SWAP
from wirekafka.storage.segments.scan import valid_batches

INDEX_SUFFIXES = (".index", ".timeindex", ".txnindex")
SEGMENT_SUFFIXES = (".log", *INDEX_SUFFIXES)
_OFFSET_DIGITS = 20


def tidy(
    files: Files, folder: str, topic_partition: TopicPartition, *, orphans: set[int] | None = None
) -> list[str]:
    """Leave only whole files that belong together; give their names.

    The offsets of indexes that had no log, and are removed, are put into `orphans`.
    Raises KAFKA_STORAGE_ERROR for a swap file that is not whole: what it replaces may be gone already.
    """
    names = files.list_folder(folder)
    undone = _undone(names)
    swaps = [name for name in names if name.endswith(SWAP) and name not in undone]
    replaced = _replaced(files, folder, topic_partition, names, swaps)
    for name in [*undone, *replaced]:
        unlink_if_there(files, f"{folder}/{name}")
    for name in swaps:
        files.rename(f"{folder}/{name}", f"{folder}/{name.removesuffix(SWAP)}")
    gone = {*undone, *replaced, *swaps}
    kept = [name for name in names if name not in gone] + [name.removesuffix(SWAP) for name in swaps]
    return sorted(_without_orphans(files, folder, kept, set() if orphans is None else orphans))


def offset_in(name: str) -> int | None:
    """The offset that a file is named by; None for one that is not."""
    digits = name[:_OFFSET_DIGITS]
    return int(digits) if len(digits) == _OFFSET_DIGITS and digits.isdecimal() else None


def offsets_of(names: list[str], suffix: str) -> list[int]:
    """The offsets of the files with that suffix, growing."""
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if len(stem) == _OFFSET_DIGITS and stem.isdecimal())


def name_for_damaged(files: Files, folder: str, name: str) -> str:
    """A name, not taken yet, under which bytes of a file are kept for a person to look at."""
    taken = set(files.list_folder(folder))
    return next(
        candidate
        for number in range(1, len(taken) + 2)
        if (candidate := f"{name}.damaged-{number}") not in taken
    )


def _undone(names: list[str]) -> list[str]:
    """What was being written or deleted, and is not wanted any more."""
    begun = [name for name in names if name.endswith(CLEANED)]
    first_begun = min((offset for name in begun if (offset := offset_in(name)) is not None), default=None)
    undone = [*begun, *(name for name in names if name.endswith((DELETED, TEMPORARY)))]
    for name in names:
        offset = offset_in(name)
        if name.endswith(SWAP) and first_begun is not None and offset is not None and offset >= first_begun:
            undone.append(name)
    # Snapshots of Kafka's metadata log have a name of their own, and so have those that go.
    return [name for name in undone if not name.endswith(".checkpoint" + DELETED)]


def _replaced(
    files: Files, folder: str, topic_partition: TopicPartition, names: list[str], swaps: list[str]
) -> list[str]:
    """The files of the segments that the swap files were written to replace."""
    ranges = [
        (base, _end_of_swap(files, f"{folder}/{name}", base, topic_partition))
        for name in swaps
        if name.endswith(".log" + SWAP) and (base := offset_in(name)) is not None
    ]
    if not ranges:
        return []
    first, end = min(base for base, _ in ranges), max(end for _, end in ranges)
    return [
        name
        for name in names
        if name.endswith(SEGMENT_SUFFIXES) and (offset := offset_in(name)) is not None
        if first <= offset < end or offset in {base for base, _ in ranges}
    ]


def _end_of_swap(files: Files, path: str, base_offset: int, topic_partition: TopicPartition) -> int:
    """The offset behind the last batch of a swap file, every batch of which is checked."""
    file = OpenFile(files, path)
    size = file.size()
    end, position = base_offset, 0
    for position_of_batch, batch in valid_batches(file, base_offset, size):
        end, position = batch.last_offset + 1, position_of_batch + batch.size_in_bytes
    if position != size:
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"The log of {topic_partition} is damaged: {path.rpartition('/')[2]}, which was to take the "
            f"place of older segments, has no batch at position {position}. It is left as it is.",
        )
    return end


def _without_orphans(files: Files, folder: str, names: list[str], orphans: set[int]) -> list[str]:
    """Remove index files that have no log."""
    logs = {name.removesuffix(".log") for name in names if name.endswith(".log")}
    kept = []
    for name in names:
        if name.endswith(INDEX_SUFFIXES) and name.rpartition(".")[0] not in logs:
            unlink_if_there(files, f"{folder}/{name}")
            orphans.update(offset for offset in [offset_in(name)] if offset is not None)
        else:
            kept.append(name)
    return kept
