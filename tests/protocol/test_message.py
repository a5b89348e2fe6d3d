"""Tests of protocol/message.py."""

import pytest

from wirekafka.protocol.message import Message, Versions, wire
from wirekafka.protocol.nodes import TAGGED
from wirekafka.protocol.wire import INT32, NULLABLE_STRING, STRING, array_of, struct_of


class Part(Message):
    name: str = wire(STRING)
    weight: int = wire(INT32, "1+", default=-1)


class Whole(Message, versions="0-3", flexible="2+"):
    parts: list[Part] = wire(array_of(Part))
    note: str | None = wire(NULLABLE_STRING, "1-2", nullable="2+", default="none yet")
    old: str = wire(STRING, flexible="none")
    extra: Part = wire(struct_of(Part), "3+", tag=5, tagged="3+", factory=lambda: Part(name=""))


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("3", [3], [2, 4]),
        ("0-9", [0, 9], [-1, 10]),
        ("6+", [6, 999], [5]),
        ("none", [], [-1, 0, 1]),
    ],
)
def test_versions_hold_what_their_text_says(text: str, inside: list[int], outside: list[int]) -> None:
    """The four forms of Kafka's definitions."""
    versions = Versions.of(text)

    assert [version in versions for version in inside + outside] == [True] * len(inside) + [False] * len(
        outside
    )


def test_versions_give_a_range() -> None:
    """Both ends belong to it."""
    assert Versions.of("2-4").as_range() == range(2, 5)


def test_fields_must_be_given_by_name() -> None:
    """Kafka reorders fields between releases; a position means nothing."""
    with pytest.raises(TypeError):
        Part("a")  # type: ignore[call-arg]


def test_every_message_has_defaults_of_its_own() -> None:
    """Two messages never share a list or a nested message."""
    first, second = Whole(parts=[], old=""), Whole(parts=[], old="")
    first.extra.name = "changed"

    assert second.extra.name == ""


def test_a_misspelt_field_is_an_error() -> None:
    """Messages have slots, so an assignment cannot make a new field."""
    whole = Whole(parts=[], old="")

    with pytest.raises(AttributeError):
        whole.pasts = []  # type: ignore[attr-defined]


def test_only_messages_with_versions_are_whole() -> None:
    """A part of others has no version of its own."""
    assert Whole.is_whole()
    assert not Part.is_whole()


@pytest.mark.parametrize(
    ("version", "names"),
    [
        (0, ["parts", "old"]),
        (1, ["parts", "note", "old"]),
        (2, ["parts", "note", "old", TAGGED]),
        (3, ["parts", "old", TAGGED]),
    ],
)
def test_struct_has_the_fields_of_its_version_in_order(version: int, names: list[str]) -> None:
    """Tagged fields stand in the section that ends a flexible version."""
    assert [field.name for field in Whole.struct(version).subcons] == names


def test_struct_parses_and_builds_as_any_construct() -> None:
    """The interpreted form alone shows the bytes: compact lengths but for the old field."""
    data = bytes.fromhex("02 0261 00000007 00 0004 6e6f7465 01 05 07 0262 ffffffff 00")
    value = Whole(parts=[Part(name="a", weight=7)], old="note", extra=Part(name="b"))

    assert Whole.instance(3).build(value) == data
    assert Whole.instance(3).parse(data) == value


def test_a_version_without_a_field_leaves_its_default() -> None:
    """Parsed values carry no version: what version 0 lacks reads as if it had said the default."""
    data = bytes.fromhex("00000001 0001 61 0000")

    assert Whole.instance(0).parse(data) == Whole(parts=[Part(name="a", weight=-1)], note="none yet", old="")


def test_wire_field_remembers_what_was_said() -> None:
    """What tools and tests ask of a class."""
    extra = Whole.wire_fields[-1]

    assert (extra.name, extra.tag, 3 in extra.tagged, 2 in extra.versions) == ("extra", 5, True, False)
    assert extra.default() == Part(name="")
