"""The building half of the compiler: construct tree in, `build(message, out, parts)` out.

Called by `codec`. The function written appends to the bytearray `out` and gives the bytearray that
the message ends in. Record data too large to copy closes `out`: it and the data go to `parts`, and
a new bytearray begins. A message without record data never touches `parts`.

None where none may be is not looked for: it has neither length nor `encode`, and `codec` turns what
Python says of it into MalformedMessage.

Source: the Kafka protocol guide, section "Protocol Primitive Types"; KIP-482.
"""

from collections.abc import Callable
from typing import Any

import construct

from wirekafka.protocol.compiler import (
    BuildFunction,
    Writer,
    compile_function,
    fixed_format,
    holds_records,
    is_literal,
    unknown_node,
)
from wirekafka.protocol.nodes import (
    LONGEST_STRING_BYTES,
    TAGGED,
    ArrayOf,
    Count,
    Instance,
    NullableStruct,
    Sized,
    TaggedField,
    TaggedFields,
)

_DIRECT_COPY_LIMIT_BYTES = 32 * 1024
"""Record data up to this size is copied behind its header; larger is sent as a part of its own."""

_COPIED = (bytes, bytearray, memoryview)
"""Record data that can be copied at all; anything else is sent by whoever reads `parts`."""


def compile_build(name: str, instance: Instance) -> BuildFunction:
    """Write and compile the builder of one message class at one version."""
    build = _Build()
    build.instance(instance, "message")
    build.flush_run()
    build.put("return out")
    function: BuildFunction = compile_function(
        f"build {name}", "def build(message, out, parts):", build.writer.lines, build.writer.scope
    )
    return function


class _Build:
    """One method a node kind; each appends the value of the expression `source` to `out`."""

    def __init__(self) -> None:
        self.writer = Writer(self.flush_run)
        self.writer.scope["COPIED"] = _COPIED
        self.put = self.writer.put
        self.block = self.writer.block

    def flush_run(self) -> None:
        """Pack the fixed-width fields that wait, in one call."""
        fmt, sources = self.writer.take_run()
        if fmt == "x":
            self.put("out.append(0)")
        elif fmt == "B":
            self.put(f"out.append({sources[0]})")
        elif fmt:
            self.put(f"out += {self.writer.method('pack', fmt)}({', '.join(sources)})")

    def zero_byte(self) -> None:
        self.writer.run.append(("x", ""))

    def node(self, node: construct.Construct, source: str) -> None:
        letter = fixed_format(node)
        if letter is not None:
            self.fixed(letter, source)
        elif isinstance(node, Sized):
            self.sized(node, source)
        elif isinstance(node, ArrayOf):
            self.array(node, source)
        elif isinstance(node, NullableStruct):
            self.nullable_struct(node, source)
        elif isinstance(node, Instance):
            self.instance(node, source)
        else:
            raise unknown_node(node)

    def instance(self, node: Instance, source: str) -> None:
        source = self.held("part", source)
        for field in node.subcon.subcons:
            if field.name == TAGGED:
                self.tagged(field.subcon, source)
            else:
                self.node(field.subcon, f"{source}.{field.name}")

    def variable(self, stem: str, source: str) -> str:
        """Load an expression once, into a variable."""
        name = self.writer.name(stem)
        self.put(f"{name} = {source}")
        return name

    def held(self, stem: str, source: str) -> str:
        """`source` if it is a variable, else a variable that holds it."""
        return source if source.isidentifier() else self.variable(stem, source)

    def fixed(self, letter: str, source: str) -> None:
        if letter.endswith("s"):
            # struct would cut or pad bytes of another length in silence.
            source, length = self.held("value", source), letter.removesuffix("s")
            self.writer.refuse_if(f"len({source}) != {length}", f"an id of other than {length} bytes")
        self.writer.run.append((letter, source))

    def length(self, count: Count, value: str) -> str:
        """A variable with the length of a value; one more than it for a compact count."""
        return self.variable("n", f"len({value}) + 1" if count.compact else f"len({value})")

    def count(self, count: Count, n: str, most: int | None = None) -> None:
        """Write a length or count, given by `length`, behind the fixed-width fields that wait."""
        if not count.compact:
            self.writer.run.append(("h" if count.width == 2 else "l", n))
            return
        waiting = list(self.writer.run)
        self.writer.run.clear()
        with self.block(f"if {n} < 0x80:"):
            self.writer.run += [*waiting, ("B", n)]
        with self.block("else:"):
            if most is not None:
                self.writer.refuse_if(f"{n} > {most + 1}", "a length beyond what this field may have")
            self.writer.run += waiting
            self.flush_run()
            self.put(f"out += varint_bytes({n})")

    def nullable(self, nullable: bool, source: str, write: Callable[[str], None], null: bytes) -> None:
        """`write` the source, or `null` if it is None and may be."""
        if not nullable:
            write(source)
            return
        value = self.held("value", source)
        with self.block(f"if {value} is None:"):
            self.put("out.append(0)" if null == b"\0" else f"out += {null!r}")
        with self.block("else:"):
            write(value)

    def sized(self, node: Sized, source: str) -> None:
        self.nullable(node.nullable, source, lambda held: self.payload(node, held), null_form(node.count))

    def payload(self, node: Sized, source: str) -> None:
        if node.payload == "text":
            value = self.variable("raw", f"{source}.encode()")
        else:
            value = self.held("raw", source)
        n = self.length(node.count, value)
        self.count(node.count, n, LONGEST_STRING_BYTES if node.payload == "text" else None)
        self.flush_run()
        if node.payload == "records":
            self.records(node.count, value, n)
        else:
            self.put(f"out += {value}")

    def records(self, count: Count, value: str, n: str) -> None:
        limit = _DIRECT_COPY_LIMIT_BYTES + (1 if count.compact else 0)
        with self.block(f"if {n} <= {limit} and isinstance({value}, COPIED):"):
            self.put(f"out += {value}")
        with self.block("else:"):
            self.put("parts.append(out)")
            self.put(f"parts.append({value})")
            self.put("out = bytearray()")

    def array(self, node: ArrayOf, source: str) -> None:
        self.nullable(node.nullable, source, lambda held: self.elements(node, held), null_form(node.count))

    def elements(self, node: ArrayOf, source: str) -> None:
        items = self.held("items", source)
        n = self.length(node.count, items)
        self.count(node.count, n)
        letter = fixed_format(node.element)
        if letter is None or len(letter) > 1:
            item = self.writer.name("item")
            with self.block(f"for {item} in {items}:"):
                self.node(node.element, item)
            return
        if node.count.compact:
            self.put(f"{n} -= 1")
        with self.block(f"if {self.writer.ready(n)}:"):
            self.put(f"out += {self.writer.method_for_count('pack', letter, n)}(*{items})")
        with self.block("else:"):
            self.put(f"out += pack(f'>{{{n}}}{letter}', *{items})")

    def nullable_struct(self, node: NullableStruct, source: str) -> None:
        self.nullable(True, source, lambda held: self.present_struct(node.inner, held), node.null)

    def present_struct(self, inner: Instance, value: str) -> None:
        self.writer.run.append(("B", "1"))
        self.instance(inner, value)

    def tagged(self, node: TaggedFields, source: str) -> None:
        """The tagged section: one zero byte if every field is at its default, as nearly always."""
        if not node.fields:
            self.zero_byte()
            return
        if any(holds_records(field.subcon) for field in node.fields):
            raise TypeError(f"no compiler for record data in a tagged field of {source}")
        values = [self.variable("value", f"{source}.{field.name}") for field in node.fields]
        defaults = [
            self.at_default(field.default, v, nullable=isinstance(field.subcon, NullableStruct))
            for field, v in zip(node.fields, values, strict=True)
        ]
        with self.block(f"if {' and '.join(defaults)}:"):
            self.zero_byte()
        with self.block("else:"):
            self.written_tagged(list(zip(node.fields, values, defaults, strict=True)))

    def written_tagged(self, fields: list[tuple[TaggedField, str, str]]) -> None:
        """Write the fields that are not at their default, each in a bytearray of its own first."""
        written, outer = self.variable("written", "[]"), self.variable("outer", "out")
        for field, value, default in fields:
            with self.block(f"if not ({default}):"):
                self.put("out = bytearray()")
                self.node(field.subcon, value)
                self.flush_run()
                self.put(f"{written}.append(({field.tag}, out))")
        self.put(f"out = {outer}")
        self.put(f"out += varint_bytes(len({written}))")
        with self.block(f"for tag, raw in {written}:"):
            self.put("out += varint_bytes(tag)")
            self.put("out += varint_bytes(len(raw))")
            self.put("out += raw")

    def at_default(self, default: Callable[[], Any], source: str, *, nullable: bool = False) -> str:
        """A condition for `source` being at its default; of a message, field by field."""
        value = default()
        if value is None:
            return f"{source} is None"
        if is_literal(value):
            return f"{source} == {value!r}"
        if hasattr(value, "wire_fields") and value == type(value)():
            fields = (self.at_default(f.default, f"{source}.{f.name}") for f in value.wire_fields)
            there = [f"{source} is not None"] if nullable else []
            return " and ".join([*there, *fields])
        return f"{source} == {self.writer.refer('default', value)}"


def null_form(count: Count) -> bytes:
    return b"\0" if count.compact else b"\xff" * count.width
