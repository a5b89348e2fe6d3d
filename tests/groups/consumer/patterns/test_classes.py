"""groups/consumer/patterns/classes.py: what is in brackets."""

import string

import pytest

from wirekafka.groups.consumer.patterns.classes import read_class
from wirekafka.groups.consumer.patterns.reading import Reader
from wirekafka.groups.consumer.patterns.tree import TOPIC_CHARACTERS, Invalid


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("[abc]", "abc"),
        ("[a-c]", "abc"),
        ("[]a]", "a"),
        ("[a-]", "a-"),
        ("[-a]", "a-"),
        ("[a-c-e]", "abc-e"),
        ("[+--]", "-"),
        (r"[\d.]", string.digits + "."),
        (r"[\x61\.]", "a."),
        ("[[:upper:]_]", string.ascii_uppercase + "_"),
        ("[[:^word:]]", ".-"),
        ("[[:a]", "a"),
        ("[[a]", "a"),
        ("[é]", ""),
    ],
)
def test_a_class_is_what_stands_in_it(text: str, characters: str) -> None:
    """Characters, ranges, and classes by name."""
    reader = Reader(text + "rest")

    assert read_class(reader) == frozenset(characters)
    assert reader.text[reader.position :] == "rest"


def test_a_negated_class_is_all_the_others() -> None:
    """Also of an empty one, and of one that begins with the closing bracket."""
    assert read_class(Reader("[^a]")) == TOPIC_CHARACTERS - {"a"}
    assert read_class(Reader("[^]a]")) == TOPIC_CHARACTERS - {"a"}
    assert read_class(Reader("[^^]")) == TOPIC_CHARACTERS


def test_without_case_both_cases_are_in_it() -> None:
    """And k for the Kelvin sign, s for the long s."""
    for text, characters in (
        ("[a-b]", "abAB"),
        ("[[:upper:]]", string.ascii_letters),
        ("[\u212a\u017f]", "kKsS"),
    ):
        reader = Reader(text)
        reader.ignore_case = True

        assert read_class(reader) == frozenset(characters)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[a", "missing closing ]: `[a`"),
        ("[]", "missing closing ]: `[]`"),
        ("[a-", "missing closing ]: `[a-`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
        (r"[a-\d]", r"invalid escape sequence: `\d`"),
        (r"[\b]", r"invalid escape sequence: `\b`"),
    ],
)
def test_what_is_no_class_is_refused(text: str, reason: str) -> None:
    """With RE2's words."""
    with pytest.raises(Invalid) as refusal:
        read_class(Reader(text))

    assert str(refusal.value) == reason
