"""The types a message field may have, each typed for Python and giving construct its node.

`message.wire` takes one of these; `Wire[T]` makes annotation and wire form agree by type checking.

Source: the Kafka protocol guide, section "Protocol Primitive Types".
"""

from collections.abc import Callable
from collections.abc import Sized as HasLength
from typing import Any, Generic, TypeVar

import construct

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.nodes import ArrayOf, Count, Instance, NullableStruct, Payload, Sized

T = TypeVar("T")


class Wire(Generic[T]):
    """A field type: `node` gives its construct for a version, `zero` its value when absent."""

    def __init__(
        self,
        node: Callable[[int, bool, bool], construct.Construct],
        zero: Callable[[], T],
        *,
        nullable: bool = False,
    ) -> None:
        self.node = node
        self.zero = zero
        self.nullable = nullable


def _fixed(subcon: construct.Construct, zero: T) -> Wire[T]:
    return Wire(lambda version, flexible, nullable: subcon, lambda: zero)


INT8: Wire[int] = _fixed(construct.Int8sb, 0)
INT16: Wire[int] = _fixed(construct.Int16sb, 0)
INT32: Wire[int] = _fixed(construct.Int32sb, 0)
INT64: Wire[int] = _fixed(construct.Int64sb, 0)
UINT16: Wire[int] = _fixed(construct.Int16ub, 0)
UINT32: Wire[int] = _fixed(construct.Int32ub, 0)
FLOAT64: Wire[float] = _fixed(construct.Float64b, 0.0)
BOOLEAN: Wire[bool] = _fixed(construct.Flag, False)
UUID: Wire[bytes] = _fixed(construct.Bytes(16), NO_TOPIC_ID)
"""Sixteen raw bytes; all zero means none."""


def _sized(payload: Payload, zero: T, *, width: Any = 4, nullable: bool = False) -> Wire[T]:
    def node(version: int, flexible: bool, nullable: bool) -> construct.Construct:
        return Sized(Count(flexible, width), payload, nullable)

    return Wire(node, lambda: zero, nullable=nullable)


STRING: Wire[str] = _sized("text", "", width=2)
NULLABLE_STRING: Wire[str | None] = _sized("text", "", width=2, nullable=True)
BYTES: Wire[bytes] = _sized("bytes", b"")
NULLABLE_BYTES: Wire[bytes | None] = _sized("bytes", b"", nullable=True)
RECORDS: Wire[memoryview | None] = _sized("records", None, nullable=True)
"""Record batches as received: a view of the frame, valid until the request is answered."""
STORED_RECORDS: Wire["HasLength | None"] = _sized("records", None, nullable=True)
"""Record batches to be sent: bytes, or a slice of a file that the connection sends by itself."""


def array_of(element: "type[T] | Wire[T]") -> Wire[list[T]]:
    """A list of messages of one class, or of one primitive type."""

    def node(version: int, flexible: bool, nullable: bool) -> construct.Construct:
        return ArrayOf(Count(flexible), _element(element, version, flexible), nullable)

    return Wire(node, list)


def nullable_array_of(element: "type[T] | Wire[T]") -> Wire[list[T] | None]:
    """As `array_of`, and None in the versions that the field calls nullable."""
    inner = array_of(element)
    return Wire(inner.node, list, nullable=True)


def struct_of(cls: type[T]) -> Wire[T]:
    """One nested message."""
    return Wire(lambda version, flexible, nullable: _element(cls, version, flexible), cls)


def nullable_struct_of(cls: type[T]) -> Wire[T | None]:
    """One nested message, or None."""

    def node(version: int, flexible: bool, nullable: bool) -> construct.Construct:
        inner = _element(cls, version, flexible)
        return NullableStruct(inner) if nullable else inner

    return Wire(node, lambda: None, nullable=True)


def _element(element: Any, version: int, flexible: bool) -> construct.Construct:
    if isinstance(element, Wire):
        return element.node(version, flexible, False)
    instance: Instance = element.instance(version, flexible)
    return instance
