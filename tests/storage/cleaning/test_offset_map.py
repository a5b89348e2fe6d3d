"""Tests of storage.cleaning.offset_map."""

from wirekafka.storage.cleaning.offset_map import BYTES_AN_ENTRY, OffsetMap


def test_the_newest_offset_of_a_key_is_told() -> None:
    """And -1 for a key that was not seen."""
    newest = OffsetMap(1 << 20)
    newest.put(b"a", 1)
    newest.put(b"b", 2)
    newest.put(b"a", 3)

    assert (newest.newest(b"a"), newest.newest(b"b"), newest.newest(b"c")) == (3, 2, -1)
    assert (len(newest), newest.latest_offset) == (2, 3)


def test_a_full_map_takes_no_new_key() -> None:
    """Known ones it takes; where it stops is how far this compaction goes."""
    newest = OffsetMap(10 * BYTES_AN_ENTRY, 0.2)

    assert [newest.put(key, offset) for offset, key in enumerate([b"a", b"b", b"c", b"a"])] == [
        True,
        True,
        False,
        True,
    ]
    assert (newest.newest(b"c"), newest.latest_offset) == (-1, 3)


def test_the_smallest_map_has_room_for_one() -> None:
    """So that every compaction gets somewhere."""
    newest = OffsetMap(0)

    assert newest.put(b"a", 0)
    assert not newest.put(b"b", 1)
