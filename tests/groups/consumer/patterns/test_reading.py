"""groups/consumer/patterns/reading.py: escapes, and classes by name."""

import string

import pytest

from wirekafka.groups.consumer.patterns.reading import Reader
from wirekafka.groups.consumer.patterns.tree import TOPIC_CHARACTERS, Invalid


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (r"\.", 0x2E),
        (r"\_", 0x5F),
        (r"\é", 0xE9),
        (r"\n", 0x0A),
        (r"\0", 0),
        (r"\12", 0o12),
        (r"\1418", 0o141),
        (r"\x4b", 0x4B),
        (r"\x{212a}", 0x212A),
    ],
)
def test_an_escape_stands_for_a_character(text: str, code: int) -> None:
    """RE2's escapes."""
    assert Reader(text).escaped() == code


@pytest.mark.parametrize(
    "text", [r"\1", r"\8", r"\e", r"\x4", r"\x{}", r"\x{4", r"\x{110000}", "\\xZ", r"\C"]
)
def test_what_is_no_escape_is_refused(text: str) -> None:
    """A digit would refer to a group, which takes backtracking; letters are kept for later use."""
    with pytest.raises(Invalid, match="invalid escape sequence"):
        Reader(text).escaped()


def test_a_backslash_at_the_end_is_refused() -> None:
    """There is nothing for it to escape."""
    with pytest.raises(Invalid, match="trailing backslash"):
        Reader("\\").escaped()


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        (r"\d", frozenset(string.digits)),
        (r"\D", TOPIC_CHARACTERS - frozenset(string.digits)),
        (r"\w", TOPIC_CHARACTERS - frozenset(".-")),
        (r"\s", frozenset()),
        (r"\pL", frozenset(string.ascii_letters)),
        (r"\PL", frozenset(string.digits + "._-")),
        (r"\p{^L}", frozenset(string.digits + "._-")),
        (r"\P{^Lu}", frozenset(string.ascii_uppercase)),
        (r"\p{Greek}", frozenset()),
    ],
)
def test_a_class_has_a_name(text: str, characters: frozenset[str]) -> None:
    """As far as it has characters of topic names."""
    assert Reader(text).named_class() == characters


def test_without_case_a_class_has_both() -> None:
    """(?i) holds for classes too."""
    reader = Reader(r"\p{Lu}")
    reader.ignore_case = True

    assert reader.named_class() == frozenset(string.ascii_letters)


@pytest.mark.parametrize("text", ["a", r"\.", r"\b", "\\", ""])
def test_what_names_no_class_is_left(text: str) -> None:
    """For who reads characters."""
    reader = Reader(text)

    assert (reader.named_class(), reader.position) == (None, 0)


@pytest.mark.parametrize("text", [r"\p", r"\p{L", r"\p{Nope}", r"\pX", r"\p{}"])
def test_an_unknown_property_is_refused(text: str) -> None:
    """As a script that RE2/J does not know."""
    with pytest.raises(Invalid, match="invalid character class range"):
        Reader(text).named_class()
