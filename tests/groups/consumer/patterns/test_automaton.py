"""groups/consumer/patterns/automaton.py: against Python's re, which means the same where both know it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirekafka.groups.consumer.patterns import automaton
from wirekafka.groups.consumer.patterns.automaton import Automaton
from wirekafka.groups.consumer.patterns.parsing import parse
from wirekafka.groups.consumer.patterns.tree import Invalid

atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\w", r"\.", "-", r"\b", r"\B", "^", "$"])
expressions = st.recursive(
    atoms,
    lambda part: st.one_of(
        st.lists(part, max_size=3).map("".join),
        st.lists(part, min_size=1, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(part, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
    ),
    max_leaves=6,
)
names = st.text("ab.-_1", min_size=1, max_size=6)


def _as_python_means_it(expression: str) -> "re.Pattern[str]":
    # Before Python 3.14 \B is not true in an empty text; no name is one.
    return re.compile(expression.replace("$", r"\Z"))


@given(expression=expressions, some=st.lists(names, min_size=1, max_size=8))
def test_it_matches_what_python_matches(expression: str, some: list[str]) -> None:
    """Whole names."""
    pattern, machine = _as_python_means_it(expression), Automaton(parse(expression))

    assert [machine.matches(name) for name in some] == [bool(pattern.fullmatch(name)) for name in some]


def test_what_it_has_found_is_kept_and_found_again() -> None:
    """The second time there is nothing to work out."""
    machine = Automaton(parse("(?:ab)+"))

    assert [machine.matches(name) for name in ("abab", "aba", "abab", "aba")] == [True, False, True, False]


def test_when_it_has_kept_much_it_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """And answers as before."""
    monkeypatch.setattr(automaton, "MOST_KEPT", 2)
    machine = Automaton(parse("[ab]{3}"))

    assert [machine.matches(name) for name in ("aba", "ab", "bbb", "aba", "c")] == [
        True,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("expression", "length", "matches"),
    [("a{1000}", 249, False), ("a{0,1000}", 249, True), ("(a|b){250,}", 249, False), ("a{249}", 249, True)],
)
def test_repetitions_past_the_longest_name_are_not_written_out(
    expression: str, length: int, matches: bool
) -> None:
    """Names have 249 characters at most: Kafka's Topic.validate."""
    assert Automaton(parse(expression)).matches("a" * length) is matches


def test_what_is_larger_than_any_list_of_topics_is_refused() -> None:
    """RE2/J would try."""
    with pytest.raises(Invalid, match="too large"):
        Automaton(parse("((a{200}){200}){200}"))
