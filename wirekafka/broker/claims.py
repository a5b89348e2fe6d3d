"""`Claims`: which logs are being shortened or compacted, so that nobody does both at once.

Used by `retention` and `cleaning`.
Source: the states of Kafka's LogCleanerManager.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from wirekafka.ids import TopicPartition


class Claims:
    """One claim a partition at a time."""

    def __init__(self) -> None:
        self._claimed: dict[TopicPartition, trio.Lock] = {}

    def is_claimed(self, topic_partition: TopicPartition) -> bool:
        return topic_partition in self._claimed

    @asynccontextmanager
    async def hold(self, topic_partition: TopicPartition) -> AsyncIterator[None]:
        """Wait until nobody else has the partition, and have it for the length of the block."""
        lock = self._claimed.setdefault(topic_partition, trio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():
                self._claimed.pop(topic_partition, None)
