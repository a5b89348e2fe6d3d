"""A figure is the median of its samples, held against its target."""

import pytest
from instrument.figures import Figure, ratios


def test_value_is_the_median() -> None:
    """One slow turn on a busy machine moves it little."""
    assert Figure("f", [1.0, 9.0, 2.0]).value == 2.0


@pytest.mark.parametrize(
    ("value", "at_most", "missed"),
    [(1.9, False, True), (2.0, False, False), (2.0, True, False), (2.1, True, True)],
)
def test_target_is_the_least_or_the_most_and_itself_good_enough(
    value: float, at_most: bool, missed: bool
) -> None:
    """`at_most` turns it round."""
    assert Figure("f", [value], 2.0, at_most=at_most).missed is missed


def test_figure_without_a_target_cannot_miss_it() -> None:
    """It is only told."""
    assert not Figure("f", [0.0]).missed


def test_ratios_are_of_pairs_and_not_of_medians() -> None:
    """What was measured one right after the other had the same machine."""
    assert ratios([2.0, 30.0], [1.0, 10.0]) == [2.0, 3.0]


def test_ratios_need_a_partner_for_each() -> None:
    """A side with a turn more was not alternated."""
    with pytest.raises(ValueError, match="shorter"):
        ratios([1.0, 2.0], [1.0])
