"""Tests of storage.segments.offset_index."""

from hypothesis import given
from hypothesis import strategies as st

from wirekafka.storage.segments.offset_index import OffsetIndex


def filled() -> OffsetIndex:
    index = OffsetIndex(100)
    index.add(110, 4200)
    index.add(125, 8400)
    return index


def test_entries_have_kafkas_bytes() -> None:
    """Relative offset and position, four bytes each (OffsetIndex)."""
    assert filled().encode().hex() == "0000000a0000106800000019000020d0"
    assert filled().encode(1).hex() == "00000019000020d0"
    assert filled().encode(2) == b""


def test_lookup_gives_the_last_entry_at_or_before() -> None:
    """(base offset, 0) when there is none."""
    index = filled()

    assert [index.lookup(offset) for offset in (100, 109, 110, 124, 125, 9999)] == [
        (100, 0),
        (100, 0),
        (110, 4200),
        (110, 4200),
        (125, 8400),
        (125, 8400),
    ]
    assert (index.last(), OffsetIndex(7).last()) == ((125, 8400), (7, 0))


def test_an_index_comes_back_from_its_bytes() -> None:
    """And can be added to."""
    index = OffsetIndex.decode(100, filled().encode(), 10_000)

    assert index is not None
    index.add(130, 9000)
    assert (len(index), index.lookup(131)) == (3, (130, 9000))


def test_bytes_that_cannot_be_an_index_are_none() -> None:
    """Half an entry, what does not grow, a position behind the log, zeros that were never written."""
    data = filled().encode()

    assert OffsetIndex.decode(100, data[:-1], 10_000) is None
    assert OffsetIndex.decode(100, data[8:] + data[:8], 10_000) is None
    assert OffsetIndex.decode(100, data, 8400) is None
    assert OffsetIndex.decode(100, data + bytes(16), 10_000) is None
    assert OffsetIndex.decode(100, bytes.fromhex("8000000000000001"), 10_000) is None


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 10_000)), max_size=50), st.integers(0, 60_000))
def test_lookup_agrees_with_a_plain_search(steps: list[tuple[int, int]], offset: int) -> None:
    """For any index and offset."""
    index, entries, last, position = OffsetIndex(5), [(5, 0)], 5, 0
    for offset_step, position_step in steps:
        last, position = last + offset_step, position + position_step
        index.add(last, position)
        entries.append((last, position))

    assert index.lookup(offset) == max((e for e in entries if e[0] <= offset), default=(5, 0))


def test_the_first_entry_from_a_position_on_is_found() -> None:
    """None when there is none."""
    index = OffsetIndex(100)
    index.add(104, 50)
    index.add(109, 120)

    assert [index.first_from(position) for position in (0, 50, 51, 120, 121)] == [104, 104, 109, 109, None]


def test_indexes_without_an_entry_share_nothing_that_one_of_them_gets() -> None:
    """Empty arrays are shared by all; the first entry makes an index arrays of its own."""
    one, other = OffsetIndex(0), OffsetIndex(0)
    one.add(10, 4200)

    assert (len(one), len(other), len(OffsetIndex(0))) == (1, 0, 0)
    assert (one.last(), other.last()) == ((10, 4200), (0, 0))
