"""The fields of a message one by one, with the bytes they stand in.

For people who look at frames; called by `cli.protocol`. Walks the construct tree of a version as
the interpreted parser does, but hands out each field as it is read, so that a malformed message
still shows everything in front of the fault.

Source: the Kafka protocol guide, section "Protocol Primitive Types"; KIP-482.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal, TypeVar

import construct

from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.message import Message
from wirekafka.protocol.nodes import (
    TAGGED,
    UVARINT,
    ArrayOf,
    Instance,
    NullableStruct,
    Sized,
    TaggedField,
    TaggedFields,
    bytes_left,
)

T = TypeVar("T")

Form = Literal["number", "flag", "id", "text", "bytes", "records", "array", "struct", "tags", "tag"]


@dataclass(frozen=True, slots=True)
class TracedField:
    """One field, in `data[start:end]`.

    `value` is None for null. An array's is its count, a tagged section's the number of its fields, a
    tag's its number, a struct's the number of its fields; what they hold follows, one `depth` deeper.
    """

    depth: int
    name: str
    form: Form
    value: Any
    start: int
    end: int


class MalformedAt(MalformedMessage):
    """Where a message stops being one, and in which field."""

    def __init__(self, position: int, path: str, reason: str) -> None:
        super().__init__(f"byte {position}, {path}: {reason}")
        self.position, self.path, self.reason = position, path, reason


def trace_message(cls: type[Message], version: int, data: bytes, position: int = 0) -> Iterator[TracedField]:
    """Read a message from `position` on, field by field. Raises MalformedAt at the first fault."""
    tracer = _Tracer(data, position)
    return tracer.fields(cls.instance(version), 0)


class _Tracer:
    """One method a node kind; each yields the node's own field, then what it holds."""

    def __init__(self, data: bytes, position: int) -> None:
        self.stream = BytesIO(data)
        self.stream.seek(position)
        self.path: list[str] = []

    def fields(self, node: Instance, depth: int) -> Iterator[TracedField]:
        for field in node.subcon.subcons:
            if field.name == TAGGED:
                yield from self.tagged(field.subcon, depth)
            else:
                yield from self.node(field.subcon, field.name, depth)

    def node(self, node: construct.Construct, name: str, depth: int) -> Iterator[TracedField]:
        self.path.append(name)
        if isinstance(node, Instance):
            yield self.struct(node, name, depth, self.stream.tell())
            yield from self.fields(node, depth + 1)
        elif isinstance(node, NullableStruct):
            yield from self.nullable_struct(node, name, depth)
        elif isinstance(node, ArrayOf):
            yield from self.array(node, name, depth)
        else:
            yield self.leaf(node, name, depth)
        self.path.pop()

    def struct(self, node: Instance, name: str, depth: int, start: int) -> TracedField:
        count = sum(field.name != TAGGED for field in node.subcon.subcons)
        return TracedField(depth, name, "struct", count, start, self.stream.tell())

    def nullable_struct(self, node: NullableStruct, name: str, depth: int) -> Iterator[TracedField]:
        start = self.stream.tell()
        if self.read(construct.Int8sb.parse_stream) < 0:
            yield TracedField(depth, name, "struct", None, start, self.stream.tell())
            return
        yield self.struct(node.inner, name, depth, start)
        yield from self.fields(node.inner, depth + 1)

    def array(self, node: ArrayOf, name: str, depth: int) -> Iterator[TracedField]:
        start = self.stream.tell()
        count = self.length(node, "elements")
        yield TracedField(depth, name, "array", count, start, self.stream.tell())
        for index in range(count or 0):
            yield from self.node(node.element, f"[{index}]", depth + 1)

    def leaf(self, node: construct.Construct, name: str, depth: int) -> TracedField:
        start = self.stream.tell()
        if isinstance(node, Sized):
            self.length(node, "bytes")
            self.stream.seek(start)
        value = self.read(node.parse_stream)
        return TracedField(depth, name, _form(node), value, start, self.stream.tell())

    def tagged(self, node: TaggedFields, depth: int) -> Iterator[TracedField]:
        self.path.append("tagged fields")
        start = self.stream.tell()
        count = self.read(UVARINT.parse_stream)
        yield TracedField(depth, "tagged fields", "tags", count, start, self.stream.tell())
        known = {field.tag: field for field in node.fields}
        for _ in range(count):
            yield from self.tagged_field(known, depth + 1)
        self.path.pop()

    def tagged_field(self, known: dict[int, TaggedField], depth: int) -> Iterator[TracedField]:
        start = self.stream.tell()
        tag, size = self.read(UVARINT.parse_stream), self.read(UVARINT.parse_stream)
        if size > bytes_left(self.stream):
            raise self.fault(start, f"tag {tag} announces {size} bytes, {bytes_left(self.stream)} are left")
        yield TracedField(depth, f"tag {tag}", "tag", tag, start, self.stream.tell())
        start = self.stream.tell()
        if tag in known:
            yield from self.node(known[tag].subcon, known[tag].name, depth + 1)
        else:
            raw = self.stream.read(size)
            yield TracedField(depth + 1, "unknown", "bytes", raw, start, self.stream.tell())
        taken = self.stream.tell() - start
        if taken != size:
            raise self.fault(start, f"tag {tag} announces {size} bytes, its field takes {taken}")

    def length(self, node: Sized | ArrayOf, unit: str) -> int | None:
        """Read a length or count and hold it against the bytes left; None for null."""
        start = self.stream.tell()
        count = self.read(lambda stream: node.count.read(stream, ""))
        if count == -1 and node.nullable:
            return None
        if count < 0:
            raise self.fault(start, "null where none may be" if count == -1 else f"a length of {count}")
        if count > bytes_left(self.stream):
            raise self.fault(start, f"announces {count} {unit}, {bytes_left(self.stream)} bytes are left")
        return count

    def read(self, parse: Callable[[Any], T]) -> T:
        start = self.stream.tell()
        try:
            return parse(self.stream)
        except construct.StreamError:
            raise self.fault(start, "the end comes within this field") from None
        except construct.ConstructError as error:
            raise self.fault(start, str(error).splitlines()[-1]) from None
        except UnicodeDecodeError as error:
            raise self.fault(start, f"not UTF-8: {error.reason}") from None

    def fault(self, position: int, reason: str) -> MalformedAt:
        return MalformedAt(position, ".".join(self.path).replace(".[", "["), reason)


def _form(node: construct.Construct) -> Form:
    if isinstance(node, Sized):
        return node.payload
    if node is construct.Flag:
        return "flag"
    return "id" if isinstance(node, construct.Bytes) else "number"
