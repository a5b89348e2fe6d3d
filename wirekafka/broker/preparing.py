"""Looks into what a producer sent, or compresses it anew, in a thread: what an event loop may not wait for.

Called by `partition` before the few appends that need it; calls `storage.prepare`.

Source: ours; Kafka's LogValidator does it in the request's own thread.
"""

from wirekafka.broker.unpacking import run_unpacking
from wirekafka.ids import TopicPartition
from wirekafka.storage import Buffer, LogConfig, prepare


async def prepared(
    records: Buffer, topic_partition: TopicPartition, config: LogConfig, *, now_ms: int
) -> Buffer:
    """Give the records as they are to be appended. Raises what `storage.prepare` does."""
    return await run_unpacking(lambda: prepare(records, topic_partition, config, now_ms=now_ms))
