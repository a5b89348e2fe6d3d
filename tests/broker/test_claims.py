"""claims: one task at a time has a log to shorten or compact."""

import trio
from trio.testing import wait_all_tasks_blocked

from wirekafka.broker.claims import Claims
from wirekafka.ids import TopicPartition

ONE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


async def test_a_claim_is_waited_for(nursery: trio.Nursery) -> None:
    """In the order of asking; other partitions are free."""
    claims, order = Claims(), []

    async def claim(name: str) -> None:
        async with claims.hold(ONE):
            order.append(name)

    async with claims.hold(ONE):
        nursery.start_soon(claim, "later")
        await wait_all_tasks_blocked()
        assert (claims.is_claimed(ONE), claims.is_claimed(OTHER)) == (True, False)
        async with claims.hold(OTHER):
            order.append("other")
        order.append("first")
    await wait_all_tasks_blocked()

    assert order == ["other", "first", "later"]
    assert not claims.is_claimed(ONE)


async def test_who_gives_up_waiting_leaves_the_claim_alone(nursery: trio.Nursery) -> None:
    """A cancelled task neither has nor ends it."""
    claims = Claims()

    async def claim() -> None:
        async with claims.hold(ONE):
            raise AssertionError("it was free")

    async with claims.hold(ONE):
        with trio.move_on_after(0):
            await claim()
        assert claims.is_claimed(ONE)
    assert not claims.is_claimed(ONE)
