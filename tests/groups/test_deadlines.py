"""Tests of groups/deadlines.py."""

from hypothesis import given
from hypothesis import strategies as st

from wirekafka.groups.deadlines import Deadlines


def test_keys_fall_due_in_order_of_time_then_of_scheduling() -> None:
    """Two that are due together go in the order in which they were scheduled."""
    deadlines: Deadlines[str] = Deadlines()
    deadlines.schedule("late", 20)
    deadlines.schedule("first", 10)
    deadlines.schedule("second", 10)

    assert deadlines.next_due_ms() == 10
    assert [deadlines.pop_due(20) for _ in range(4)] == ["first", "second", "late", None]


def test_nothing_is_due_before_its_time() -> None:
    """`pop_due` leaves what is still to come."""
    deadlines: Deadlines[str] = Deadlines()
    deadlines.schedule("a", 10)

    assert deadlines.pop_due(9) is None
    assert "a" in deadlines
    assert deadlines.pop_due(10) == "a"
    assert "a" not in deadlines
    assert deadlines.next_due_ms() is None


def test_a_moved_key_has_one_deadline() -> None:
    """Scheduling again moves a key, later or earlier."""
    deadlines: Deadlines[str] = Deadlines()
    deadlines.schedule("a", 10)
    deadlines.schedule("a", 30)
    deadlines.schedule("b", 20)
    deadlines.schedule("b", 15)

    assert len(deadlines) == 2
    assert deadlines.next_due_ms() == 15
    assert [deadlines.pop_due(40) for _ in range(3)] == ["b", "a", None]


def test_a_cancelled_key_does_not_fall_due() -> None:
    """Cancelling what is not there is allowed."""
    deadlines: Deadlines[str] = Deadlines()
    deadlines.schedule("a", 10)
    deadlines.cancel("a")
    deadlines.cancel("never")

    assert deadlines.next_due_ms() is None
    assert deadlines.pop_due(100) is None


def test_a_key_moved_very_often_leaves_little_behind() -> None:
    """Heartbeats move deadlines for days; the heap stays in proportion to the living keys."""
    deadlines: Deadlines[str] = Deadlines()
    for now_ms in range(10_000):
        deadlines.schedule("member", now_ms)

    assert len(deadlines._heap) < 100
    assert deadlines.pop_due(10_000) == "member"
    assert deadlines.pop_due(10_000) is None


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.one_of(st.none(), st.integers(0, 50)))))
def test_it_agrees_with_a_plain_dictionary(moves: list[tuple[str, int | None]]) -> None:
    """The slow twin: a dictionary searched for its minimum."""
    deadlines: Deadlines[str] = Deadlines()
    plain: dict[str, int] = {}
    for key, due_ms in moves:
        if due_ms is None:
            deadlines.cancel(key)
            plain.pop(key, None)
        else:
            deadlines.schedule(key, due_ms)
            plain[key] = due_ms
        assert deadlines.next_due_ms() == min(plain.values(), default=None)

    popped: dict[str, int] = {}
    while (next_ms := deadlines.next_due_ms()) is not None:
        soonest = deadlines.pop_due(next_ms)
        assert soonest is not None
        popped[soonest] = next_ms
    assert popped == plain
