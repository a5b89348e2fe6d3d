"""Tests of protocol/nodes.py: the interpreted forms, byte by byte."""

from io import BytesIO
from typing import Any

import construct
import pytest

from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.nodes import (
    UVARINT,
    ArrayOf,
    Count,
    NullableStruct,
    Sized,
    TaggedField,
    TaggedFields,
    bytes_left,
)
from wirekafka.protocol.wire import INT32

COMPACT, SHORT, LONG = Count(True), Count(False, 2), Count(False, 4)


class Point(Message):
    x: int = wire(INT32)


@pytest.mark.parametrize(
    ("value", "raw"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**32 - 1, "ffffffff0f")]
)
def test_unsigned_varint_is_seven_bits_a_byte_lowest_first(value: int, raw: str) -> None:
    """As protocol buffers write it."""
    assert UVARINT.build(value).hex() == raw
    assert UVARINT.parse(bytes.fromhex(raw)) == value


@pytest.mark.parametrize("raw", ["ffffffff1f", "808080808000"])
def test_unsigned_varint_beyond_32_bits_is_refused(raw: str) -> None:
    """Five bytes at most, and 32 bits in them."""
    with pytest.raises(construct.IntegerError):
        UVARINT.parse(bytes.fromhex(raw))


@pytest.mark.parametrize(
    ("node", "value", "raw"),
    [
        (Sized(SHORT, "text", False), "é", "0002c3a9"),
        (Sized(COMPACT, "text", False), "é", "03c3a9"),
        (Sized(SHORT, "text", True), None, "ffff"),
        (Sized(LONG, "bytes", True), None, "ffffffff"),
        (Sized(COMPACT, "bytes", True), None, "00"),
        (Sized(COMPACT, "records", True), b"", "01"),
        (Sized(LONG, "bytes", False), b"ab", "000000026162"),
        (ArrayOf(LONG, construct.Int16sb, False), [1, -1], "000000020001ffff"),
        (ArrayOf(COMPACT, construct.Int16sb, False), [], "01"),
        (ArrayOf(COMPACT, construct.Int16sb, True), None, "00"),
        (ArrayOf(LONG, construct.Int16sb, True), None, "ffffffff"),
        (NullableStruct(Point.instance(0)), Point(x=2), "0100000002"),
        (NullableStruct(Point.instance(0)), None, "ff"),
        (NullableStruct(Point.instance(0)).in_tag(), Point(x=2), "0100000002"),
        (NullableStruct(Point.instance(0)).in_tag(), None, "00"),
    ],
)
def test_values_have_the_forms_of_the_protocol_guide(node: Any, value: object, raw: str) -> None:
    """Lengths old and compact, null as -1 or 0."""
    assert node.build(value).hex() == raw
    assert node.parse(bytes.fromhex(raw)) == value


@pytest.mark.parametrize(
    ("node", "raw"),
    [
        (Sized(SHORT, "text", False), "ffff"),
        (Sized(SHORT, "text", True), "fffe"),
        (Sized(COMPACT, "text", False), "00"),
        (Sized(COMPACT, "text", False), "8180026161"),
        (Sized(COMPACT, "bytes", False), "0461"),
        (ArrayOf(LONG, construct.Int8sb, False), "ffffffff"),
        (ArrayOf(LONG, construct.Int8sb, True), "fffffffe"),
        (ArrayOf(LONG, construct.Int8sb, False), "7fffffff00"),
        (TaggedFields([]), "010004"),
        (TaggedFields([TaggedField(0, "x", construct.Int8sb, int)]), "0100020000"),
    ],
)
def test_forms_that_no_value_has_are_refused(node: Any, raw: str) -> None:
    """Null where none may be, lengths below -1 and beyond the end, a tag of another size."""
    with pytest.raises(construct.ConstructError):
        node.parse(bytes.fromhex(raw))


@pytest.mark.parametrize("node", [Sized(SHORT, "text", False), ArrayOf(LONG, construct.Int8sb, False)])
def test_none_is_not_built_where_no_null_may_be(node: Any) -> None:
    """The schema says which fields are nullable, version by version."""
    with pytest.raises(construct.RangeError):
        node.build(None)


def test_tagged_fields_are_written_by_tag_and_only_if_not_at_default() -> None:
    """Ascending tags, each with its size (KIP-482)."""
    node = TaggedFields(
        [
            TaggedField(7, "late", construct.Int16sb, lambda: -1),
            TaggedField(2, "early", construct.Int8sb, int),
            TaggedField(3, "same", construct.Int8sb, int),
        ]
    )

    raw = node.build({"late": 5, "early": 1, "same": 0})

    assert raw.hex(" ") == "02 02 01 01 07 02 00 05"
    assert node.parse(raw) == {"late": 5, "early": 1, "same": 0}


def test_unknown_tags_are_passed_over() -> None:
    """A newer peer's fields."""
    node = TaggedFields([TaggedField(2, "early", construct.Int8sb, int)])

    assert node.parse(bytes.fromhex("02 0101ff 020105")) == {"early": 5}


def test_bytes_left_does_not_move_the_stream() -> None:
    """It is asked between two reads."""
    stream = BytesIO(b"12345")
    stream.read(2)

    assert bytes_left(stream) == 3
    assert stream.read() == b"345"
