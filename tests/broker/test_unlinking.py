"""unlinking: files go when they are due, in a thread."""

import threading
from collections.abc import Sequence

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from wirekafka.broker.unlinking import Unlinking


class Disk:
    """Notes what is unlinked, and where."""

    def __init__(self) -> None:
        self.unlinked: list[str] = []
        self.threads: set[threading.Thread] = set()
        self.failure: OSError | None = None

    def unlink(self, paths: Sequence[str]) -> None:
        self.threads.add(threading.current_thread())
        self.unlinked += paths
        if self.failure is not None:
            raise self.failure

    async def has_unlinked(self, count: int) -> None:
        while len(self.unlinked) < count:
            await trio.lowlevel.checkpoint()


async def test_files_go_after_their_delay(nursery: trio.Nursery, mock_clock: MockClock) -> None:
    """The first due first, whatever the order in which they came."""
    disk = Disk()
    unlinking = Unlinking(disk.unlink)
    nursery.start_soon(unlinking.run)
    await wait_all_tasks_blocked()

    unlinking.later(["late"], 60_000)
    unlinking.later(["soon"], 1000)
    unlinking.later([], 0)
    mock_clock.jump(0.9)
    await wait_all_tasks_blocked()
    assert disk.unlinked == []
    mock_clock.jump(0.2)
    await disk.has_unlinked(1)
    assert disk.unlinked == ["soon"]
    mock_clock.jump(60)
    await disk.has_unlinked(2)

    assert disk.unlinked == ["soon", "late"]
    assert threading.current_thread() not in disk.threads


async def test_what_came_before_it_runs_goes_too(nursery: trio.Nursery) -> None:
    """With a delay of nothing at once."""
    disk = Disk()
    unlinking = Unlinking(disk.unlink)
    unlinking.later(["a", "b"], 0)

    nursery.start_soon(unlinking.run)
    await disk.has_unlinked(2)

    assert disk.unlinked == ["a", "b"]


async def test_a_file_that_cannot_be_removed_is_left(
    nursery: trio.Nursery, caplog: pytest.LogCaptureFixture
) -> None:
    """The next start removes it; others still go."""
    disk = Disk()
    disk.failure = PermissionError(13, "not allowed")
    unlinking = Unlinking(disk.unlink)
    nursery.start_soon(unlinking.run)
    unlinking.later(["a"], 0)
    await disk.has_unlinked(1)

    disk.failure = None
    unlinking.later(["b"], 0)
    await disk.has_unlinked(2)

    assert "left until the next start" in caplog.text
