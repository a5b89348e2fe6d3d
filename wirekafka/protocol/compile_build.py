"""The building half of the compiler: construct tree in, `build(message, out, parts)` out.

Called by `codec`. The function written appends to the bytearray `out` and gives the bytearray that
the message ends in. Record data too large to copy closes `out`: it and the data go to `parts`, and
a new bytearray begins. A message without record data never touches `parts`.
"""

from struct import pack as _struct_pack

import construct

from wirekafka.protocol.compiler import Block, BuildFunction, Writer, _fixed_format, compile_function
from wirekafka.protocol.nodes import TAGGED, ArrayOf, Count, Instance, NullableStruct, Sized, TaggedFields


def compile_build(name: str, instance: Instance) -> BuildFunction:
    """Write and compile the builder of one message class at one version."""
    writer = Writer()
    _Build(writer).instance(instance, "message")
    writer.put("return out")
    function: BuildFunction = compile_function(
        f"build {name}", "def build(message, out, parts):", writer.lines, writer.scope
    )
    return function


class _Build:
    """One method a node kind; each appends the value of the expression `source` to `out`."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.put = writer.put

    def node(self, node: construct.Construct, source: str) -> None:
        if isinstance(node, Sized):
            self.sized(node, source)
        elif isinstance(node, ArrayOf):
            self.array(node, source)
        elif isinstance(node, NullableStruct):
            self.nullable_struct(node, source)
        elif isinstance(node, Instance):
            self.instance(node, source)
        else:
            self.fixed([(node, source)])

    def instance(self, node: Instance, source: str) -> None:
        run: list[tuple[construct.Construct, str]] = []
        for field in node.subcon.subcons:
            if _fixed_format(field.subcon) is not None:
                run.append((field.subcon, f"{source}.{field.name}"))
                continue
            if field.name == TAGGED and not field.subcon.fields:
                self.fixed(run, end="x")
            else:
                self.fixed(run)
                if field.name == TAGGED:
                    self.tagged(field.subcon, source)
                else:
                    self.node(field.subcon, f"{source}.{field.name}")
            run = []
        self.fixed(run)

    def fixed(self, run: list[tuple[construct.Construct, str]], end: str = "") -> None:
        """Pack neighbours of fixed width in one call; `end` "x" adds an empty tagged section."""
        if not run:
            if end:
                self.put("out.append(0)")
            return
        letters = [_fixed_format(node) for node, _ in run]
        if None in letters:
            raise TypeError(f"no compiler for construct node {run[letters.index(None)][0]!r}")
        fmt = "".join(str(letter) for letter in letters) + end
        self.put(f"out += {self.writer.pack('pack', fmt)}({', '.join(source for _, source in run)})")

    def count(self, count: Count, n: str) -> None:
        if count.compact:
            with Block(self.writer, f"if {n} < 127:"):
                self.put(f"out.append({n} + 1)")
            with Block(self.writer, "else:"):
                self.put(f"out += varint_bytes({n} + 1)")
        else:
            self.put(f"out += {self.writer.pack('pack', 'h' if count.width == 2 else 'i')}({n})")

    def null(self, count: Count, nullable: bool, value: str) -> None:
        with Block(self.writer, f"if {value} is None:"):
            if not nullable:
                self.put("refuse('null where none may be')")
            elif count.compact:
                self.put("out.append(0)")
            else:
                self.put(f"out += {bytes([255] * count.width)!r}")

    def sized(self, node: Sized, source: str) -> None:
        value = self.writer.name("value")
        self.put(f"{value} = {source}")
        self.null(node.count, node.nullable, value)
        with Block(self.writer, "else:"):
            if node.payload == "text":
                self.put(f"{value} = {value}.encode()")
            n = self.writer.name("n")
            self.put(f"{n} = len({value})")
            self.count(node.count, n)
            if node.payload == "records":
                self.records(value, n)
            else:
                self.put(f"out += {value}")

    def records(self, value: str, n: str) -> None:
        self.writer.scope["COPIED"] = (bytes, bytearray, memoryview)
        with Block(self.writer, f"if {n} <= LIMIT and isinstance({value}, COPIED):"):
            self.put(f"out += {value}")
        with Block(self.writer, "else:"):
            self.put("parts.append(out)")
            self.put(f"parts.append({value})")
            self.put("out = bytearray()")

    def array(self, node: ArrayOf, source: str) -> None:
        items, n = self.writer.name("items"), self.writer.name("n")
        self.put(f"{items} = {source}")
        self.null(node.count, node.nullable, items)
        with Block(self.writer, "else:"):
            self.put(f"{n} = len({items})")
            self.count(node.count, n)
            letter = _fixed_format(node.element)
            if letter is not None and len(letter) == 1:
                self.writer.scope["pack_any"] = _struct_pack
                self.put(f"out += pack_any(f'>{{{n}}}{letter}', *{items})")
            else:
                item = self.writer.name("item")
                with Block(self.writer, f"for {item} in {items}:"):
                    self.node(node.element, item)

    def nullable_struct(self, node: NullableStruct, source: str) -> None:
        value = self.writer.name("value")
        self.put(f"{value} = {source}")
        with Block(self.writer, f"if {value} is None:"):
            self.put("out.append(0xff)")
        with Block(self.writer, "else:"):
            self.put("out.append(1)")
            self.instance(node.inner, value)

    def tagged(self, node: TaggedFields, source: str) -> None:
        """Write the fields that are not at their default, each in a bytearray of its own first."""
        written, outer = self.writer.name("written"), self.writer.name("outer")
        self.put(f"{written} = []")
        self.put(f"{outer} = out")
        for field in node.fields:
            value = self.writer.name("value")
            default = field.default()
            simple = default is None or isinstance(default, int | float | str | bytes) or default == []
            against = repr(default) if simple else self.writer.refer("default", default)
            self.put(f"{value} = {source}.{field.name}")
            with Block(self.writer, f"if {value} != {against}:"):
                self.put("out = bytearray()")
                self.node(field.subcon, value)
                self.put(f"{written}.append(({field.tag}, out))")
        self.put(f"out = {outer}")
        self.put(f"out += varint_bytes(len({written}))")
        with Block(self.writer, f"for tag, raw in {written}:"):
            self.put("out += varint_bytes(tag)")
            self.put("out += varint_bytes(len(raw))")
            self.put("out += raw")
