"""Tests of storage.segments.scan."""

import struct
import zlib
from pathlib import Path

import pytest

from tests.storage.support import simple_batch
from wirekafka.storage.disk.files import FILES, OpenFile
from wirekafka.storage.segments.scan import (
    Damaged,
    find_batch,
    headers,
    only_zeros,
    valid_batch_from,
    valid_batches,
    whole_batch_at,
)


def file_of(tmp_path: Path, data: bytes) -> OpenFile:
    path = tmp_path / "f"
    path.write_bytes(data)
    return OpenFile(FILES, str(path))


def batches(*sizes: int) -> list[bytes]:
    """Batches of one record each, with values of these sizes and offsets from 0 on."""
    return [bytes(simple_batch(size=size, base_offset=offset)) for offset, size in enumerate(sizes)]


def old_message(offset: int, value: bytes, magic: int = 1) -> bytes:
    """A message of the formats before v2: offset, size, CRC-32, magic, attributes, ..."""
    body = struct.pack(">bbqi", magic, 0, 1000, -1) + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def test_headers_of_all_batches_are_walked(tmp_path: Path) -> None:
    """Small ones, and ones that reach over the pieces that are read."""
    parts = batches(10, 70_000, 10, 200_000, 65_000, 3)
    file = file_of(tmp_path, b"".join(parts))

    walked = list(headers(file, 0, file.size()))

    positions = [sum(map(len, parts[:i])) for i in range(len(parts))]
    assert [position for position, _ in walked] == positions
    assert [batch.base_offset for _, batch in walked] == [0, 1, 2, 3, 4, 5]


def test_the_walk_stops_where_no_batch_is(tmp_path: Path) -> None:
    """A torn one, or garbage."""
    first, second = batches(10, 20)

    for tail in (second[:-1], second[:30], bytes(100), b"\xff" * 100):
        file = file_of(tmp_path, first + tail)
        assert [position for position, _ in headers(file, 0, file.size())] == [0]


def test_a_batch_is_found_by_any_of_its_offsets(tmp_path: Path) -> None:
    """Or the next one, where an offset is in none; None behind the last."""
    parts = [bytes(simple_batch(3, base_offset=10)), bytes(simple_batch(2, size=9000, base_offset=20))]
    file = file_of(tmp_path, b"".join(parts))
    entry, size = (10, 0), file.size()

    assert find_batch(file, entry, 5, size) == (0, len(parts[0]))
    assert find_batch(file, entry, 12, size) == (0, len(parts[0]))
    assert find_batch(file, entry, 13, size) == (len(parts[0]), len(parts[1]))
    assert find_batch(file, entry, 21, size) == (len(parts[0]), len(parts[1]))
    assert find_batch(file, entry, 22, size) is None


def test_an_index_entry_that_leads_astray_is_noticed(tmp_path: Path) -> None:
    """Into the middle of a batch, or to a batch that is behind the offset it names."""
    first, second = batches(10, 20)
    file = file_of(tmp_path, first + second)

    with pytest.raises(Damaged):
        find_batch(file, (0, 7), 1, file.size())
    with pytest.raises(Damaged):
        find_batch(file, (0, len(first)), 1, file.size())


def test_every_check_is_made_on_a_batch(tmp_path: Path) -> None:
    """CRC, magic, length, offsets that grow, and can be told relative to the segment's."""
    first, second = batches(10, 20)
    flipped = second[:-1] + bytes([second[-1] ^ 1])
    old = second[:16] + b"\x01" + second[17:]
    again = bytes(simple_batch(base_offset=0))
    far = bytes(simple_batch(base_offset=1 << 31))

    for bad in (flipped, old, again, far, second[:-1], bytes(80)):
        file = file_of(tmp_path, first + bad)
        assert [position for position, _ in valid_batches(file, 0, file.size())] == [0]


def test_large_and_small_batches_are_checked_alike(tmp_path: Path) -> None:
    """One that is larger than what is read at a time is checked piece by piece."""
    parts = batches(10, 3_000_000, 10, 1_100_000, 600_000, 600_000, 5)
    data = b"".join(parts)
    file = file_of(tmp_path, data)
    assert [batch.base_offset for _, batch in valid_batches(file, 0, file.size())] == list(range(7))

    inside = bytearray(data)
    inside[2_500_000] ^= 1
    file = file_of(tmp_path, bytes(inside))
    assert [batch.base_offset for _, batch in valid_batches(file, 0, file.size())] == [0]


def test_a_batch_behind_damage_is_found_at_any_byte(tmp_path: Path) -> None:
    """Whatever is before it, zeros or noise, and over the pieces that are read."""
    good = bytes(simple_batch(base_offset=7))

    for damage in (b"\0", bytes(500), b"\xff" * 500, bytes(1024 * 1024 - 20), bytes(1024 * 1024 + 3)):
        file = file_of(tmp_path, damage + good)
        assert valid_batch_from(file, 0, file.size(), 5) == len(damage)


def test_a_torn_end_has_no_batch_behind_it(tmp_path: Path) -> None:
    """Zeros of a page that was never written, part of a batch, noise: it may be cut."""
    part = bytes(simple_batch(base_offset=7, size=300))[:200]

    for tail in (bytes(5000), part, part + bytes(5000), b"\xff" * 5000, b"\x02" * 5000, b"x"):
        file = file_of(tmp_path, tail)
        assert valid_batch_from(file, 0, file.size(), 7) is None


def test_only_offsets_that_continue_the_log_count_behind_damage(tmp_path: Path) -> None:
    """A value may hold a batch of another log; at the place itself every batch counts."""
    strange = bytes(simple_batch(base_offset=7 << 32))

    behind = file_of(tmp_path, b"." + strange)
    assert valid_batch_from(behind, 0, behind.size(), 7) is None
    at = file_of(tmp_path, strange)
    assert valid_batch_from(at, 0, at.size(), 7) == 0


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_old_formats_are_somebodys_data(tmp_path: Path, magic: int) -> None:
    """They are not read here, and not cut away either."""
    data = old_message(7, b"v" * 100, magic)

    file = file_of(tmp_path, b"...." + data)
    assert valid_batch_from(file, 0, file.size(), 7) == 4
    file = file_of(tmp_path, data)
    assert valid_batch_from(file, 0, file.size(), 7) == 0
    file = file_of(tmp_path, data[:-1])
    assert valid_batch_from(file, 0, file.size(), 7) is None


def test_a_gap_is_believed_only_between_batches_that_are_right(tmp_path: Path) -> None:
    """A damaged header may not know its own offsets: passed over, its records were lost without a word."""
    parts = [bytes(simple_batch(2, base_offset=offset)) for offset in (0, 2, 10)]
    file = file_of(tmp_path, b"".join(parts))
    size = file.size()
    assert find_batch(file, (0, 0), 5, size) == (2 * len(parts[0]), len(parts[2]))

    for position in (len(parts[0]) + 26, 2 * len(parts[0]) + 30):  # last offset delta; a record
        data = bytearray(b"".join(parts))
        data[position] ^= 1
        damaged = file_of(tmp_path, bytes(data))
        with pytest.raises(
            Damaged, match=f"no batch begins at position {position // len(parts[0]) * len(parts[0])}"
        ):
            find_batch(damaged, (0, 0), 3 if position < 2 * len(parts[0]) else 5, size)


def test_a_search_that_ends_without_a_batch_is_believed_likewise(tmp_path: Path) -> None:
    """The last batch may have lost its last offset."""
    parts = [bytes(simple_batch(2, base_offset=offset)) for offset in (0, 2)]
    data = bytearray(b"".join(parts))
    data[len(parts[0]) + 26] ^= 1
    assert find_batch(file_of(tmp_path, b"".join(parts)), (0, 0), 4, len(data)) is None

    with pytest.raises(Damaged):
        find_batch(file_of(tmp_path, bytes(data)), (0, 0), 3, len(data))


def test_offsets_that_do_not_grow_are_noticed(tmp_path: Path) -> None:
    """By header walks and searches alike: no checksum covers them."""
    parts = [bytes(simple_batch(2, base_offset=offset)) for offset in (0, 66, 4)]
    file = file_of(tmp_path, b"".join(parts))

    assert [position for position, _ in headers(file, 0, file.size())] == [0, len(parts[0])]
    with pytest.raises(Damaged, match=f"position {2 * len(parts[0])} of f"):
        find_batch(file, (0, 0), 80, file.size())


def test_a_copy_of_an_earlier_batch_does_not_count_behind_damage(tmp_path: Path) -> None:
    """A page that was written to a wrong place."""
    parts = [bytes(simple_batch(2, base_offset=offset)) for offset in (0, 2)]
    tail = b"\xff" * 100 + parts[0]
    file = file_of(tmp_path, b"".join(parts) + tail)

    assert valid_batch_from(file, 2 * len(parts[0]), file.size(), 4) is None


def test_a_check_may_begin_anywhere(tmp_path: Path) -> None:
    """With the offset that is to be expected there."""
    parts = [bytes(simple_batch(2, base_offset=offset)) for offset in (0, 2, 4)]
    file = file_of(tmp_path, b"".join(parts))

    def checked(next_offset: int) -> list[int]:
        walk = valid_batches(file, 0, file.size(), position=len(parts[0]), next_offset=next_offset)
        return [batch.base_offset for _, batch in walk]

    assert (checked(2), checked(3)) == ([2, 4], [])


@pytest.mark.parametrize("change", ["none", "crc", "torn", "magic"])
def test_one_batch_is_looked_at_whatever_its_offset(tmp_path: Path, change: str) -> None:
    """Whole, of this format, with a right CRC."""
    data = bytearray(simple_batch(2, base_offset=77))
    data = {
        "none": data,
        "crc": data[:-1] + bytes([data[-1] ^ 1]),
        "torn": data[:-1],
        "magic": data[:16] + b"\x01" + data[17:],
    }[change]
    file = file_of(tmp_path, bytes(data))
    batch = whole_batch_at(file, 0, file.size())

    assert (batch.base_offset if batch is not None else None) == (77 if change == "none" else None)


@pytest.mark.parametrize(("behind", "are_zeros"), [(b"", True), (bytes(3 << 20), True), (b"\0\1", False)])
def test_zeros_are_told_from_what_was_written(tmp_path: Path, behind: bytes, are_zeros: bool) -> None:
    """In pieces: a file that was preallocated has a gigabyte of them."""
    file = file_of(tmp_path, b"x" + behind)

    assert only_zeros(file, 1, file.size()) is are_zeros
    assert not only_zeros(file, 0, file.size())
