"""Tests of protocol.records.varint."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirekafka.protocol.records.varint import read_varint, read_varlong, write_varint


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (64, "8001"), (-65, "8101"), (300, "d804")],
)
def test_small_numbers_have_their_zig_zag_form(value: int, encoded: str) -> None:
    """Zig-zag puts the sign in the lowest bit, so that small numbers of either sign are short."""
    out = bytearray()
    write_varint(out, value)

    assert out.hex() == encoded
    assert read_varint(out, 0) == (value, len(out))


@given(st.integers(-(1 << 31), (1 << 31) - 1))
def test_every_varint_comes_back(value: int) -> None:
    """What is written is read, and takes five bytes at most."""
    out = bytearray(b"..")
    write_varint(out, value)

    assert read_varint(out, 2) == (value, len(out))
    assert len(out) <= 7


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_every_varlong_comes_back(value: int) -> None:
    """What is written is read, and takes ten bytes at most."""
    out = bytearray()
    write_varint(out, value)

    assert read_varlong(out, 0) == (value, len(out))
    assert len(out) <= 10


def test_a_varint_of_six_bytes_is_refused() -> None:
    """A 32-bit number has five bytes at most; a varlong may have ten, not eleven."""
    with pytest.raises(ValueError, match="too many bytes"):
        read_varint(b"\x80\x80\x80\x80\x80\x01", 0)
    with pytest.raises(ValueError, match="too many bytes"):
        read_varlong(b"\x80" * 10 + b"\x01", 0)


def test_a_varint_that_ends_too_early_is_an_index_error() -> None:
    """The caller turns it into CORRUPT_MESSAGE."""
    with pytest.raises(IndexError):
        read_varint(b"\x80", 0)
