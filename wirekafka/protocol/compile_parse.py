"""The parsing half of the compiler: construct tree in, `parse(buffer, position, size)` out.

Called by `codec`. The function written gives the message and the position behind it.

Source: the Kafka protocol guide, section "Protocol Primitive Types"; KIP-482.
"""

from collections.abc import Callable, Mapping
from struct import calcsize
from typing import Any

import construct

from wirekafka.protocol.compiler import (
    ParseFunction,
    Writer,
    compile_function,
    fixed_format,
    is_literal,
    min_size,
    unknown_node,
)
from wirekafka.protocol.nodes import (
    LONGEST_STRING_BYTES,
    TAGGED,
    ArrayOf,
    Count,
    Instance,
    NullableStruct,
    Payload,
    Sized,
    TaggedFields,
)

_FROM_BYTES: dict[Payload, str] = {
    "text": "buffer[position:end].decode()",
    "bytes": "buffer[position:end]",
}
"""How a payload of known bounds is taken out of bytes: in half the time that a view needs."""

_FROM_ANY: dict[Payload, str] = {
    "text": "str(buffer[position:end], 'utf-8')",
    "bytes": "bytes(buffer[position:end])",
    "records": "buffer[position:end]",
}
"""The same out of any buffer."""


def compile_parse(name: str, instance: Instance, *, from_bytes: bool) -> ParseFunction:
    """Write and compile the parser of one message class at one version.

    `from_bytes` makes one that takes bytes alone, for messages without record data.
    """
    parse = _Parse(_FROM_BYTES if from_bytes else _FROM_ANY)
    result = parse.instance(instance)
    parse.flush_run()
    parse.put(f"return {result}, position")
    function: ParseFunction = compile_function(
        f"parse {name}", "def parse(buffer, position, size):", parse.writer.lines, parse.writer.scope
    )
    return function


class _Parse:
    """One method a node kind; each leaves its value in the variable or attribute `target`."""

    def __init__(self, take: Mapping[Payload, str]) -> None:
        self.take = take
        self.writer = Writer(self.flush_run)
        self.put = self.writer.put
        self.block = self.writer.block

    def flush_run(self) -> None:
        """Unpack the fixed-width fields that wait, in one call."""
        fmt, targets = self.writer.take_run()
        if not fmt:
            return
        if fmt == "B":
            self.put(f"{targets[0]} = buffer[position]")
            self.put("position += 1")
            return
        unpack = self.writer.method("unpack_from", fmt)
        comma = "," if len(targets) == 1 else ""
        self.put(f"{', '.join(targets)}{comma} = {unpack}(buffer, position)")
        self.put(f"position += {calcsize('>' + fmt)}")

    def node(self, node: construct.Construct, target: str) -> None:
        letter = fixed_format(node)
        if letter is not None:
            self.writer.run.append((letter, target))
        elif isinstance(node, Sized):
            self.sized(node, target)
        elif isinstance(node, ArrayOf):
            self.array(node, target)
        elif isinstance(node, NullableStruct):
            self.nullable_struct(node, target)
        elif isinstance(node, Instance):
            self.put(f"{target} = {self.instance(node)}")
        else:
            raise unknown_node(node)

    def instance(self, node: Instance) -> str:
        """Make the object, set what this version lacks, then its fields in order; give its name."""
        this = self.writer.name("m")
        self.put(f"{this} = new({self.writer.refer(node.cls.__name__, node.cls)})")
        for name, default in node.absent.items():
            self.default(default, f"{this}.{name}")
        for field in node.subcon.subcons:
            if field.name == TAGGED:
                self.tagged(field.subcon, this)
            else:
                self.node(field.subcon, f"{this}.{field.name}")
        return this

    def default(self, default: Callable[[], Any], target: str) -> None:
        """Set a field to its default; a message at its own defaults is written out, not called for."""
        value = default()
        if is_literal(value):
            self.put(f"{target} = {value!r}")
        elif hasattr(value, "wire_fields") and value == type(value)():
            this = self.writer.name("m")
            self.put(f"{this} = new({self.writer.refer(type(value).__name__, type(value))})")
            for field in value.wire_fields:
                self.default(field.default, f"{this}.{field.name}")
            self.put(f"{target} = {this}")
        else:
            self.put(f"{target} = {self.writer.refer('default', default)}()")

    def varint(self, target: str, most: int | None = None) -> None:
        self.writer.run.append(("B", target))
        with self.block(f"if {target} >= 0x80:"):
            self.put(f"{target}, position = rest_of_varint(buffer, position, {target})")
            if most is not None:
                self.writer.refuse_if(f"{target} > {most}", "a length beyond what this field may have")

    def count(self, count: Count, most: int | None = None) -> str:
        """Read a length or count, into a variable that is one more than it: 0 is null.

        `most` bounds it; the old forms are bounded by their width.
        """
        n = self.writer.name("n")
        if count.compact:
            self.varint(n, None if most is None else most + 1)
        else:
            self.writer.run.append(("h" if count.width == 2 else "l", n))
            self.flush_run()
            self.put(f"{n} += 1")
            self.writer.refuse_if(f"{n} < 0", "a length below -1")
        return n

    def sized(self, node: Sized, target: str) -> None:
        n = self.count(node.count, LONGEST_STRING_BYTES if node.payload == "text" else None)
        if not node.nullable:
            self.writer.refuse_if(f"not {n}", "null where none may be")
            self.payload(node, n, target)
            return
        with self.block(f"if {n}:"):
            self.payload(node, n, target)
        with self.block("else:"):
            self.put(f"{target} = None")

    def payload(self, node: Sized, n: str, target: str) -> None:
        self.put(f"end = position + {n} - 1")
        self.writer.refuse_if("end > size", "a length beyond the end")
        self.put(f"{target} = {self.take[node.payload]}")
        self.put("position = end")

    def array(self, node: ArrayOf, target: str) -> None:
        n = self.count(node.count)
        if not node.nullable:
            self.writer.refuse_if(f"not {n}", "null where none may be")
            self.elements(node.element, n, target)
            return
        with self.block(f"if {n}:"):
            self.elements(node.element, n, target)
        with self.block("else:"):
            self.put(f"{target} = None")

    def elements(self, element: construct.Construct, n: str, target: str) -> None:
        """The elements of an array; `n` is one more than their count."""
        # An element without any byte counts as one byte, or a hostile count could spin for free.
        least = max(1, min_size(element))
        self.put(f"{n} -= 1")
        self.writer.refuse_if(f"{n} * {least} > size - position", "a count beyond the bytes left")
        letter = fixed_format(element)
        if letter is not None and len(letter) == 1:
            method = self.writer.method_for_count("unpack_from", letter, n)
            with self.block(f"if {self.writer.ready(n)}:"):
                self.put(f"{target} = list({method}(buffer, position))")
            with self.block("else:"):
                self.put(f"{target} = list(unpack_from(f'>{{{n}}}{letter}', buffer, position))")
            self.put(f"position += {n} * {least}")
            return
        items = self.writer.name("items")
        self.put(f"{items} = []")
        with self.block(f"for _ in range({n}):"):
            item = self.element(element)
            self.flush_run()
            self.put(f"{items}.append({item})")
        self.put(f"{target} = {items}")

    def element(self, element: construct.Construct) -> str:
        """Read one element, and give the name it has."""
        if isinstance(element, Instance):
            return self.instance(element)
        item = self.writer.name("item")
        self.node(element, item)
        return item

    def nullable_struct(self, node: NullableStruct, target: str) -> None:
        marker = self.writer.name("marker")
        self.writer.run.append(("b", marker))
        with self.block(f"if {marker} < {0 if node.null[0] else 1}:"):
            self.put(f"{target} = None")
        with self.block("else:"):
            self.put(f"{target} = {self.instance(node.inner)}")

    def tagged(self, node: TaggedFields, this: str) -> None:
        """The tagged section; a version whose reader knows no tags passes over all of them."""
        count = self.writer.name("tags")
        self.writer.run.append(("B", count))
        for field in node.fields:
            self.default(field.default, f"{this}.{field.name}")
        with self.block(f"if {count}:"):
            with self.block(f"if {count} >= 0x80:"):
                self.put(f"{count}, position = rest_of_varint(buffer, position, {count})")
            if not node.fields:
                self.put(f"position = skip_tagged(buffer, position, size, {count})")
                return
            with self.block(f"for _ in range({count}):"):
                self.tagged_field(node, this)

    def tagged_field(self, node: TaggedFields, this: str) -> None:
        tag, length, end = (self.writer.name(stem) for stem in ("tag", "length", "end"))
        self.varint(tag)
        self.varint(length)
        self.put(f"{end} = position + {length}")
        self.writer.refuse_if(f"{end} > size", "a tagged field beyond the end")
        word = "if"
        for field in node.fields:
            with self.block(f"{word} {tag} == {field.tag}:"):
                self.node(field.subcon, f"{this}.{field.name}")
            word = "elif"
        with self.block("else:"):
            self.put(f"position = {end}")
        self.writer.refuse_if(f"position != {end}", "a tagged field of another size")
