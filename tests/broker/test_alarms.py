"""alarms: each sleeper rings once, at the time it last asked for."""

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from wirekafka.broker.alarms import Alarms
from wirekafka.broker.clock import Clock


class Bells:
    """Alarms that run, and what has rung: (sleeper, milliseconds since the start)."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.start_ms = clock.now_ms()
        self.alarms = Alarms(clock)
        self.rung: list[tuple[int, int]] = []

    def set(self, sleeper: int, after_ms: int | None) -> None:
        at_ms = None if after_ms is None else self.start_ms + after_ms
        self.alarms.set(sleeper, at_ms, lambda now_ms: self.rung.append((sleeper, now_ms - self.start_ms)))


@pytest.fixture
async def bells(nursery: trio.Nursery) -> AsyncIterator[Bells]:
    made = Bells(Clock())
    nursery.start_soon(made.alarms.run)
    await wait_all_tasks_blocked()
    yield made
    nursery.cancel_scope.cancel()


async def test_alarm_rings_at_its_time_and_once(bells: Bells, autojump_clock: MockClock) -> None:
    bells.set(1, 1000)
    await trio.sleep(0.9)
    early = list(bells.rung)
    await trio.sleep(5)

    assert early == []
    assert [who for who, _ in bells.rung] == [1]
    assert 1000 <= bells.rung[0][1] <= 1001


async def test_earlier_time_replaces_the_later_one(bells: Bells, autojump_clock: MockClock) -> None:
    """The sleeping task is woken up for it."""
    bells.set(1, 5000)
    await trio.sleep(0.1)
    bells.set(1, 1000)
    await trio.sleep(10)

    assert [round(at, -2) for _, at in bells.rung] == [1000]


async def test_later_time_replaces_the_earlier_one(bells: Bells, autojump_clock: MockClock) -> None:
    """As each heartbeat does with a session."""
    bells.set(1, 1000)
    bells.set(1, 3000)
    await trio.sleep(2)
    early = list(bells.rung)
    await trio.sleep(5)

    assert early == []
    assert [round(at, -2) for _, at in bells.rung] == [3000]


async def test_cancelled_alarm_does_not_ring(bells: Bells, autojump_clock: MockClock) -> None:
    bells.set(1, 1000)
    bells.set(1, None)
    bells.set(2, None)
    await trio.sleep(5)

    assert bells.rung == []


async def test_sleepers_ring_in_the_order_of_their_times(bells: Bells, autojump_clock: MockClock) -> None:
    for sleeper, after_ms in ((1, 3000), (2, 1000), (3, 2000)):
        bells.set(sleeper, after_ms)
    await trio.sleep(5)

    assert [who for who, _ in bells.rung] == [2, 3, 1]


async def test_time_that_has_passed_rings_at_once(bells: Bells, autojump_clock: MockClock) -> None:
    await trio.sleep(1)
    bells.set(1, 500)
    await wait_all_tasks_blocked(0.01)

    assert [who for who, _ in bells.rung] == [1]


async def test_same_time_set_again_rings_once(bells: Bells, autojump_clock: MockClock) -> None:
    for _ in range(3):
        bells.set(1, 1000)
    await trio.sleep(5)

    assert len(bells.rung) == 1


async def test_ringing_sleeper_may_ask_for_its_next_time(bells: Bells, autojump_clock: MockClock) -> None:
    """So periodic work needs no task of its own."""

    def ring(now_ms: int) -> None:
        bells.rung.append((1, now_ms - bells.start_ms))
        if len(bells.rung) < 3:
            bells.alarms.set(1, now_ms + 1000, ring)

    bells.alarms.set(1, bells.start_ms + 1000, ring)
    await trio.sleep(10)

    assert [round(at, -2) for _, at in bells.rung] == [1000, 2000, 3000]
