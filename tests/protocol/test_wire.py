"""Tests of protocol/wire.py: each field type's bytes and its value when absent."""

from typing import Any

import construct
import pytest

from wirekafka.protocol import wire
from wirekafka.protocol.message import Message
from wirekafka.protocol.message import wire as field
from wirekafka.protocol.nodes import Instance, NullableStruct


class Point(Message):
    x: int = field(wire.INT8, default=0)


@pytest.mark.parametrize(
    ("kind", "value", "old", "flexible"),
    [
        (wire.INT8, -2, "fe", "fe"),
        (wire.INT16, -2, "fffe", "fffe"),
        (wire.INT32, -2, "fffffffe", "fffffffe"),
        (wire.INT64, -2, "fffffffffffffffe", "fffffffffffffffe"),
        (wire.UINT16, 65535, "ffff", "ffff"),
        (wire.UINT32, 2**32 - 1, "ffffffff", "ffffffff"),
        (wire.FLOAT64, 1.0, "3ff0000000000000", "3ff0000000000000"),
        (wire.BOOLEAN, True, "01", "01"),
        (wire.UUID, bytes(range(16)), bytes(range(16)).hex(), bytes(range(16)).hex()),
        (wire.STRING, "ab", "00026162", "036162"),
        (wire.BYTES, b"ab", "000000026162", "036162"),
        (wire.RECORDS, b"ab", "000000026162", "036162"),
        (wire.STORED_RECORDS, b"ab", "000000026162", "036162"),
        (wire.array_of(wire.INT8), [1], "0000000101", "0201"),
        (wire.array_of(Point), [Point(x=1)], "0000000101", "020100"),
        (wire.struct_of(Point), Point(x=1), "01", "0100"),
    ],
)
def test_kind_has_the_bytes_of_the_protocol_guide(kind: Any, value: object, old: str, flexible: str) -> None:
    """Old forms, and compact forms in flexible versions."""
    assert kind.node(0, False, False).build(value).hex() == old
    assert kind.node(0, True, False).build(value).hex() == flexible


@pytest.mark.parametrize(
    ("kind", "old", "flexible"),
    [
        (wire.NULLABLE_STRING, "ffff", "00"),
        (wire.NULLABLE_BYTES, "ffffffff", "00"),
        (wire.RECORDS, "ffffffff", "00"),
        (wire.STORED_RECORDS, "ffffffff", "00"),
        (wire.nullable_array_of(wire.INT8), "ffffffff", "00"),
        (wire.nullable_struct_of(Point), "ff", "ff"),
    ],
)
def test_nullable_kind_writes_none(kind: Any, old: str, flexible: str) -> None:
    """-1 in the old forms, 0 in the compact ones, -1 in one byte for a struct (KIP-893)."""
    assert kind.nullable
    assert kind.node(0, False, True).build(None).hex() == old
    assert kind.node(0, True, True).build(None).hex() == flexible


@pytest.mark.parametrize(
    "kind", [wire.NULLABLE_STRING, wire.NULLABLE_BYTES, wire.nullable_array_of(wire.INT8)]
)
def test_nullable_kind_refuses_none_in_versions_without_null(kind: Any) -> None:
    """Nullability is asked for version by version."""
    with pytest.raises(construct.RangeError):
        kind.node(0, False, False).build(None)


def test_nullable_struct_is_a_plain_one_in_versions_without_null() -> None:
    """No marker byte stands before it then."""
    assert isinstance(wire.nullable_struct_of(Point).node(0, True, True), NullableStruct)
    assert isinstance(wire.nullable_struct_of(Point).node(0, True, False), Instance)


@pytest.mark.parametrize(
    ("kind", "zero"),
    [
        (wire.INT32, 0),
        (wire.BOOLEAN, False),
        (wire.UUID, bytes(16)),
        (wire.STRING, ""),
        (wire.NULLABLE_STRING, ""),
        (wire.RECORDS, None),
        (wire.array_of(wire.INT8), []),
        (wire.nullable_array_of(wire.INT8), []),
        (wire.struct_of(Point), Point(x=0)),
        (wire.nullable_struct_of(Point), None),
    ],
)
def test_kind_has_a_value_for_versions_without_the_field(kind: Any, zero: object) -> None:
    """Kafka's implicit defaults."""
    assert kind.zero() == zero
