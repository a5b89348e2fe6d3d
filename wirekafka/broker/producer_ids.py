"""Producer ids, drawn from blocks that the metadata log has handed to this broker.

Called by `handlers.producers`; calls `cluster` when a block is used up.
Source: KIP-730; Kafka's RPCProducerIdManager.
"""

from wirekafka.broker.cluster import Cluster


class ProducerIds:
    """Never gives the same id twice, across restarts too: a block is recorded before it is used."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._next = 0
        self._end = 0

    async def draw(self) -> int:
        """Give a fresh producer id. Raises COORDINATOR_NOT_AVAILABLE when none can be recorded."""
        if self._next == self._end:
            block = await self._cluster.allocate_producer_ids()
            self._next, self._end = block.first, block.first + block.length
        self._next += 1
        return self._next - 1
