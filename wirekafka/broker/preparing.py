"""Looks into what a producer sent, or compresses it anew, in a thread: what an event loop may not wait for.

Called by `partition` before the few appends that need it; calls `storage.prepare`. Each may unpack
megabytes, so that only a few run at a time, and the others wait their turn.

Source: ours; Kafka's LogValidator does it in the request's own thread.
"""

import trio

from wirekafka.ids import TopicPartition
from wirekafka.storage import Buffer, LogConfig, prepare

_AT_A_TIME = 2
_limiter: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("preparing")


async def prepared(
    records: Buffer, topic_partition: TopicPartition, config: LogConfig, *, now_ms: int
) -> Buffer:
    """Give the records as they are to be appended. Raises what `storage.prepare` does."""
    return await trio.to_thread.run_sync(
        lambda: prepare(records, topic_partition, config, now_ms=now_ms), limiter=_few_at_a_time()
    )


def _few_at_a_time() -> trio.CapacityLimiter:
    """One for each trio run: brokers of one process do not wait for each other."""
    try:
        return _limiter.get()
    except LookupError:
        limiter = trio.CapacityLimiter(_AT_A_TIME)
        _limiter.set(limiter)
        return limiter
