"""Writes straight-line Python from a construct tree: one function that parses, one that builds.

`codec` calls it once for each message class and version used. It knows the node kinds of `nodes`
and construct's fixed-width fields; a node it does not know is a TypeError at first use, never a
slow path in silence. Fixed-width neighbours become one `struct` call.

The parse function trusts its input to be long enough only where a check stands: every length and
count is checked against `size` before bytes are taken or a list is built. What it may still raise
on short input (IndexError, struct.error, UnicodeDecodeError) `codec` turns into MalformedMessage.

Source: the manner of attrs' generated methods (linecache, so that tracebacks show the lines).
"""

import linecache
import struct
from collections.abc import Callable
from typing import Any, Literal

import construct

from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.nodes import (
    ArrayOf,
    Instance,
    NullableStruct,
    Sized,
    TaggedFields,
)

# Any stands here for message values and generated functions, whose types only the schema knows.

ParseFunction = Callable[[Any, int, int], tuple[Any, int]]
BuildFunction = Callable[[Any, bytearray, list[Any]], bytearray]

_DIRECT_COPY_LIMIT_BYTES = 32 * 1024
"""Record data up to this size is copied behind its header; larger is sent as a part of its own."""


def rest_of_varint(buffer: Any, position: int, first: int) -> tuple[int, int]:
    """Finish an unsigned varint whose first byte, 0x80 or more, has been read."""
    value = first & 0x7F
    for shift in (7, 14, 21, 28):
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > 0xFFFFFFFF:
                break
            return value, position
    raise MalformedMessage("a varint of more than 32 bits")


def varint_bytes(value: int) -> bytes:
    """An unsigned varint."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def refuse(what: str) -> None:
    raise MalformedMessage(what)


def skip_tagged(buffer: Any, position: int, size: int, count: int) -> int:
    """Pass over `count` tagged fields that nobody here knows; give the position behind them."""
    for _ in range(count):
        for step in ("tag", "size"):
            value = buffer[position]
            position += 1
            if value >= 0x80:
                value, position = rest_of_varint(buffer, position, value)
        position += value
        if position > size:
            refuse(f"a tagged {step} beyond the end")
    return position


def _fixed_format(node: construct.Construct) -> str | None:
    """The struct letter of a fixed-width node, None for any other."""
    if isinstance(node, construct.FormatField):
        letter: str = node.fmtstr[1:]
        return letter
    if node is construct.Flag:
        return "?"
    if isinstance(node, construct.Bytes):
        return f"{node.length}s"
    return None


def min_size(node: construct.Construct) -> int:
    """The fewest bytes a value of this node takes; what a count is checked against."""
    letter = _fixed_format(node)
    if letter is not None:
        return struct.calcsize(">" + letter)
    if isinstance(node, Sized | ArrayOf):
        return 1 if node.count.compact else node.count.width
    if isinstance(node, NullableStruct | TaggedFields):
        return 1
    if isinstance(node, Instance):
        return sum(min_size(field.subcon) for field in node.subcon.subcons)
    raise TypeError(f"no compiler for construct node {node!r}")


class Writer:
    """Lines of Python under construction, names that do not clash, and the values they refer to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.scope: dict[str, Any] = {
            "rest_of_varint": rest_of_varint, "varint_bytes": varint_bytes, "refuse": refuse,
            "skip_tagged": skip_tagged, "new": object.__new__, "unpack_from": struct.unpack_from,
            "LIMIT": _DIRECT_COPY_LIMIT_BYTES,
        }  # fmt: skip

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}_{self.names}"

    def refer(self, stem: str, value: Any) -> str:
        for name, known in self.scope.items():
            if known is value:
                return name
        name = self.name(stem)
        self.scope[name] = value
        return name

    def pack(self, direction: Literal["pack", "unpack_from"], fmt: str) -> str:
        """The bound method of a Struct for this format, one for each format used."""
        name = f"{direction}_{fmt.replace('?', 'B_')}"
        self.scope.setdefault(name, getattr(struct.Struct(">" + fmt), direction))
        return name


class Block:
    """An indented block: `with Block(writer, "if x:"):`."""

    def __init__(self, writer: Writer, head: str) -> None:
        self.writer, self.head = writer, head

    def __enter__(self) -> None:
        self.writer.put(self.head)
        self.writer.depth += 1

    def __exit__(self, *exc: object) -> None:
        self.writer.depth -= 1


def compile_function(name: str, head: str, body: list[str], scope: dict[str, Any]) -> Any:
    """Compile a function and let tracebacks and debuggers find its source."""
    source = "\n".join([head, *body, ""])
    file = f"<wirekafka codec {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), scope)
    return scope[head.removeprefix("def ").partition("(")[0]]
