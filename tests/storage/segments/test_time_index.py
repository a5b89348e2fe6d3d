"""Tests of storage.segments.time_index."""

from wirekafka.storage.segments.time_index import TimeIndex


def filled() -> TimeIndex:
    index = TimeIndex(100)
    index.add(1000, 110)
    index.add(1500, 125)
    return index


def test_entries_have_kafkas_bytes() -> None:
    """Timestamp in eight bytes, relative offset in four (TimeIndex)."""
    assert filled().encode().hex() == "00000000000003e80000000a00000000000005dc00000019"
    assert filled().encode(1).hex() == "00000000000005dc00000019"


def test_a_timestamp_that_is_not_larger_is_not_added() -> None:
    """The index only grows; no timestamp at all (-1) is never in it."""
    index = filled()
    index.add(1500, 130)
    index.add(1400, 140)
    nothing = TimeIndex(0)
    nothing.add(-1, 5)

    assert (len(index), index.last()) == (2, (1500, 125))
    assert (len(nothing), nothing.last()) == (0, (-1, 0))


def test_lookup_gives_the_last_entry_at_or_below() -> None:
    """(-1, base offset) when there is none."""
    assert [filled().lookup(t) for t in (999, 1000, 1499, 1500, 9999)] == [
        (-1, 100),
        (1000, 110),
        (1000, 110),
        (1500, 125),
        (1500, 125),
    ]


def test_an_index_comes_back_from_its_bytes() -> None:
    """And can be added to."""
    index = TimeIndex.decode(100, filled().encode())

    assert index is not None
    index.add(2000, 150)
    assert index.last() == (2000, 150)


def test_bytes_that_cannot_be_an_index_are_none() -> None:
    """Half an entry, timestamps that do not grow, offsets that shrink, zeros that were never written."""
    data = filled().encode()

    assert TimeIndex.decode(100, data[:-1]) is None
    assert TimeIndex.decode(100, data[12:] + data[:12]) is None
    assert TimeIndex.decode(100, data + bytes(12)) is None
    assert TimeIndex.decode(100, data + bytes.fromhex("0000000000000fff00000001")) is None


def test_indexes_without_an_entry_share_nothing_that_one_of_them_gets() -> None:
    """Empty arrays are shared by all; the first entry makes an index arrays of its own."""
    one, other = TimeIndex(0), TimeIndex(0)
    one.add(1000, 10)
    read = TimeIndex.decode(0, one.encode())

    assert (len(one), len(other), len(TimeIndex(0))) == (1, 0, 0)
    assert read is not None
    assert (len(read), read.last(), len(TimeIndex(0))) == (1, (1000, 10), 0)
