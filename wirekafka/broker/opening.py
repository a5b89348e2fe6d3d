"""Opens many partitions in threads, while somebody looks on: at a start, when logs may have to be checked.

Called by `partitions`; calls `storage.LogDirectory`. The event loop stays free meanwhile, so a start can be
broken off: what was being read is left as it is.

Source: Kafka's LogManager.loadLogs and num.recovery.threads.per.data.dir.
"""

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import trio

from wirekafka.ids import TopicId, TopicPartition
from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage import (
    FSYNC,
    LogConfig,
    LogDirectory,
    OpeningGivenUp,
    OpeningProgress,
    PartitionLog,
    flush_logs,
)

logger = get_logger("broker")

Watch = Callable[[OpeningProgress], Awaitable[None]]
"""Shows how far the opening has come, until it is cancelled."""

_LINE_EVERY_SECONDS = 5.0
_OPENED_AT_A_TIME_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Wanted:
    """A partition that is to be opened."""

    topic_partition: TopicPartition
    topic_id: TopicId
    config: LogConfig


Opened = tuple[Wanted, PartitionLog | KafkaError]


async def log_progress(progress: OpeningProgress) -> None:
    """Write a log line every few seconds."""
    while True:
        await trio.sleep(_LINE_EVERY_SECONDS)
        logger.info("opening the data folder: %s", progress)


async def open_logs(
    directory: LogDirectory, wanted: Sequence[Wanted], *, threads: int, watch: Watch, now_ms: int
) -> list[Opened]:
    """Open every partition, each made if it is not there; give its log, or why it is offline.

    What was recovered of those in the mode `fsync` lasts when this returns, or the folder has failed.
    """
    progress = OpeningProgress()
    left = deque(wanted)
    opened: list[Opened] = []

    async def work() -> None:
        while left:
            opened.extend(await trio.to_thread.run_sync(_open_some, directory, left, progress, now_ms))
            await trio.lowlevel.checkpoint_if_cancelled()

    async with trio.open_nursery() as onlookers:
        onlookers.start_soon(_give_up_when_cancelled, progress)
        await trio.to_thread.run_sync(_expect, directory, wanted, progress)
        onlookers.start_soon(watch, progress)
        async with trio.open_nursery() as workers:
            for _ in range(threads):
                workers.start_soon(work)
        onlookers.cancel_scope.cancel()
    await _make_recovered_last(directory)
    return opened


async def _give_up_when_cancelled(progress: OpeningProgress) -> None:
    try:
        await trio.sleep_forever()
    finally:
        progress.give_up()


def _expect(directory: LogDirectory, wanted: Sequence[Wanted], progress: OpeningProgress) -> None:
    to_check_bytes = 0
    if not directory.was_clean:
        to_check_bytes = sum(directory.to_check_bytes(each.topic_partition) for each in wanted)
    progress.expect(len(wanted), to_check_bytes)


def _open_some(
    directory: LogDirectory, left: deque[Wanted], progress: OpeningProgress, now_ms: int
) -> list[Opened]:
    """Open as many as a short time allows: going from thread to thread for each would take longer."""
    opened: list[Opened] = []
    end = time.perf_counter() + _OPENED_AT_A_TIME_SECONDS
    while left and time.perf_counter() < end:
        try:
            wanted = left.popleft()
        except IndexError:  # another thread was first
            break
        try:
            opened.append((wanted, open_one(directory, wanted, progress=progress, now_ms=now_ms)))
        except OpeningGivenUp:
            left.clear()
        progress.opened()
    return opened


def open_one(
    directory: LogDirectory, wanted: Wanted, *, now_ms: int, progress: OpeningProgress | None = None
) -> PartitionLog | KafkaError:
    """Open a partition, made if it is not there; give its log, or why it is offline."""
    try:
        return directory.open_log(
            wanted.topic_partition, wanted.topic_id, wanted.config, now_ms=now_ms, progress=progress
        )
    except KafkaError as error:
        # It is kept for long: it must not keep the frames it came through, and all that was opened in them.
        if error.__cause__ is not None:
            error.__cause__.with_traceback(None)
        return error.with_traceback(None)


async def _make_recovered_last(directory: LogDirectory) -> None:
    """Flush what was not: in the mode `fsync` readers see nothing else, and it may be acknowledged."""
    logs = [log for log in directory.unflushed_logs() if log.config.durability == FSYNC]
    if not logs:
        return
    try:
        await trio.to_thread.run_sync(flush_logs, directory.disk, directory.path, logs)
    except KafkaError as error:
        logger.error("what was recovered may not last: %s", error)


def report_notices(directory: LogDirectory) -> None:
    """Log what the folder had to be mended of, once."""
    for notice in directory.notices:
        logger.warning("%s", notice)
    directory.notices.clear()
