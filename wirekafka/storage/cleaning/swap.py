"""Puts a compacted segment in the place of those it was made of, so that a crash at any call is survived.

Called by `rewriting`. First, on the event loop, `announce`: the new files, which are on the disk whole, are
renamed from `.cleaned` to `.swap`, the batches first. Until the last of them is renamed a start undoes it
all; from then on it completes it. The names are made to last, in the thread. Then, on the loop, `replace`:
the old files are set aside, the new ones lose the suffix, and the log reads from them. At last, in the
thread again, the names are made to last.

Both are done on the loop, where topics are deleted and made: files of a deleted topic's log must not get
these names in the folder of one that was made again under its name.

Source: Kafka's LocalLog.replaceSegments, which makes the names last once, at the end.
"""

import contextlib

from wirekafka.storage.cleaning.cleaned_segment import discard
from wirekafka.storage.cleaning.work import LogChanged
from wirekafka.storage.disk.files import Files
from wirekafka.storage.disk.set_aside import CLEANED, DELETED, SWAP
from wirekafka.storage.log.log import PartitionLog
from wirekafka.storage.segments.segment import SUFFIXES, Segment


def announce(log: PartitionLog, replaced: list[Segment]) -> None:
    """Rename the files that were made of these segments to `.swap`. Raises LogChanged, OSError."""
    _end_of(log, replaced)
    stem = f"{log.folder}/{replaced[0].base_offset:020d}"
    pairs = [(stem + suffix + CLEANED, stem + suffix + SWAP) for suffix in SUFFIXES]
    _rename(pairs, log.disk.files, [])


def replace(log: PartitionLog, replaced: list[Segment], *, now_ms: int) -> list[str]:
    """Let the log read from the new segment; give the names of the files that were set aside.

    Raises LogChanged, and OSError: then the old segments are in their places again, or, where that failed
    as well, the log is `failed`.
    """
    base_offset, end_offset = replaced[0].base_offset, _end_of(log, replaced)
    stems = [f"{log.folder}/{old.base_offset:020d}" for old in replaced]
    aside = [(stem + suffix, stem + suffix + DELETED) for stem in stems for suffix in SUFFIXES]
    into_place = [(stems[0] + suffix + SWAP, stems[0] + suffix) for suffix in SUFFIXES]
    done: list[tuple[str, str]] = []
    try:
        _rename(aside, log.disk.files, done)
        gone = [new for _, new in done]
        _rename(into_place, log.disk.files, done)
        for old in replaced:
            old.release()  # its name means another file now, or none
        segment = Segment.existing(
            log.disk, log.folder, base_offset, config=log.config, created_ms=now_ms, next_offset=end_offset
        )
    except OSError:
        _undo(log, done, base_offset)
        raise
    log.segments.replace(replaced, segment)
    with contextlib.suppress(OSError):  # the next start removes those that are left
        gone += log.snapshots.set_aside(old.base_offset for old in replaced[1:])
    return gone


def _end_of(log: PartitionLog, replaced: list[Segment]) -> int:
    """Where the segment behind these begins. Raises LogChanged when they are not the log's any more."""
    segments = log.segments.all()
    slot = next((slot for slot, segment in enumerate(segments) if segment is replaced[0]), len(segments))
    end = slot + len(replaced)
    if log.closed or log.failed or segments[slot:end] != replaced or end >= len(segments):
        raise LogChanged
    return segments[end].base_offset


def _rename(pairs: list[tuple[str, str]], files: Files, done: list[tuple[str, str]]) -> None:
    """Rename what is there, the one after the other, and say in `done` how far that came."""
    for old, new in pairs:
        with contextlib.suppress(FileNotFoundError):  # most segments have no transaction index
            files.rename(old, new)
            done.append((old, new))


def _undo(log: PartitionLog, done: list[tuple[str, str]], base_offset: int) -> None:
    """Take half a swap back. If that fails too, only a start can mend the log: it takes nothing more."""
    try:
        for old, new in reversed(done):  # a new file goes before the old one comes back in its place
            log.disk.files.rename(new, old)
        discard(log.disk.files, log.folder, base_offset)
    except OSError:
        log.failed = True
