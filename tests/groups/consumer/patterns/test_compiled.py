"""groups/consumer/patterns/compiled.py: automata are kept as long as there is room for them."""

import pytest

from wirekafka.groups.consumer.patterns.compiled import Compiled
from wirekafka.groups.consumer.patterns.tree import Invalid


def test_an_automaton_is_made_once() -> None:
    """With all it has found since."""
    compiled = Compiled()

    assert compiled.of("a.*") is compiled.of("a.*")


def test_what_was_not_used_for_longest_is_dropped() -> None:
    """The memory they take together is bounded."""
    one = Compiled().of("a[bc]*").weight_bytes
    compiled = Compiled(most_bytes=2 * one)
    a, b = compiled.of("a[bc]*"), compiled.of("b[bc]*")
    compiled.used("a[bc]*")
    compiled.of("c[bc]*")

    assert compiled.weight_bytes == 2 * one
    assert compiled.of("a[bc]*") is a
    assert compiled.of("b[bc]*") is not b


def test_an_automaton_weighs_more_when_it_was_used() -> None:
    """What it keeps of the names it has seen counts."""
    compiled = Compiled()
    before = compiled.of("a[bc]*").weight_bytes
    compiled.of("a[bc]*").matching(["abcbc", "d"])
    assert compiled.weight_bytes == before
    compiled.used("a[bc]*")

    assert compiled.weight_bytes == compiled.of("a[bc]*").weight_bytes > before


def test_one_that_is_heavier_than_all_may_be_is_kept_alone() -> None:
    """It was asked for."""
    compiled = Compiled(most_bytes=1)
    compiled.of("a")
    automaton = compiled.of("b")

    assert compiled.of("b") is automaton


def test_what_is_invalid_is_not_kept() -> None:
    """It is refused each time."""
    compiled = Compiled()
    for _ in range(2):
        with pytest.raises(Invalid):
            compiled.of("(")

    assert compiled.weight_bytes == 0
