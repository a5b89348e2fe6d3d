"""What is done at intervals: make sealed and written data last, and remember how far it does.

Run by `broker`. After a broker was killed only what lies behind the recovery points is checked, so this
is what keeps such a start short.

Source: Kafka's LogManager (flush of rolled segments, log.flush.offset.checkpoint.interval.ms,
log.flush.start.offset.checkpoint.interval.ms) and UnifiedLog (producer.id.expiration.check.interval.ms).
"""

from collections.abc import Callable

import trio

from wirekafka.broker.complaints import Complaints
from wirekafka.broker.flushing import Flusher
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage import LogDirectory

_LEAST_INTERVAL_MS = 100


async def checkpoint_at_intervals(directory: LogDirectory, flusher: Flusher, interval_ms: int) -> None:
    """Flush every log that has something to flush, then checkpoint in a thread; forever."""
    complaints = Complaints("the checkpoints stay as they are")
    while True:
        await _sleep(interval_ms)
        await _flush_all(directory, flusher)
        noted = _note_offsets(directory)
        complaints.hear(await _in_thread(directory.checkpoints.write) or noted)


async def checkpoint_start_offsets_at_intervals(directory: LogDirectory, interval_ms: int) -> None:
    """Write where each log begins, in a thread; forever."""
    complaints = Complaints("the start offsets' checkpoint stays as it is")
    while True:
        await _sleep(interval_ms)
        noted = _note_offsets(directory)
        complaints.hear(await _in_thread(directory.checkpoints.write_log_start_offsets) or noted)


async def expire_producers_at_intervals(
    directory: LogDirectory, wall_ms: Callable[[], int], interval_ms: int
) -> None:
    """Forget the idempotent producers that have not been heard of for producer.id.expiration.ms; forever."""
    while True:
        await _sleep(interval_ms)
        for log in directory.logs():
            log.expire_producers(wall_ms())


async def _sleep(interval_ms: int) -> None:
    await trio.sleep(max(interval_ms, _LEAST_INTERVAL_MS) / 1000)


async def _flush_all(directory: LogDirectory, flusher: Flusher) -> None:
    """Flush together, in one flush; the flusher says what goes wrong."""
    flushes = [flusher.ask(log) for log in directory.unflushed_logs()]
    for flush in flushes[:1]:
        await flush.ended.wait()


def _note_offsets(directory: LogDirectory) -> KafkaError | None:
    """Note what can be noted: on a full disk a start that has moved may have to wait."""
    try:
        directory.checkpoints.note_all(directory.logs())
    except KafkaError as error:
        return error
    return None


async def _in_thread(write: Callable[[], None]) -> KafkaError | None:
    try:
        await trio.to_thread.run_sync(write)
    except KafkaError as error:
        return error
    return None
