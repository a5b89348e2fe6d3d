"""Tests of broker/kept_pieces.py."""

from wirekafka.broker.kept_pieces import KeptPieces

MIB = 1 << 20


def test_a_piece_is_found_while_its_mark_is_the_same() -> None:
    pieces = KeptPieces()

    assert pieces.keep("t", 1, b"one") == b"one"

    assert [pieces.find("t", 1), pieces.find("t", 2), pieces.find("u", 1)] == [b"one", None, None]


def test_a_later_piece_takes_the_place_of_the_earlier() -> None:
    """Others stay as they are; however often that happens, there is room."""
    pieces = KeptPieces()
    pieces.keep("u", 1, b"u")
    for mark in range(20):
        pieces.keep("t", mark, bytes(MIB))

    assert [pieces.find("t", 18), pieces.find("t", 19), pieces.find("u", 1)] == [None, bytes(MIB), b"u"]


def test_what_is_kept_is_bounded() -> None:
    """When there is no room everything is forgotten; what is larger than all of it is not kept."""
    pieces = KeptPieces()
    for number in range(16):
        pieces.keep(number, 1, bytes(MIB))
    kept = [number for number in range(16) if pieces.find(number, 1) is not None]
    pieces.keep("large", 1, bytes(16 * MIB))

    assert (kept, pieces.find("large", 1)) == ([15], None)


def test_many_small_pieces_are_bounded_too() -> None:
    """What is around them counts."""
    pieces = KeptPieces()
    for number in range(60_000):
        pieces.keep(number, 1, b"")

    assert pieces.find(0, 1) is None
