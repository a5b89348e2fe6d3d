"""Tests of protocol/compile_parse.py: the code that is written; what it reads is held against
construct in test_codec_agrees_with_construct.py.
"""

import inspect

import pytest

from wirekafka.protocol.compile_parse import compile_parse
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.nodes import Instance
from wirekafka.protocol.wire import (
    BYTES,
    INT32,
    NULLABLE_STRING,
    STRING,
    array_of,
    nullable_array_of,
    nullable_struct_of,
    struct_of,
)


class Empty(Message):
    later: int = wire(INT32, "5+", default=0)


class Point(Message):
    x: int = wire(INT32, default=-1)


class Plane(Message, versions="0-1"):
    first: Point = wire(struct_of(Point))
    second: Point = wire(struct_of(Point))
    points: list[Point] = wire(array_of(Point))
    numbers: list[int] = wire(array_of(INT32), "1+", factory=list)
    origin: Point = wire(struct_of(Point), "1+", factory=Point)
    away: Point = wire(struct_of(Point), "1+", factory=lambda: Point(x=9))


class Crowd(Message, versions="0"):
    nobody: list[Empty] = wire(array_of(Empty))


class Marked(Message, versions="0", flexible="0+"):
    mark: int = wire(INT32, tag=0, tagged="0+", default=0)


class Nullable(Message, versions="0"):
    point: Point | None = wire(nullable_struct_of(Point))
    text: str | None = wire(NULLABLE_STRING)
    numbers: list[int] | None = wire(nullable_array_of(INT32))


class Strings(Message, versions="0"):
    text: str = wire(STRING)
    raw: bytes = wire(BYTES)


def test_fixed_neighbours_and_the_count_behind_them_are_one_call() -> None:
    """The point of compiling: key, version, correlation id and string length in one unpack."""
    source = inspect.getsource(compile_parse("merged", RequestHeader.instance(1), from_bytes=True))

    assert source.count("unpack_from_hhlh(buffer, position)") == 1
    assert source.count("(buffer, position)") == 1


def test_fixed_fields_of_nested_structs_are_one_call() -> None:
    """A struct has no byte of its own, so none stands between its fields and its neighbour's."""
    source = inspect.getsource(compile_parse("nested", Plane.instance(0), from_bytes=True))

    assert "unpack_from_lll(buffer, position)" in source


def test_absent_fields_are_made_anew_for_every_message() -> None:
    """Parsed messages never share a list or a nested message, nor ask a factory for a plain one."""
    parse = compile_parse("absent", Plane.instance(0), from_bytes=True)
    data = bytes(12)
    one, _ = parse(data, 0, len(data))
    two, _ = parse(data, 0, len(data))
    one.numbers.append(1)
    one.origin.x = 5
    one.away.x = 5

    assert (two.numbers, two.origin, two.away) == ([], Point(x=-1), Point(x=9))


def test_elements_without_any_byte_cannot_spin() -> None:
    """A count is held to the bytes left even where an element takes none."""
    parse = compile_parse("crowd", Crowd.instance(0), from_bytes=True)

    with pytest.raises(MalformedMessage, match="a count beyond the bytes left"):
        parse(bytes.fromhex("7fffffff"), 0, 4)


@pytest.mark.parametrize("from_bytes", [True, False])
def test_both_forms_give_text_and_bytes(from_bytes: bool) -> None:
    """The one for any buffer copies out of a view, the one for bytes slices."""
    parse = compile_parse("strings", Strings.instance(0), from_bytes=from_bytes)
    data = bytes.fromhex("0002 c3a9 00000001 ff")

    value, end = parse(data if from_bytes else memoryview(data), 0, len(data))

    assert value == Strings(text="é", raw=b"\xff")
    assert type(value.raw) is bytes
    assert end == len(data)


def test_function_gives_the_position_behind_the_message() -> None:
    """So a body can begin behind a header."""
    instance: Instance = RequestHeader.instance(1)
    parse = compile_parse("within", instance, from_bytes=False)
    data = b"??" + bytes(8) + b"\xff\xff" + b"body"

    assert parse(data, 2, len(data))[1] == 12


@pytest.mark.parametrize("size", [3, 5])
def test_known_tagged_field_of_another_size_is_refused(size: int) -> None:
    """A field takes exactly the bytes that its tag announces, or what follows is read askew."""
    parse = compile_parse("tagged", Marked.instance(0), from_bytes=True)
    data = bytes([1, 0, size]) + bytes(size)

    with pytest.raises(MalformedMessage, match="another size"):
        parse(data + bytes(4), 0, len(data) + 4)


@pytest.mark.parametrize(
    "data", ["ff fffe ffffffff", "ff 8000 ffffffff", "ff ffff fffffffe", "ff ffff 80000000"]
)
def test_lengths_below_null_are_refused_even_where_null_may_be(data: str) -> None:
    """Only -1 is null; a step backwards in the buffer must not come of -2."""
    parse = compile_parse("nullable", Nullable.instance(0), from_bytes=True)
    raw = bytes.fromhex(data)

    with pytest.raises(MalformedMessage, match="a length below -1"):
        parse(raw, 0, len(raw))


@pytest.mark.parametrize("marker", ["ff", "fe", "80"])
def test_any_negative_marker_is_an_absent_struct(marker: str) -> None:
    """Kafka writes -1 and reads any negative byte so; interpreted construct agrees."""
    instance = Nullable.instance(0)
    raw = bytes.fromhex(f"{marker} ffff ffffffff")
    value, _ = compile_parse("markers", instance, from_bytes=True)(raw, 0, len(raw))

    assert value == instance.parse(raw) == Nullable(point=None, text=None, numbers=None)


@pytest.mark.parametrize("tag", [0, 9])
def test_tagged_field_beyond_the_end_is_refused(tag: int) -> None:
    """Known or not, its size is held to the bytes left before anything of it is read."""
    parse = compile_parse("beyond", Marked.instance(0), from_bytes=True)

    with pytest.raises(MalformedMessage, match="a tagged field beyond the end"):
        parse(bytes([1, tag, 4, 0]), 0, 4)
