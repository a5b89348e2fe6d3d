"""Tests of server/garbage.py."""

import gc
import sys
import time
import weakref
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from wirekafka.server import garbage
from wirekafka.server.garbage import look_through_everything, survivors_put_aside


class Node:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def collector_as_before() -> Iterator[None]:
    """Young generations are collected when a test says so; nothing stays aside behind it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor is never used, and nothing takes long."""
    monkeypatch.setattr(time, "process_time", lambda: 0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)


def cycle() -> "weakref.ref[Node]":
    """Make a piece of garbage; give what says whether it is still there."""
    return weakref.ref(Node())


def looks_that_take(seconds: float, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let every look through everything take so long; give when they are."""
    looks: list[float] = []

    def look() -> float:
        looks.append(trio.current_time())
        return seconds

    monkeypatch.setattr(garbage, "_collect_all", look)
    return looks


def test_what_survives_a_collection_of_the_oldest_generation_is_not_walked_over_again() -> None:
    """The next collection finds only what has been made since."""
    kept = [Node() for _ in range(1000)]
    with survivors_put_aside():
        gc.collect()
        aside = gc.get_freeze_count()
        made_since = [Node() for _ in range(10)]

        assert aside > len(kept)
        assert len(gc.get_objects()) < 500
    assert len(made_since) == 10


def test_younger_generations_put_nothing_aside() -> None:
    """What survives those has not lived long."""
    with survivors_put_aside():
        gc.collect(0)
        gc.collect(1)

        assert gc.get_freeze_count() == 0


def test_garbage_is_freed_before_the_rest_is_put_aside() -> None:
    """A cycle that was made since the last collection does not wait for the look through everything."""
    with survivors_put_aside():
        gc.collect()
        node = cycle()
        gc.collect()

        assert node() is None


def test_behind_the_block_python_collects_as_it_did() -> None:
    """Nothing is aside, nothing is put there any more, and the thresholds are the old ones."""
    callbacks, thresholds = list(gc.callbacks), gc.get_threshold()
    with survivors_put_aside():
        gc.collect()
    gc.collect()

    assert gc.get_freeze_count() == 0
    assert (gc.callbacks, gc.get_threshold()) == (callbacks, thresholds)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 collects by increments of its own")
def test_what_comes_new_is_put_aside_soon() -> None:
    """With some 24,000 objects more Python collects the oldest generation by itself: a few milliseconds."""
    gc.enable()
    with survivors_put_aside():
        gc.collect()
        gc.collect()
        aside = gc.get_freeze_count()
        kept = [Node() for _ in range(40_000)]

        assert gc.get_freeze_count() - aside > len(kept) / 3


@pytest.mark.usefixtures("quiet")
async def test_what_becomes_garbage_while_it_is_aside_is_freed_within_two_minutes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """The first look comes after a minute; it frees what a full collection alone would never see."""
    node = Node()
    seen = weakref.ref(node)
    with survivors_put_aside():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look_through_everything)
            await trio.testing.wait_all_tasks_blocked()
            del node
            gc.collect()
            assert seen() is not None

            await trio.sleep(120)

            assert seen() is None
            assert gc.get_freeze_count() > 1000
            nursery.cancel_scope.cancel()


@pytest.mark.usefixtures("quiet")
async def test_ten_thousand_cycles_put_aside_one_after_the_other_are_all_freed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Whatever is put aside for ever so long, memory does not grow by it."""
    with survivors_put_aside():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(look_through_everything)
            seen: list[weakref.ref[Node]] = []
            for _ in range(100):
                nodes = [Node() for _ in range(100)]
                seen += map(weakref.ref, nodes)
                gc.collect()
                del nodes
                await trio.sleep(10)
            await trio.sleep(120)

            assert len(seen) == 10_000
            assert not [node for node in seen if node() is not None]
            nursery.cancel_scope.cancel()


async def test_a_look_waits_for_a_quiet_moment_but_not_for_ever(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that is always busy is looked through after twice the interval."""
    busy_seconds = iter(range(10_000))
    monkeypatch.setattr(time, "process_time", lambda: float(next(busy_seconds)))
    looks = looks_that_take(0.0, monkeypatch)
    began = trio.current_time()
    with trio.move_on_after(400):
        await look_through_everything()

    assert [round(at - began) for at in looks] == [120, 240, 360]


@pytest.mark.usefixtures("quiet")
async def test_a_look_that_takes_long_is_seldom_repeated(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thousand times what it took is waited: half a second every thousand seconds."""
    looks = looks_that_take(0.5, monkeypatch)
    began = trio.current_time()
    with trio.move_on_after(2100):
        await look_through_everything()

    assert [round(at - began) for at in looks] == [61, 1062, 2063]
