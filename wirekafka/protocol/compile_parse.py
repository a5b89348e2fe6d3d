"""The parsing half of the compiler: construct tree in, `parse(buffer, position, size)` out.

Called by `codec`. The function written gives the message and the position behind it.
"""

from typing import Any

import construct

from wirekafka.protocol.compiler import (
    Block,
    ParseFunction,
    Writer,
    _fixed_format,
    compile_function,
    min_size,
)
from wirekafka.protocol.nodes import TAGGED, ArrayOf, Count, Instance, NullableStruct, Sized, TaggedFields


def compile_parse(name: str, instance: Instance) -> ParseFunction:
    """Write and compile the parser of one message class at one version."""
    writer = Writer()
    _Parse(writer).instance(instance, "result")
    writer.put("return result, position")
    function: ParseFunction = compile_function(
        f"parse {name}", "def parse(buffer, position, size):", writer.lines, writer.scope
    )
    return function


class _Parse:
    """One method a node kind; each leaves its value in the variable or attribute `target`."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.put = writer.put

    def node(self, node: construct.Construct, target: str) -> None:
        if isinstance(node, Sized):
            self.sized(node, target)
        elif isinstance(node, ArrayOf):
            self.array(node, target)
        elif isinstance(node, NullableStruct):
            self.nullable_struct(node, target)
        elif isinstance(node, Instance):
            self.instance(node, target)
        else:
            self.fixed([(node, target)])

    def instance(self, node: Instance, target: str) -> None:
        """Make the object, set what this version lacks, then its fields in order."""
        this = self.writer.name("m")
        self.put(f"{this} = new({self.writer.refer(node.cls.__name__, node.cls)})")
        for name, default in node.absent.items():
            self.put(f"{this}.{name} = {self.default(default)}")
        run: list[tuple[construct.Construct, str]] = []
        for field in node.subcon.subcons:
            if _fixed_format(field.subcon) is not None:
                run.append((field.subcon, f"{this}.{field.name}"))
                continue
            if field.name == TAGGED:
                count = self.writer.name("tags")
                self.fixed([*run, (construct.Byte, count)])
                self.tagged(field.subcon, this, count)
            else:
                self.fixed(run)
                self.node(field.subcon, f"{this}.{field.name}")
            run = []
        self.fixed(run)
        self.put(f"{target} = {this}")

    def default(self, default: Any) -> str:
        value = default()
        if value is None or isinstance(value, int | str | bytes | float):
            return repr(value)
        if value == []:
            return "[]"
        return f"{self.writer.refer('default', default)}()"

    def fixed(self, run: list[tuple[construct.Construct, str]]) -> None:
        """Unpack neighbours of fixed width in one call."""
        if not run:
            return
        letters = [_fixed_format(node) for node, _ in run]
        if None in letters:
            raise TypeError(f"no compiler for construct node {run[letters.index(None)][0]!r}")
        fmt = "".join(str(letter) for letter in letters)
        if fmt == "B":
            self.put(f"{run[0][1]} = buffer[position]")
        else:
            targets = ", ".join(target for _, target in run)
            comma = "," if len(run) == 1 else ""
            self.put(f"{targets}{comma} = {self.writer.pack('unpack_from', fmt)}(buffer, position)")
        self.put(f"position += {sum(min_size(node) for node, _ in run)}")

    def varint(self, target: str) -> None:
        self.put(f"{target} = buffer[position]")
        self.put("position += 1")
        with Block(self.writer, f"if {target} >= 0x80:"):
            self.put(f"{target}, position = rest_of_varint(buffer, position, {target})")

    def count(self, count: Count) -> str:
        """Read a length or count; -1 is null."""
        n = self.writer.name("n")
        if count.compact:
            self.varint(n)
            self.put(f"{n} -= 1")
        else:
            fmt = "h" if count.width == 2 else "i"
            self.put(f"{n}, = {self.writer.pack('unpack_from', fmt)}(buffer, position)")
            self.put(f"position += {count.width}")
        return n

    def null(self, n: str, nullable: bool, target: str) -> None:
        """Open the branch of a negative length and close it: null, or refused."""
        with Block(self.writer, f"if {n} < 0:"):
            if nullable:
                with Block(self.writer, f"if {n} < -1:"):
                    self.put("refuse('a length below -1')")
                self.put(f"{target} = None")
            else:
                self.put("refuse('null where none may be')")

    def sized(self, node: Sized, target: str) -> None:
        n = self.count(node.count)
        self.null(n, node.nullable, target)
        with Block(self.writer, "else:"):
            self.put(f"end = position + {n}")
            with Block(self.writer, "if end > size:"):
                self.put("refuse('a length beyond the end')")
            form = {
                "text": "str(buffer[position:end], 'utf-8')",
                "bytes": "bytes(buffer[position:end])",
                "records": "buffer[position:end]",
            }
            self.put(f"{target} = {form[node.payload]}")
            self.put("position = end")

    def array(self, node: ArrayOf, target: str) -> None:
        n = self.count(node.count)
        self.null(n, node.nullable, target)
        with Block(self.writer, "else:"):
            with Block(self.writer, f"if {n} * {min_size(node.element)} > size - position:"):
                self.put("refuse('a count beyond the bytes left')")
            letter = _fixed_format(node.element)
            if letter is not None and len(letter) == 1:
                self.put(f"{target} = list(unpack_from(f'>{{{n}}}{letter}', buffer, position))")
                self.put(f"position += {n} * {min_size(node.element)}")
            else:
                self.elements(node.element, n, target)

    def elements(self, element: construct.Construct, n: str, target: str) -> None:
        items, item = self.writer.name("items"), self.writer.name("item")
        self.put(f"{items} = []")
        with Block(self.writer, f"for _ in range({n}):"):
            self.node(element, item)
            self.put(f"{items}.append({item})")
        self.put(f"{target} = {items}")

    def nullable_struct(self, node: NullableStruct, target: str) -> None:
        marker = self.writer.name("marker")
        self.fixed([(construct.Byte, marker)])
        with Block(self.writer, f"if {marker} >= 0x80:"):
            self.put(f"{target} = None")
        with Block(self.writer, "else:"):
            self.instance(node.inner, target)

    def tagged(self, node: TaggedFields, this: str, count: str) -> None:
        """The tagged section; the first byte of its count is already in `count`."""
        for field in node.fields:
            self.put(f"{this}.{field.name} = {self.default(field.default)}")
        with Block(self.writer, f"if {count}:"):
            with Block(self.writer, f"if {count} >= 0x80:"):
                self.put(f"{count}, position = rest_of_varint(buffer, position, {count})")
            if not node.fields:
                self.put(f"position = skip_tagged(buffer, position, size, {count})")
                return
            with Block(self.writer, f"for _ in range({count}):"):
                self.tagged_field(node, this)

    def tagged_field(self, node: TaggedFields, this: str) -> None:
        tag, length, end = (self.writer.name(stem) for stem in ("tag", "length", "end"))
        self.varint(tag)
        self.varint(length)
        self.put(f"{end} = position + {length}")
        with Block(self.writer, f"if {end} > size:"):
            self.put("refuse('a tagged field beyond the end')")
        word = "if"
        for field in node.fields:
            with Block(self.writer, f"{word} {tag} == {field.tag}:"):
                self.node(field.subcon, f"{this}.{field.name}")
            word = "elif"
        with Block(self.writer, "else:"):
            self.put(f"position = {end}")
        with Block(self.writer, f"if position != {end}:"):
            self.put("refuse('a tagged field of another size')")
