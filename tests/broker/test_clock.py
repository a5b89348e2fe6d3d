"""clock: two readings of the time, and the way back to trio's."""

import time

import pytest
import trio
import trio.testing

from wirekafka.broker.clock import Clock


async def test_now_follows_trios_clock(mock_clock: trio.testing.MockClock) -> None:
    """So a test moves it, and a corrected system clock does not."""
    clock = Clock()
    before_ms = clock.now_ms()

    mock_clock.jump(2.5)

    assert clock.now_ms() - before_ms in (2499, 2500, 2501)


async def test_now_begins_at_the_wall_clock() -> None:
    """Deadlines are stored as wall time, and mean the same after a restart."""
    before_ms = time.time_ns() // 1_000_000
    now_ms = Clock().now_ms()

    assert before_ms - 1 <= now_ms <= time.time_ns() // 1_000_000 + 1


async def test_wall_time_is_the_systems(
    mock_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Timestamps of records are held against it, whatever deadlines go by."""
    clock = Clock()
    monkeypatch.setattr("wirekafka.broker.clock._wall_seconds", lambda: 1234.5)

    mock_clock.jump(60)

    assert clock.wall_ms() == 1_234_500


async def test_trio_time_is_when_now_will_be_there(mock_clock: trio.testing.MockClock) -> None:
    clock = Clock()
    at_ms = clock.now_ms() + 3000

    mock_clock.jump(clock.trio_time(at_ms) - trio.current_time())

    assert abs(clock.now_ms() - at_ms) <= 1
