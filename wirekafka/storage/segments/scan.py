"""Walks over the batches of a segment's file, by header alone or with every check.

Used by whatever goes through a segment's file. Headers are read in pieces; bodies only where a CRC is
checked.

Source: Kafka's FileRecords (searchForOffsetFromPosition) and LogSegment.recover.
"""

import errno
import re
import struct
import zlib
from collections.abc import Iterator

from wirekafka.protocol.records import HEADER_BYTES, RecordBatch
from wirekafka.protocol.records.batch import LEAST_BATCH_LENGTH, LENGTH_PREFIX_BYTES, MAGIC_V2
from wirekafka.protocol.records.checksum import crc32c
from wirekafka.storage.disk.files import OpenFile

_SEARCH_BYTES = 8 * 1024
_HEADER_WALK_BYTES = 64 * 1024
_CHECK_BYTES = 1024 * 1024
_CRC_COVERS_FROM = 21
_LARGEST_RELATIVE_OFFSET = (1 << 31) - 1

_PLACE = struct.Struct(">qiib6xi")
"""Base offset, length, leader epoch, magic, last offset delta."""
_PLACE_BYTES = _PLACE.size
_OLD_FORMAT_HEAD = struct.Struct(">qiIb")
_UP_TO_MAGIC_BYTES = _OLD_FORMAT_HEAD.size
_LEAST_OLD_LENGTH = 14
_MOST_OLD_LENGTH = 64 * 1024 * 1024


class Damaged(OSError):
    """Where a batch has to begin, none does: by what the index, or the batch before, says."""


def find_batch(file: OpenFile, entry: tuple[int, int], offset: int, size: int) -> tuple[int, int] | None:
    """Position and size of the first batch whose last offset is at or behind `offset`.

    The search begins at an entry of the offset index: (last offset of a batch, its position). Raises Damaged
    where the walk comes upon something else than the next batch.
    """
    indexed_offset, position = entry
    from_index, next_offset, before = position > 0, indexed_offset, -1
    while position < size:
        piece = file.read(min(_SEARCH_BYTES, size - position), position)
        place, end = 0, len(piece) - _PLACE_BYTES
        while place <= end:
            base_offset, length, _, magic, delta = _PLACE.unpack_from(piece, place)
            misled = base_offset + delta != indexed_offset if from_index else base_offset < next_offset
            if misled or delta < 0 or magic != MAGIC_V2 or length < LEAST_BATCH_LENGTH:
                raise _damaged(file, position + place)
            if base_offset + delta >= offset:
                if base_offset > offset:
                    _check_gap(file, before, position + place, size)
                return position + place, LENGTH_PREFIX_BYTES + length
            from_index, next_offset, before = False, base_offset + delta + 1, position + place
            place += LENGTH_PREFIX_BYTES + length
        if place == 0:
            break
        position += place
    _check_gap(file, before, size, size)
    return None


def _check_gap(file: OpenFile, before: int, behind: int, size: int) -> None:
    """See that an offset which no batch has is not missing because of a wrong byte in the batches around it.

    There are such gaps in a compacted log. But a batch whose header was damaged may not know its own offsets:
    passed over, it would be lost to every reader without a word. `before` and `behind` are the positions of
    the batches around the gap; -1 and `size` when there is none.
    """
    for position in (before, behind):
        if 0 <= position < size:
            head = file.read(HEADER_BYTES, position)
            if not _is_whole_and_right(file, head, position, size):
                raise _damaged(file, position)
            following = position + RecordBatch(head).size_in_bytes
            if following + HEADER_BYTES <= size:
                after = RecordBatch(file.read(HEADER_BYTES, following))
                if after.base_offset <= RecordBatch(head).last_offset:
                    raise _damaged(file, following)


def _damaged(file: OpenFile, position: int) -> Damaged:
    name = file.path.rpartition("/")[2]
    return Damaged(errno.EIO, f"no batch begins at position {position} of {name}")


def headers(file: OpenFile, position: int, size: int) -> Iterator[tuple[int, RecordBatch]]:
    """Position and header of every batch from `position` on, up to one that is not whole or no batch.

    Nor is one that has an offset which came before. Only the header's bytes are behind the views.
    """
    last_offset = -1
    while position + HEADER_BYTES <= size:
        piece = file.read(min(_HEADER_WALK_BYTES, size - position), position)
        place, end = 0, len(piece) - HEADER_BYTES
        while place <= end:
            batch = RecordBatch(piece, place)
            behind = position + place + batch.size_in_bytes
            if batch.magic != MAGIC_V2 or batch.batch_length < LEAST_BATCH_LENGTH or behind > size:
                return
            if batch.base_offset <= last_offset or batch.last_offset_delta < 0:
                return
            last_offset = batch.last_offset
            yield position + place, batch
            place += batch.size_in_bytes
        if place == 0:
            return
        position += place


def valid_batches(
    file: OpenFile, base_offset: int, size: int, *, position: int = 0, next_offset: int | None = None
) -> Iterator[tuple[int, RecordBatch]]:
    """Position and batch, from the start of a segment (or `position`) up to the first that is not all right.

    Checked are length, magic, CRC, and that offsets grow, from `next_offset` on, and can be told relative to
    `base_offset`. A batch of more than a mebibyte comes as a view of its header only.
    """
    next_offset = base_offset if next_offset is None else next_offset
    end_offset = base_offset + _LARGEST_RELATIVE_OFFSET + 1
    while position + HEADER_BYTES <= size:
        piece = memoryview(file.read(min(_CHECK_BYTES, size - position), position))
        place, left_bytes = 0, size - position
        while place + HEADER_BYTES <= len(piece):
            batch = RecordBatch(piece, place)
            behind = place + batch.batch_length + LENGTH_PREFIX_BYTES
            if batch.magic != MAGIC_V2 or batch.batch_length < LEAST_BATCH_LENGTH or behind > left_bytes:
                return
            if behind > len(piece) and place > 0:
                break  # the next piece has more of it
            if behind > len(piece):
                crc = _crc_in_file(file, position, behind)
            else:
                crc = crc32c(piece[place + _CRC_COVERS_FROM : behind])
            if crc != batch.crc or not next_offset <= batch.base_offset <= batch.last_offset < end_offset:
                return
            yield position + place, batch
            next_offset = batch.last_offset + 1
            place = behind
        if place == 0:
            return
        position += place


def _crc_in_file(file: OpenFile, position: int, size: int) -> int:
    crc = 0
    start, end = position + _CRC_COVERS_FROM, position + size
    while start < end:
        data = file.read(min(_CHECK_BYTES, end - start), start)
        if not data:
            break
        crc = crc32c(data, crc)
        start += len(data)
    return crc


def valid_batch_from(file: OpenFile, position: int, size: int, next_offset: int) -> int | None:
    """Where the first batch at or behind `position` begins that is whole and right; None without one.

    This tells damage inside a log from the torn end of one. A batch may begin at any byte, with an
    offset that continues the log; only at `position` itself may it be any offset. A message of Kafka's
    formats before v2, which are not read here, counts too: it is somebody's data.
    """
    if position + HEADER_BYTES <= size:
        head = file.read(HEADER_BYTES, position)
        if _is_whole_and_right(file, head, position, size):
            return position
    starts = _possible_starts(next_offset)
    start = position
    while start < size:
        piece = file.read(min(_CHECK_BYTES, size - start), start)
        # Of zeros, which a torn end may consist of for gigabytes, none is the start of a batch.
        for found in starts.finditer(piece) if piece.count(0) < len(piece) else ():
            head = piece[found.start() : found.start() + HEADER_BYTES]
            if len(head) < HEADER_BYTES:
                head = file.read(HEADER_BYTES, start + found.start())
            # One that came before, there again, is what a page written to a wrong place leaves.
            continues = int.from_bytes(head[:8], "big") >= next_offset
            if continues and _is_whole_and_right(file, head, start + found.start(), size):
                return start + found.start()
        if start + len(piece) >= size:
            return None
        start += len(piece) - _UP_TO_MAGIC_BYTES + 1
    return None


def only_zeros(file: OpenFile, position: int, size: int) -> bool:
    """Whether nothing but zeros is in a file from `position` on up to `size`."""
    for start in range(position, size, _CHECK_BYTES):
        piece = file.read(min(_CHECK_BYTES, size - start), start)
        if piece.count(0) < len(piece):
            return False
    return True


def _possible_starts(next_offset: int) -> re.Pattern[bytes]:
    """Matches, with no width, where the bytes up to the magic could be those of a batch.

    That is an offset with the upper half of `next_offset` or the one above, a length of 14 or more,
    an epoch (or an old format's CRC), and a magic.
    """
    upper_halves = {(next_offset >> 32), (next_offset + _LARGEST_RELATIVE_OFFSET) >> 32}
    offset = b"|".join(re.escape(upper.to_bytes(4, "big")) for upper in sorted(upper_halves))
    length = rb"(?!\x00\x00\x00[\x00-\x0d])[\x00-\x7f].{3}"
    return re.compile(rb"(?=(?:" + offset + rb").{4}" + length + rb".{4}[\x00-\x02])", re.DOTALL)


def whole_batch_at(file: OpenFile, position: int, size: int) -> RecordBatch | None:
    """The header of the batch at `position`, if there is one with a right CRC, whatever its offset."""
    head = file.read(HEADER_BYTES, position) if position + HEADER_BYTES <= size else b""
    if len(head) < HEADER_BYTES or head[_UP_TO_MAGIC_BYTES - 1] != MAGIC_V2:
        return None
    return RecordBatch(head) if _is_whole_and_right(file, head, position, size) else None


def _is_whole_and_right(file: OpenFile, head: bytes, position: int, size: int) -> bool:
    if len(head) < _OLD_FORMAT_HEAD.size:
        return False
    _, length, old_crc, magic = _OLD_FORMAT_HEAD.unpack_from(head)
    if position + LENGTH_PREFIX_BYTES + length > size:
        return False
    if magic < MAGIC_V2:
        in_range = _LEAST_OLD_LENGTH <= length <= _MOST_OLD_LENGTH
        return in_range and zlib.crc32(file.read(length - 4, position + 16)) == int(old_crc)
    if magic != MAGIC_V2 or length < LEAST_BATCH_LENGTH:
        return False
    return _crc_in_file(file, position, LENGTH_PREFIX_BYTES + length) == RecordBatch(head).crc
