"""groups/consumer/patterns/automaton.py: against Python's re, which means the same where both know it."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
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


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(expression=expressions, some=st.lists(names, min_size=1, max_size=8))
def test_it_matches_what_python_matches(expression: str, some: list[str]) -> None:
    """Whole names."""
    pattern, machine = _as_python_means_it(expression), Automaton(parse(expression))

    assert machine.matching(some)[0] == {name for name in some if pattern.fullmatch(name)}


def test_what_it_has_found_is_kept_and_found_again() -> None:
    """The second time there is nothing to work out but the way through each name."""
    machine = Automaton(parse("(?:ab)+"))
    names = ["abab", "aba", "ab"]
    first, second = machine.matching(names), machine.matching(names)

    assert first[0] == second[0] == {"abab", "ab"}
    assert first[1] > second[1] == 4 * len(names)


def test_names_that_are_alike_cost_nothing_new() -> None:
    """However many there are: the states are kept, not the names."""
    machine = Automaton(parse("orders-.*|.*-[0-9]+"))
    few, many = ([f"payments-{number:04d}" for number in range(count)] for count in (1_000, 5_000))

    work_by_count = {len(names): machine.matching(names)[1] - 4 * len(names) for names in (few, many)}
    assert 0 <= work_by_count[5_000] < work_by_count[1_000] < 2_000


def test_when_it_has_kept_much_it_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """And answers as before."""
    machine = Automaton(parse("[ab]{3}"))
    names = ["aba", "ab", "bbb", "c"]
    light = machine.weight_bytes
    assert machine.matching(names)[0] == {"aba", "bbb"}
    assert machine.weight_bytes > light
    monkeypatch.setattr(automaton, "MOST_KEPT_BYTES", 2)

    assert machine.matching([*names, "bab"])[0] == {"aba", "bbb", "bab"}
    assert machine.weight_bytes == light


@pytest.mark.parametrize(
    ("expression", "length", "matches"),
    [("a{1000}", 249, False), ("a{0,1000}", 249, True), ("(a|b){250,}", 249, False), ("a{249}", 249, True)],
)
def test_repetitions_past_the_longest_name_are_not_written_out(
    expression: str, length: int, matches: bool
) -> None:
    """Names have 249 characters at most: Kafka's Topic.validate."""
    assert bool(Automaton(parse(expression)).matching(["a" * length])[0]) is matches


def test_what_takes_too_much_work_is_refused_each_time() -> None:
    """It does not depend on what an attempt before it has worked out."""
    machine = Automaton(parse("(?:[^a]?[^b]?[^c]?[^d]?){250}" * 3))
    light = machine.weight_bytes

    for _ in range(3):
        with pytest.raises(Invalid, match="it takes too much work to match the names of the topics"):
            machine.matching(["abcdefgh" * 10])
        assert machine.weight_bytes == light


def test_a_long_list_of_names_is_answered() -> None:
    """Whether its points are escaped or not."""
    names = [f"team{number % 19}.orders.{number * 7919 % 10_007:05d}.v1" for number in range(2_000)]
    listed = names[::7]

    for expression in ("|".join(listed), "|".join(map(re.escape, listed))):
        assert Automaton(parse(expression)).matching(names)[0] == set(listed)
