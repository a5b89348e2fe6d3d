"""rests: how long a log is left alone that has failed."""

import trio

from tests.broker.conftest import MakePartition
from wirekafka.broker.rests import Rests


async def slept(rests: Rests, log: object) -> float:
    """How long a log rests from now on, to the second."""
    began = trio.current_time()
    while rests.is_resting(log):  # type: ignore[arg-type]
        await trio.sleep(1)
    return trio.current_time() - began


async def test_each_failure_doubles_the_rest(make_partition: MakePartition, autojump_clock: object) -> None:
    """From 15 seconds up to 15 minutes."""
    log, rests = make_partition().log, Rests()
    assert not rests.is_resting(log)

    found = []
    for _ in range(8):
        rests.begin(log)
        found.append(await slept(rests, log))

    assert found == [15, 30, 60, 120, 240, 480, 900, 900]


async def test_a_success_ends_it(make_partition: MakePartition, autojump_clock: object) -> None:
    """The next failure is a first one again."""
    log, rests = make_partition().log, Rests()
    rests.begin(log)
    rests.begin(log)
    assert rests

    rests.end(log)

    assert not rests
    assert not rests.is_resting(log)
    rests.begin(log)
    assert await slept(rests, log) == 15


async def test_a_log_that_is_closed_is_forgotten(make_partition: MakePartition) -> None:
    """Its topic is deleted."""
    closed, other, rests = make_partition(index=0).log, make_partition(index=1).log, Rests()
    rests.begin(closed)
    rests.begin(other)
    closed.abandon()

    rests.forget_closed()

    assert (rests.is_resting(closed), rests.is_resting(other)) == (False, True)
