"""Reads the batches of a sealed segment, whole and checked.

Called by a compaction at work, in a thread: nothing of the segment but its file is used, so nothing is
shared with the event loop.

Source: Kafka's Cleaner, which grows its buffer for a large batch as this does; that the CRC and the order of
offsets, which it does not cover, are checked is our own.
"""

import contextlib
from collections.abc import Callable, Iterator

from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.records import HEADER_BYTES, RecordBatch
from wirekafka.protocol.records.batch import LEAST_BATCH_LENGTH, MAGIC_V2
from wirekafka.storage.disk.files import OpenFile
from wirekafka.storage.segments.segment import Segment

_PIECE_BYTES = 1024 * 1024


class Unreadable(Exception):
    """A batch is not right: the log can be read up to there, but not be compacted. The text says where."""


def whole_batches(
    segment: Segment, end_offset: int, pace: Callable[[int], None]
) -> Iterator[tuple[int, RecordBatch]]:
    """Position and batch, from the first to the last; `pace` is told of what was read.

    `end_offset` is where the next segment begins. Raises Unreadable, OSError.
    """
    file, next_offset = segment.file, segment.base_offset
    size = file.size()
    position = start = 0
    piece = b""
    while position < size:
        if not _is_whole(piece, position - start):
            piece, start = _piece(segment, file, position, size), position
            pace(len(piece))
        batch = RecordBatch(piece, position - start)
        if not batch.crc_ok():
            raise _unreadable(segment, position, "its CRC is not what it says")
        if not next_offset <= batch.base_offset <= batch.last_offset < end_offset:
            raise _unreadable(
                segment,
                position,
                f"it has offsets {batch.base_offset} to {batch.last_offset}, and those from {next_offset} to "
                f"{end_offset - 1} are left",
            )
        next_offset = batch.last_offset + 1
        yield position, batch
        position += batch.size_in_bytes


@contextlib.contextmanager
def naming(segment: Segment, position: int) -> Iterator[None]:
    """Make what is wrong with the records of a batch Unreadable, with its place."""
    try:
        yield
    except KafkaError as error:
        raise _unreadable(segment, position, error.message) from error


def _is_whole(piece: bytes, place: int) -> bool:
    """Whether a batch with a possible header is all there."""
    if place + HEADER_BYTES > len(piece):
        return False
    batch = RecordBatch(piece, place)
    if batch.magic != MAGIC_V2 or batch.batch_length < LEAST_BATCH_LENGTH:
        return False
    return place + batch.size_in_bytes <= len(piece)


def _piece(segment: Segment, file: OpenFile, position: int, size: int) -> bytes:
    """A piece of the file that begins with a whole batch. Raises Unreadable."""
    piece = file.read(min(_PIECE_BYTES, size - position), position)
    if _is_whole(piece, 0):
        return piece
    if len(piece) >= HEADER_BYTES:
        batch_bytes = RecordBatch(piece).size_in_bytes
        if len(piece) < batch_bytes <= size - position:
            piece = file.read(batch_bytes, position)
    if not _is_whole(piece, 0):
        raise _unreadable(segment, position, "no whole batch begins there")
    return piece


def _unreadable(segment: Segment, position: int, why: str) -> Unreadable:
    return Unreadable(f"the batch at position {position} of {segment.file_name} is not right: {why}")
