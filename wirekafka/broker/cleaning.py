"""`Cleaning`: compacts the logs that are due, the dirtiest first, and any when asked.

Run by `broker`; calls the storage room's `cleaning` in threads, at most log.cleaner.threads at a time.
Reading and writing anew is done there; the segments are exchanged on the event loop. What is to be
compacted is flushed first.

Source: Kafka's LogCleaner and LogCleanerManager (grabFilthiestCompactedLog).
"""

from collections.abc import Callable
from time import sleep

import trio

from wirekafka.broker.claims import Claims
from wirekafka.broker.complaints import Complaints
from wirekafka.broker.firebreak import Firebreak
from wirekafka.broker.flushing import AwaitedFlush, Flusher
from wirekafka.broker.partition import Partition
from wirekafka.broker.partitions import Partitions
from wirekafka.broker.rests import Rests
from wirekafka.broker.unlinking import Unlinking
from wirekafka.metadata import Settings
from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import (
    COMPACT,
    Cleanable,
    Cleaned,
    LogChanged,
    LogDirectory,
    OffsetMap,
    PartitionLog,
    Unreadable,
    clean,
    cleanable,
)

logger = get_logger("broker")

_LEAST_BACKOFF_MS = 100
_LEAST_PAUSE_SECONDS = 0.01
_LONGEST_TURN_SECONDS = 0.001
"""How long a compaction works before it gives way: Python takes the turn from it after five times that, and
giving way takes a quarter of it on a busy machine."""


class _Pace:
    """Holds a compaction to so many bytes a second, and ends it when the broker stops."""

    def __init__(self, bytes_per_second: float, clock: trio.abc.Clock) -> None:
        self._bytes_per_second = bytes_per_second
        self._owed_seconds = 0.0
        self._current_time = clock.current_time
        self._worked_since = clock.current_time()

    def __call__(self, size_bytes: int) -> None:
        trio.from_thread.check_cancelled()
        if self._current_time() - self._worked_since >= _LONGEST_TURN_SECONDS:
            sleep(0)  # the event loop need not wait until Python takes the turn from this thread
            self._worked_since = self._current_time()
        self._owed_seconds += size_bytes / self._bytes_per_second
        if self._owed_seconds >= _LEAST_PAUSE_SECONDS:
            trio.from_thread.run(trio.sleep, self._owed_seconds)
            self._owed_seconds = 0.0


class Cleaning:
    """The compaction of one broker's logs."""

    def __init__(
        self,
        directory: LogDirectory,
        partitions: Partitions,
        unlinking: Unlinking,
        claims: Claims,
        *,
        flusher: Flusher,
        wall_ms: Callable[[], int],
        settings: Callable[[], Settings],
    ) -> None:
        self._checkpoints = directory.checkpoints
        self._partitions = partitions
        self._unlinking = unlinking
        self._claims = claims
        self._flusher = flusher
        self._wall_ms = wall_ms
        self._settings = settings
        self._unreadable: set[PartitionLog] = set()
        """Logs with a batch that is not right: they are compacted no more until the next start."""
        self._rests = Rests()
        self._firebreak = Firebreak("compaction")
        self._complaints = Complaints("logs that are due are not compacted")
        self._checkpointing = trio.Lock()

    # --- at intervals

    async def run(self) -> None:
        """Compact what is due, and rest for log.cleaner.backoff.ms when nothing is; forever."""
        if not self._settings().get_bool("log.cleaner.enable"):
            return
        while True:
            dirtiest = self._dirtiest()
            if dirtiest:
                await self._clean_all(dirtiest)
            else:
                backoff_ms = self._settings().get_int("log.cleaner.backoff.ms")
                await trio.sleep(max(backoff_ms, _LEAST_BACKOFF_MS) / 1000)

    def _dirtiest(self) -> list[Partition]:
        """The logs that are due, the dirtiest first, as many as there are to be threads."""
        self._unreadable = {log for log in self._unreadable if not log.closed}
        self._rests.forget_closed()
        due: list[tuple[float, int, Partition]] = []
        for number, partition in enumerate(self._partitions.online()):
            log = partition.log
            if COMPACT not in log.config.cleanup_policy or log in self._unreadable or log.failed:
                continue
            if self._claims.is_claimed(log.topic_partition) or log.disk.health.failure:
                continue
            if self._rests.is_resting(log) or self._firebreak.has_given_up(log):
                continue
            try:
                with self._firebreak.around(log):
                    dirty = self._cleanable(partition, flushed_up_to=log.log_end_offset)
                    if dirty.is_due:
                        due.append((-dirty.dirty_ratio, number, partition))
            except KafkaError as error:
                self._rests.begin(log)
                self._complaints.hear(error)
        return [
            partition for _, _, partition in sorted(due)[: self._settings().get_int("log.cleaner.threads")]
        ]

    def _cleanable(self, partition: Partition, *, flushed_up_to: int) -> Cleanable:
        """What of a log can be compacted. Raises KAFKA_STORAGE_ERROR."""
        try:
            return cleanable(
                partition.log,
                self._checkpoints.cleaned_up_to(partition.topic_partition),
                high_watermark=partition.high_watermark,
                flushed_up_to=flushed_up_to,
                now_ms=self._wall_ms(),
            )
        except OSError as error:
            raise partition.log.disk.storage_error(
                f"The log of {partition.topic_partition} could not be looked through for what is dirty", error
            ) from error

    async def _clean_all(self, partitions: list[Partition]) -> None:
        failures: list[KafkaError] = []

        async def clean_one(partition: Partition) -> None:
            try:
                with self._firebreak.around(partition.log):
                    async with self._claims.hold(partition.topic_partition):
                        await self._clean(partition)
            except KafkaError as error:
                self._rests.begin(partition.log)
                failures.append(error)

        async with trio.open_nursery() as nursery:
            for partition in partitions:
                nursery.start_soon(clean_one, partition)
        if failures:
            self._complaints.hear(failures[0])
        elif not self._rests:
            self._complaints.hear(None)

    # --- when asked

    async def compact(self, topic: str) -> None:
        """Compact all of a topic's partitions now, however little there is to gain; return when it is done.

        The active segment is sealed first, so what was appended before is compacted too. Tombstones and
        markers that may go at once (delete.retention.ms=0) are gone after it. Of what
        min.compaction.lag.ms or an open transaction protects nothing is touched. Raises
        UNKNOWN_TOPIC_OR_PARTITION, POLICY_VIOLATION for a topic that is not compacted, CORRUPT_MESSAGE for a
        batch that is not right, KAFKA_STORAGE_ERROR.
        """
        for partition in self._partitions.of_topic(topic):
            if COMPACT not in partition.log.config.cleanup_policy:
                raise KafkaError(
                    ErrorCode.POLICY_VIOLATION, f"Topic '{topic}' is not compacted (cleanup.policy)."
                )
            async with self._claims.hold(partition.topic_partition):
                await self._compact_whole(partition)

    async def _compact_whole(self, partition: Partition) -> None:
        if partition.log.closed:  # its topic was deleted while this waited for its turn
            return
        partition.log.roll(self._wall_ms())
        while True:
            cleaned, end_offset = await self._clean(partition)
            if cleaned is None or cleaned.end_offset >= end_offset:
                break
        if cleaned is not None and cleaned.first_horizon_ms <= self._wall_ms():
            cleaned, _ = await self._clean(partition)
        if partition.log in self._unreadable:
            raise KafkaError(
                ErrorCode.CORRUPT_MESSAGE, f"{partition.topic_partition} has a batch that is not right."
            )

    # --- one log

    async def _clean(self, partition: Partition) -> tuple[Cleaned | None, int]:
        """Compact a log once, as far as memory reaches; give what that did, and how far it could have gone.

        None when the log changed under it, or cannot be read. Raises KAFKA_STORAGE_ERROR.
        """
        log = partition.log
        await self._flush(log)
        if log.closed:
            return None, log.log_end_offset
        what = self._cleanable(partition, flushed_up_to=log.recovery_point)
        if self._checkpoints.cleaned_up_to(log.topic_partition) is None:
            # First, so that no later start, nor the tools, take the gaps that this leaves for losses.
            await self._checkpoint(log, what.first_dirty_offset)
        pace = self._pace()
        try:
            cleaned = await trio.to_thread.run_sync(self._in_thread, what, partition.high_watermark, pace)
        except LogChanged:
            return None, what.end_offset
        except Unreadable as error:
            self._unreadable.add(log)
            logger.error("%s is compacted no more until it is mended: %s", log.topic_partition, error)
            return None, what.end_offset
        self._rests.end(log)
        await self._checkpoint(log, cleaned.end_offset)
        logger.info(
            "%s is compacted up to offset %d: of %d bytes %d are left",
            log.topic_partition,
            cleaned.end_offset,
            cleaned.bytes_read,
            cleaned.bytes_kept,
        )
        return cleaned, what.end_offset

    def _pace(self) -> _Pace:
        settings = self._settings()
        threads = max(settings.get_int("log.cleaner.threads"), 1)
        bytes_per_second = settings.get_float("log.cleaner.io.max.bytes.per.second") / threads
        return _Pace(bytes_per_second, trio.lowlevel.current_clock())

    def _in_thread(self, what: Cleanable, high_watermark: int, pace: _Pace) -> Cleaned:
        settings = self._settings()
        threads = max(settings.get_int("log.cleaner.threads"), 1)
        room = settings.get_int("log.cleaner.dedupe.buffer.size") // threads
        newest = OffsetMap(room, settings.get_float("log.cleaner.io.buffer.load.factor"))
        return clean(
            what,
            newest,
            high_watermark=high_watermark,
            now_ms=self._wall_ms(),
            drop=lambda paths: self._unlinking.later(paths, what.log.config.file_delete_delay_ms),
            on_loop=trio.from_thread.run_sync,
            pace=pace,
        )

    async def _flush(self, log: PartitionLog) -> None:
        if log.recovery_point < log.segments.active.base_offset:
            try:
                await AwaitedFlush(log, log.segments.active.base_offset, self._flusher.ask(log)).wait()
            except KafkaError as error:
                if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    raise

    async def _checkpoint(self, log: PartitionLog, end_offset: int) -> None:
        """Remember how far a log is clean. Raises KAFKA_STORAGE_ERROR."""
        if log.closed:
            return
        self._checkpoints.note_cleaned(log.topic_partition, end_offset)
        async with self._checkpointing:
            await trio.to_thread.run_sync(self._checkpoints.write_cleaner_offsets)
