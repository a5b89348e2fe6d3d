"""Tests of protocol/compile_build.py: the code that is written; the bytes it builds are held against
construct in test_codec_agrees_with_construct.py.
"""

import inspect
import traceback

import pytest

from wirekafka.protocol.compile_build import compile_build
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT32, RECORDS, STRING, array_of, struct_of


class Point(Message):
    x: int = wire(INT32, default=-1)
    y: int = wire(INT32, default=-1)


class Tagged(Message, versions="0", flexible="0+"):
    near: Point = wire(struct_of(Point), tag=0, tagged="0+", factory=Point)
    far: Point = wire(struct_of(Point), tag=1, tagged="0+", factory=lambda: Point(x=9))


class TaggedRecords(Message, versions="0", flexible="0+"):
    records: memoryview | None = wire(RECORDS, tag=0, tagged="0+", default=None)


class Named(Message, versions="0"):
    name: str = wire(STRING)
    numbers: list[int] = wire(array_of(INT32), factory=list)


def built(value: Message) -> str:
    build = compile_build("built", type(value).instance(0))
    return build(value, bytearray(), []).hex(" ")


def test_fixed_neighbours_and_the_count_behind_them_are_one_call() -> None:
    """Key, version, correlation id in one pack."""
    source = inspect.getsource(compile_build("merged", RequestHeader.instance(1)))

    assert source.count("pack_hhl(") == 1


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Tagged(far=Point()), "01 01 09 ff ff ff ff ff ff ff ff 00"),
        (Tagged(), "00"),
        (Tagged(near=Point(x=0, y=1)), "01 00 09 00 00 00 00 00 00 00 01 00"),
    ],
)
def test_tagged_fields_are_left_out_only_at_their_own_default(value: Tagged, data: str) -> None:
    """A struct's default may differ from the defaults of its fields."""
    assert built(value) == data


def test_numbers_beyond_the_ready_counts_are_built_alike() -> None:
    """Arrays of any length are one call."""
    for count in (0, 1, 15, 16, 200):
        expected = (
            f"00 01 61 {count.to_bytes(4, 'big').hex(' ')} {bytes([0, 0, 0, 7] * count).hex(' ')}".strip()
        )

        assert built(Named(name="a", numbers=[7] * count)) == expected


def test_record_data_in_a_tagged_field_is_a_type_error() -> None:
    """Tagged fields are written apart, where a part that is not copied cannot go."""
    with pytest.raises(TypeError, match="record data in a tagged field"):
        compile_build("tagged records", TaggedRecords.instance(0))


def test_none_for_a_name_shows_the_field() -> None:
    """No check is spent on None, yet the traceback's line says which field it was."""
    with pytest.raises(AttributeError) as caught:
        built(Named(name=None))  # type: ignore[arg-type]

    assert "message.name.encode()" in "".join(traceback.format_exception(caught.value))
