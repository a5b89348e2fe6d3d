"""What both halves of the compiler share: generated lines, and facts about construct nodes.

`compile_parse` and `compile_build` walk the construct tree of a message at a version with it and
write one straight-line Python function each; `codec` asks for them when a codec is first used. The
tree holds the node kinds of `nodes` and construct's fixed-width fields; a node that is neither is a
TypeError at first use, never a slow path in silence. Fixed-width neighbours become one `struct`
call, across nested structs and together with the length that follows them.

The parse function trusts its input to be long enough only where a check stands: every length and
count is checked against `size` before bytes are taken or a list is built. What it may still raise
on short input (IndexError, struct.error, UnicodeDecodeError) `codec` turns into MalformedMessage.

Source: the manner of attrs' generated methods (linecache, so that tracebacks show the lines).
"""

import linecache
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import construct

from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.nodes import ArrayOf, Instance, NullableStruct, Sized, TaggedFields

# Any stands here for message values and generated functions, whose types only the schema knows.

ParseFunction = Callable[[Any, int, int], tuple[Any, int]]
BuildFunction = Callable[[Any, bytearray, list[Any]], bytearray]

_READY_COUNTS = 16
"""Arrays of fewer numbers than this find their `struct` method ready made."""


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


def skip_tagged(buffer: Any, position: int, size: int, count: int) -> int:
    """Pass over `count` tagged fields that nobody here knows; give the position behind them."""
    for _ in range(count):
        for _tag_then_length in range(2):
            value = buffer[position]
            position += 1
            if value >= 0x80:
                value, position = rest_of_varint(buffer, position, value)
        position += value
        if position > size:
            raise MalformedMessage("a tagged field beyond the end")
    return position


def fixed_format(node: construct.Construct) -> str | None:
    """The struct letter of a fixed-width node, None for any other."""
    if isinstance(node, construct.FormatField):
        letter: str = node.fmtstr[1:]
        return letter
    if node is construct.Flag:
        return "?"
    if isinstance(node, construct.Bytes):
        return f"{node.length}s"
    return None


def unknown_node(node: construct.Construct) -> TypeError:
    return TypeError(f"no compiler for construct node {node!r}")


def min_size(node: construct.Construct) -> int:
    """The fewest bytes a value of this node takes; what a count is checked against."""
    letter = fixed_format(node)
    if letter is not None:
        return struct.calcsize(">" + letter)
    if isinstance(node, Sized | ArrayOf):
        return 1 if node.count.compact else node.count.width
    if isinstance(node, NullableStruct | TaggedFields):
        return 1
    if isinstance(node, Instance):
        return sum(min_size(field.subcon) for field in node.subcon.subcons)
    raise unknown_node(node)


def holds_records(node: construct.Construct) -> bool:
    """Whether record data stands anywhere in the tree below `node`."""
    if isinstance(node, Sized):
        return node.payload == "records"
    if isinstance(node, ArrayOf):
        return holds_records(node.element)
    if isinstance(node, NullableStruct):
        return holds_records(node.inner)
    if isinstance(node, Instance):
        return any(holds_records(field.subcon) for field in node.subcon.subcons)
    if isinstance(node, TaggedFields):
        return any(holds_records(field.subcon) for field in node.fields)
    return False


def is_literal(value: Any) -> bool:
    """Whether `repr(value)` is Python for an equal value."""
    return value is None or value == [] or isinstance(value, int | float | str | bytes)


class Writer:
    """Lines of Python under construction, names that do not clash, and the values they refer to.

    Fixed-width fields wait in `run` as (struct letter, target or source) until something else
    follows; `flush_run`, set by the half that writes, turns them into one call. Every block begins
    and ends with a flush.
    """

    def __init__(self, flush_run: Callable[[], None]) -> None:
        self.flush_run = flush_run
        self.run: list[tuple[str, str]] = []
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.scope: dict[str, Any] = {
            "MalformedMessage": MalformedMessage,
            "rest_of_varint": rest_of_varint,
            "varint_bytes": varint_bytes,
            "skip_tagged": skip_tagged,
            "new": object.__new__,
            "pack": struct.pack,
            "unpack_from": struct.unpack_from,
        }

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """An indented block: `with writer.block("if x:"):`."""
        self.flush_run()
        self.put(head)
        self.depth += 1
        yield
        self.flush_run()
        self.depth -= 1

    def refuse_if(self, condition: str, what: str) -> None:
        """Write a check. What the condition reads must be unpacked: the run is not flushed for it."""
        self.put(f"if {condition}:")
        self.put(f"    raise MalformedMessage({what!r})")

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}_{self.names}"

    def refer(self, stem: str, value: Any) -> str:
        """A name by which the generated code finds `value`."""
        for name, known in self.scope.items():
            if known is value:
                return name
        name = self.name(stem)
        self.scope[name] = value
        return name

    def take_run(self) -> tuple[str, list[str]]:
        """The struct format of the fields that wait, and their targets or sources."""
        fmt = "".join(letter for letter, _ in self.run)
        names = [name for _, name in self.run if name]
        self.run.clear()
        return fmt, names

    def method(self, direction: Literal["pack", "unpack_from"], fmt: str) -> str:
        """The bound method of a Struct for this format, one for each format used."""
        name = f"{direction}_{fmt.replace('?', 'o')}"
        self.scope.setdefault(name, getattr(struct.Struct(">" + fmt), direction))
        return name

    def method_for_count(self, direction: Literal["pack", "unpack_from"], letter: str, n: str) -> str:
        """An expression for the method that takes `n` numbers of one kind, while `ready(n)` is true."""
        name = f"{direction}_many_{letter.replace('?', 'o')}"
        if name not in self.scope:
            forms = (struct.Struct(f">{count}{letter}") for count in range(_READY_COUNTS))
            self.scope[name] = tuple(getattr(form, direction) for form in forms)
        return f"{name}[{n}]"

    def ready(self, n: str) -> str:
        """The condition under which `method_for_count` has a method; `n` is a variable's name."""
        return f"{n} < {_READY_COUNTS}"


def compile_function(name: str, head: str, body: list[str], scope: dict[str, Any]) -> Any:
    """Compile a function and let tracebacks and debuggers find its source."""
    source = "\n".join([head, *body, ""])
    file = f"<wirekafka codec {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), scope)
    return scope[head.removeprefix("def ").partition("(")[0]]
