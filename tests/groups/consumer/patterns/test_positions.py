"""groups/consumer/patterns/positions.py: an expression as positions, and how many there may be."""

import pytest

from wirekafka.groups.consumer.patterns.parsing import parse
from wirekafka.groups.consumer.patterns.positions import MATCH, Positions
from wirekafka.groups.consumer.patterns.tree import Invalid


def _positions(expression: str) -> Positions:
    return Positions(parse(expression))


def test_characters_in_a_row_have_positions_in_a_row() -> None:
    """From the end, which is position 0, to the beginning; what follows need not be written down."""
    positions = _positions("abc")

    assert (positions.count, positions.first, positions.in_a_row) == (4, 0b1000, 0b1110)
    assert positions.following == {}
    assert [positions.taking(character) for character in "abcd"] == [0b1000, 0b100, 0b10, 0]


def test_a_choice_begins_with_each_alternative() -> None:
    """And goes on behind all of them."""
    positions = _positions("(?:a|b)c")

    assert (positions.first, positions.in_a_row, positions.following) == (0b1100, 0b110, {3: 0b10})


def test_a_repeated_character_follows_itself() -> None:
    """And what comes behind it can come at once."""
    positions = _positions("a*")

    assert (positions.first, positions.following) == (0b11, {1: 0b11})


def test_a_repeated_group_has_a_position_that_takes_nothing() -> None:
    """Where it begins anew."""
    positions = _positions("(?:ab)*")

    assert positions.passing == positions.first == 0b10
    assert positions.following == {1: 0b1000 | MATCH}


def test_whence_everything_matches_is_known() -> None:
    """No character need be looked at any more."""
    assert _positions("a.*").everything == 0b10
    assert _positions("a.*$").everything == 0b10
    assert _positions("a.*b").everything == 0
    assert _positions("a[^b]*").everything == 0


def test_places_are_positions_that_take_nothing() -> None:
    """But for the end of a name at the end of the expression, which always holds."""
    assert not _positions("a$").has_places
    assert _positions(r"a\b").has_places
    assert _positions("^a").passing == 0b100


def test_what_takes_no_character_of_topic_names_leads_nowhere() -> None:
    """Nor does what comes before it."""
    assert (_positions("é").first, _positions("abé").first, _positions(r"\bé*é").first) == (0, 0, 0)


@pytest.mark.parametrize("part", ["(?:)", "a{0}", "(?:|(?:))", "(?i)()"])
def test_an_empty_part_is_as_good_as_its_repetition(part: str) -> None:
    """And costs no more."""
    positions = _positions(f"(?:(?:(?:{part}){{250}}){{1,250}}){{0,250}}")

    assert (positions.first, positions.count) == (MATCH, 1)


@pytest.mark.parametrize(
    "expression",
    [
        "((a{200}){200}){200}",
        r"(?:(?:(?:\b){250}){250}){250}",
        "(?:(?:(?:(?:){250}a?){250}){250}){250}",
        "|" * 9_999,
    ],
)
def test_what_is_larger_than_any_list_of_topics_is_refused(expression: str) -> None:
    """Parts that make no position count as others do. RE2/J would try."""
    with pytest.raises(Invalid, match="too large"):
        _positions(expression)
