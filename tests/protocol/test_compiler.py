"""Tests of protocol/compiler.py."""

import inspect
import struct
import traceback

import construct
import pytest

from wirekafka.protocol.compile_build import compile_build
from wirekafka.protocol.compile_parse import compile_parse
from wirekafka.protocol.compiler import (
    Writer,
    compile_function,
    fixed_format,
    holds_records,
    is_literal,
    min_size,
    rest_of_varint,
    skip_tagged,
    varint_bytes,
)
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.nodes import ArrayOf, Count, Sized
from wirekafka.protocol.wire import RECORDS, Wire, array_of

COMPACT, OLD = Count(True), Count(False)
TEXT = Sized(COMPACT, "text", False)

ODD: Wire[int] = Wire(lambda version, flexible, nullable: construct.VarInt, lambda: 0)


class Odd(Message, versions="0"):
    strange: int = wire(ODD)


class OddElements(Message, versions="0"):
    strange: list[int] = wire(array_of(ODD))


class TaggedRecords(Message, versions="0", flexible="0+"):
    records: memoryview | None = wire(RECORDS, tag=0, tagged="0+", default=None)


@pytest.mark.parametrize("cls", [Odd, OddElements])
def test_an_unknown_node_is_a_type_error(cls: type[Message]) -> None:
    """No node takes a slow path in silence: either half refuses what it cannot compile."""
    with pytest.raises(TypeError, match="no compiler for construct node"):
        compile_parse("odd", cls.instance(0), from_bytes=False)
    with pytest.raises(TypeError, match="no compiler for construct node"):
        compile_build("odd", cls.instance(0))


def test_source_of_a_compiled_function_can_be_read() -> None:
    """Debuggers and `inspect` find the lines that were written."""
    parse = compile_parse("readable", RequestHeader.instance(2), from_bytes=False)

    source = inspect.getsource(parse)

    assert source.startswith("def parse(buffer, position, size):")
    assert "client_id" in source


def test_traceback_shows_the_line_of_the_field_that_failed() -> None:
    """A value that cannot be built is found by reading the traceback."""
    build = compile_build("shown", RequestHeader.instance(1))
    header = RequestHeader(request_api_key=1, request_api_version=1, correlation_id=2**31, client_id=None)

    with pytest.raises(struct.error) as caught:
        build(header, bytearray(), [])

    assert "header" not in str(caught.value)
    assert "message.correlation_id" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 16383, 16384, 2**31 - 1, 2**32 - 1])
def test_varints_come_back(value: int) -> None:
    """Unsigned, seven bits a byte, at most five bytes."""
    raw = varint_bytes(value)

    assert len(raw) == max(1, -(-value.bit_length() // 7))
    assert raw[0] == value if value < 0x80 else rest_of_varint(raw, 1, raw[0]) == (value, len(raw))


@pytest.mark.parametrize("raw", ["ffffffff1f", "ffffffffff0f", "8080808080", "808080808000"])
def test_varints_beyond_32_bits_are_refused(raw: str) -> None:
    """Six bytes, or five with more than 32 bits in them."""
    data = bytes.fromhex(raw)

    with pytest.raises(MalformedMessage, match="32 bits"):
        rest_of_varint(data, 1, data[0])


def test_unknown_tags_are_skipped_by_their_sizes() -> None:
    """Tag and size are varints of any length."""
    fields = bytes.fromhex("05 02 aabb  8801 00  06 8001") + bytes(128)

    assert skip_tagged(fields + b"next", 0, len(fields) + 4, 3) == len(fields)


def test_an_unknown_tag_beyond_the_end_is_refused() -> None:
    """A size is checked even where the bytes are not looked at."""
    with pytest.raises(MalformedMessage, match="beyond the end"):
        skip_tagged(bytes.fromhex("05 03 aabb"), 0, 4, 1)


@pytest.mark.parametrize(
    ("node", "size"),
    [
        (construct.Int8sb, 1),
        (construct.Int64sb, 8),
        (construct.Bytes(16), 16),
        (construct.Flag, 1),
        (TEXT, 1),
        (Sized(Count(False, 2), "text", True), 2),
        (ArrayOf(OLD, construct.Int64sb, False), 4),
        (RequestHeader.instance(1), 10),
        (RequestHeader.instance(2), 11),
    ],
)
def test_min_size_is_the_shortest_form(node: construct.Construct, size: int) -> None:
    """Empty strings and arrays still have their lengths."""
    assert min_size(node) == size


@pytest.mark.parametrize(
    ("node", "letter"),
    [(construct.Int16sb, "h"), (construct.Int16ub, "H"), (construct.Flag, "?"), (TEXT, None)],
)
def test_fixed_width_nodes_have_a_struct_letter(node: construct.Construct, letter: str | None) -> None:
    """Numbers, flags and raw bytes; nothing that has a length."""
    assert fixed_format(node) == letter


def test_records_are_found_wherever_they_stand() -> None:
    """Messages with record data are parsed from a view, all others from bytes."""
    records = Sized(COMPACT, "records", True)

    assert holds_records(ArrayOf(OLD, records, False))
    assert holds_records(TaggedRecords.instance(0))
    assert not holds_records(ArrayOf(OLD, TEXT, False))


@pytest.mark.parametrize(
    ("value", "literal"), [(None, True), ([], True), (b"", True), ([1], False), ({}, False)]
)
def test_literals_are_what_can_be_written_as_python(value: object, literal: bool) -> None:
    """Anything else is referred to by name."""
    assert is_literal(value) is literal


def test_writer_refers_to_one_value_by_one_name() -> None:
    """Two classes of the same name get two names, one class the same name twice."""
    writer = Writer(lambda: None)
    first, second = type("Same", (), {}), type("Same", (), {})

    names = [writer.refer("Same", value) for value in (first, second, first)]

    assert names[0] == names[2] != names[1]


def test_compiled_functions_see_their_scope() -> None:
    """Head and body become one function over the given names."""
    function = compile_function("test twice", "def twice():", ["    return 2 * number"], {"number": 21})

    assert function() == 42
