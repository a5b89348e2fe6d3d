"""timeouts: each is called once, at its time, unless it has been taken back."""

from collections.abc import AsyncIterator
from functools import partial

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from wirekafka.broker.timeouts import Timeout, Timeouts


class Waits:
    """Timeouts that run, and what has been called: (name, seconds since the start)."""

    def __init__(self) -> None:
        self.timeouts = Timeouts()
        self.rung: list[tuple[str, float]] = []

    def set(self, name: str, seconds: float) -> Timeout:
        return self.timeouts.set(
            trio.current_time() + seconds, lambda: self.rung.append((name, round(trio.current_time(), 3)))
        )


@pytest.fixture
async def waits(nursery: trio.Nursery) -> AsyncIterator[Waits]:
    made = Waits()
    nursery.start_soon(made.timeouts.run)
    await wait_all_tasks_blocked()
    yield made
    nursery.cancel_scope.cancel()


async def test_each_is_called_once_at_its_time(waits: Waits, autojump_clock: MockClock) -> None:
    """In whatever order they were set: the sleeping task is woken for an earlier one."""
    for name, seconds in (("c", 3), ("a", 1), ("b", 2), ("b too", 2), ("past", -1)):
        waits.set(name, seconds)
    await trio.sleep(10)

    assert sorted(waits.rung) == [("a", 1), ("b", 2), ("b too", 2), ("c", 3), ("past", 0)]


async def test_what_was_taken_back_is_not_called(waits: Waits, autojump_clock: MockClock) -> None:
    """And those around it are. It may be taken back when it has been called, and again."""
    first, second, third = (waits.set(name, seconds) for name, seconds in (("a", 1), ("b", 2), ("c", 3)))
    waits.timeouts.take_back(second)
    waits.timeouts.take_back(second)
    await trio.sleep(2.5)
    waits.timeouts.take_back(first)
    await trio.sleep(10)
    waits.timeouts.take_back(third)

    assert waits.rung == [("a", 1), ("c", 3)]


async def test_one_that_is_set_when_another_is_called_is_called_in_its_turn(
    waits: Waits, autojump_clock: MockClock
) -> None:
    waits.timeouts.set(trio.current_time() + 1, partial(waits.set, "next", 1))
    await trio.sleep(10)

    assert waits.rung == [("next", 2)]


async def test_it_may_run_later_than_it_is_set(autojump_clock: MockClock, nursery: trio.Nursery) -> None:
    waits = Waits()
    waits.set("a", 1)
    await trio.sleep(2)
    nursery.start_soon(waits.timeouts.run)
    await wait_all_tasks_blocked()
    nursery.cancel_scope.cancel()

    assert waits.rung == [("a", 2)]


async def test_what_is_over_does_not_pile_up(waits: Waits, autojump_clock: MockClock) -> None:
    """Whether its time would come soon or never; and those that are waited for stay."""
    waits.set("stays", 50)
    for _ in range(10_000):
        waits.timeouts.take_back(waits.set("over", 40))
    assert len(waits.timeouts) < 3_000
    await trio.sleep(45)
    assert len(waits.timeouts) == 1
    await trio.sleep(45)

    assert waits.rung == [("stays", 50)]
    assert len(waits.timeouts) == 0


async def test_where_many_wait_what_is_over_is_not_looked_for_each_time(
    waits: Waits, autojump_clock: MockClock
) -> None:
    """Else the more there are, the more would each cost."""
    for _ in range(5_000):
        waits.set("waits", 50)
    for _ in range(3_000):
        waits.timeouts.take_back(waits.set("over", 40))

    assert len(waits.timeouts) == 8_000
