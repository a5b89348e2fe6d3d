"""groups/consumer/patterns/tree.py."""

import pytest

from wirekafka.groups.consumer.patterns.parsing import parse
from wirekafka.groups.consumer.patterns.tree import (
    LONGEST_NAME,
    TOPIC_CHARACTERS,
    literal_prefix,
    names_listed,
)
from wirekafka.metadata.topics import validate_name


def test_its_characters_are_those_of_topic_names() -> None:
    """Kafka's Topic.validate: what is no topic's name need not be matched."""
    for character in TOPIC_CHARACTERS:
        validate_name(f"a{character}")
    validate_name("a" * LONGEST_NAME)


@pytest.mark.parametrize(
    ("expression", "prefix"),
    [("ab.*", "ab"), ("^ab$", "ab"), ("ab?", "a"), ("a|ab", ""), (".*", ""), ("", ""), ("a", "a")],
)
def test_a_literal_prefix_is_what_all_matching_names_begin_with(expression: str, prefix: str) -> None:
    """It ends where the expression leaves a choice."""
    assert literal_prefix(parse(expression)) == prefix


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a", {"a"}),
        ("ab|cd|e", {"ab", "cd", "e"}),
        ("^(ab|cd)$", {"ab", "cd"}),
        ("^ab$", {"ab"}),
        ("", {""}),
        ("a.b|cd", None),
        ("ab*|cd", None),
        ("a(b|c)", None),
        ("a|^b", None),
        ("a|b$", None),
        ("a^", None),
    ],
)
def test_names_listed_are_told_of_an_expression_that_only_lists(
    expression: str, names: set[str] | None
) -> None:
    """All others are for the automaton."""
    assert names_listed(parse(expression)) == names
