"""The construct nodes that Kafka's wire format needs and construct lacks.

`wire` gives them to message fields, `message` puts them into Structs, `compiler` reads them.
Interpreted, they are the slow and obvious twin that the compiled codec is held against.

Source: the Kafka protocol guide, section "Protocol Primitive Types"; KIP-482 (compact forms,
tagged fields); KIP-893 (nullable structs).
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import SEEK_CUR, SEEK_END
from typing import Any, Literal

import construct
from construct import Construct, stream_read, stream_write

# construct carries no types: values and contexts are Any in this file and nowhere above it.

Payload = Literal["text", "bytes", "records"]

LONGEST_STRING_BYTES = 0x7FFF
"""What an int16 length can say; Kafka holds the compact form to it too."""


def bytes_left(stream: Any) -> int:
    here: int = stream.tell()
    end: int = stream.seek(0, SEEK_END)
    stream.seek(here)
    return end - here


class UnsignedVarint(Construct):  # type: ignore[misc]
    """Seven bits a byte, lowest first, at most 32 bits."""

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        value = shift = 0
        while True:
            byte: int = stream_read(stream, 1, path)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 28:
                raise construct.IntegerError("a varint of more than five bytes", path=path)
        if value > 0xFFFFFFFF:
            raise construct.IntegerError("a varint of more than 32 bits", path=path)
        return value

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        rest = obj
        while rest > 0x7F:
            stream_write(stream, bytes((rest & 0x7F | 0x80,)), 1, path)
            rest >>= 7
        stream_write(stream, bytes((rest,)), 1, path)
        return obj


UVARINT = UnsignedVarint()


@dataclass(frozen=True, slots=True)
class Count:
    """How a length or count is written: `compact` is a varint of n + 1 with 0 for null."""

    compact: bool
    width: Literal[2, 4] = 4

    def read(self, stream: Any, path: str) -> int:
        """The count, or -1 for null."""
        if self.compact:
            return UVARINT._parse(stream, None, path) - 1
        raw: bytes = stream_read(stream, self.width, path)
        return int.from_bytes(raw, "big", signed=True)

    def write(self, n: int, stream: Any, path: str) -> None:
        if self.compact:
            UVARINT._build(n + 1, stream, None, path)
        else:
            stream_write(stream, n.to_bytes(self.width, "big", signed=True), self.width, path)


class Sized(Construct):  # type: ignore[misc]
    """A length, then so many bytes: a string, bytes, or a record set left as it lies."""

    def __init__(self, count: Count, payload: Payload, nullable: bool) -> None:
        super().__init__()
        self.count, self.payload, self.nullable = count, payload, nullable

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        n = self.count.read(stream, path)
        if n < 0:
            check_null(n, self.nullable, path)
            return None
        self.check_length(n, path)
        raw = stream_read(stream, n, path)
        return raw.decode() if self.payload == "text" else raw

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if obj is None:
            check_null(-1, self.nullable, path)
            self.count.write(-1, stream, path)
            return obj
        raw = obj.encode() if self.payload == "text" else bytes(obj)
        self.check_length(len(raw), path)
        self.count.write(len(raw), stream, path)
        stream_write(stream, raw, len(raw), path)
        return obj

    def check_length(self, n: int, path: str) -> None:
        if self.payload == "text" and n > LONGEST_STRING_BYTES:
            raise construct.RangeError(f"a string of {n} bytes", path=path)


class ArrayOf(Construct):  # type: ignore[misc]
    """A count, then so many elements; the count is checked against the bytes left."""

    def __init__(self, count: Count, element: Construct, nullable: bool) -> None:
        super().__init__()
        self.count, self.element, self.nullable = count, element, nullable

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        n = self.count.read(stream, path)
        if n < 0:
            check_null(n, self.nullable, path)
            return None
        if n > bytes_left(stream):
            raise construct.RangeError("a count beyond the bytes left", path=path)
        return [self.element._parsereport(stream, context, path) for _ in range(n)]

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        if obj is None:
            check_null(-1, self.nullable, path)
            self.count.write(-1, stream, path)
            return obj
        self.count.write(len(obj), stream, path)
        for item in obj:
            self.element._build(item, stream, context, path)
        return obj


def check_null(n: int, nullable: bool, path: str) -> None:
    if n < -1 or not nullable:
        raise construct.RangeError(f"a length of {n} where none may be", path=path)


class NullableStruct(Construct):  # type: ignore[misc]
    """One byte, then the struct or nothing (KIP-893): 1 or -1; in a tagged field 1 or 0, as varints."""

    def __init__(self, inner: "Instance", *, tagged: bool = False) -> None:
        super().__init__()
        self.inner = inner
        self.null = b"\0" if tagged else b"\xff"

    def in_tag(self) -> "NullableStruct":
        """Give the form that it has as a tagged field."""
        return NullableStruct(self.inner, tagged=True)

    def _parse(self, stream: Any, context: Any, path: str) -> Any:
        marker = stream_read(stream, 1, path)[0]
        absent = marker >= 0x80 or marker == self.null[0]
        return None if absent else self.inner._parsereport(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        stream_write(stream, self.null if obj is None else b"\x01", 1, path)
        if obj is not None:
            self.inner._build(obj, stream, context, path)
        return obj


@dataclass(frozen=True, slots=True)
class TaggedField:
    tag: int
    name: str
    subcon: Construct
    default: Callable[[], Any]


class TaggedFields(Construct):  # type: ignore[misc]
    """The tagged section that ends every struct of a flexible version (KIP-482).

    Parses to the known fields by name; unknown tags are passed over. A field at its default is
    not written.
    """

    def __init__(self, fields: list[TaggedField]) -> None:
        super().__init__()
        self.fields = sorted(fields, key=lambda f: f.tag)

    def _parse(self, stream: Any, context: Any, path: str) -> dict[str, Any]:
        values = {f.name: f.default() for f in self.fields}
        known = {f.tag: f for f in self.fields}
        for _ in range(UVARINT._parse(stream, context, path)):
            tag = UVARINT._parse(stream, context, path)
            size = UVARINT._parse(stream, context, path)
            if tag not in known:
                if size > bytes_left(stream):
                    raise construct.StreamError("a tagged field beyond the end", path=path)
                stream.seek(size, SEEK_CUR)
                continue
            end = stream.tell() + size
            values[known[tag].name] = known[tag].subcon._parsereport(stream, context, path)
            if stream.tell() != end:
                raise construct.RangeError("a tagged field of another size", path=path)
        return values

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        written = [f for f in self.fields if obj[f.name] != f.default()]
        UVARINT._build(len(written), stream, context, path)
        for field in written:
            raw = field.subcon.build(obj[field.name])
            UVARINT._build(field.tag, stream, context, path)
            UVARINT._build(len(raw), stream, context, path)
            stream_write(stream, raw, len(raw), path)
        return obj


TAGGED = "_tagged"
"""Name of the tagged section in a Struct."""


class Instance(construct.Adapter):  # type: ignore[misc]
    """A Struct whose values are instances of the message class it was made from."""

    def __init__(
        self, cls: type[Any], subcon: construct.Struct, absent: dict[str, Callable[[], Any]]
    ) -> None:
        super().__init__(subcon)
        self.cls, self.absent = cls, absent

    def _decode(self, obj: Any, context: Any, path: str) -> Any:
        values = {name: default() for name, default in self.absent.items()}
        values |= {k: v for k, v in obj.items() if k not in (TAGGED, "_io")}
        return self.cls(**(values | obj.get(TAGGED, {})))

    def _encode(self, obj: Any, context: Any, path: str) -> Any:
        values = {name: getattr(obj, name) for name in obj.__slots__}
        return values | {TAGGED: values}
