"""`Retention`: drops what logs keep no longer, at intervals, when asked, and for DeleteRecords.

Run by `broker`; calls the storage room's `retention`. The log begins later at once; the new start is
checkpointed; only then do files get the names under which they go.

Source: Kafka's LogManager.cleanupLogs and Partition.deleteRecordsOnLeader. That the start is checkpointed
first, and before DeleteRecords is answered, is our own: Kafka does both at intervals.
"""

from collections.abc import Callable, Iterable

import trio

from wirekafka.broker.claims import Claims
from wirekafka.broker.complaints import Complaints
from wirekafka.broker.firebreak import Firebreak
from wirekafka.broker.partition import Partition
from wirekafka.broker.partitions import Partitions
from wirekafka.broker.unlinking import Unlinking
from wirekafka.metadata import Settings, Source
from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import (
    COMPACT,
    DELETE,
    LogDirectory,
    PartitionLog,
    has_passed_segments,
    start_after_retention,
)

logger = get_logger("broker")

_INTERVAL = "log.retention.check.interval.ms"
_TO_HIGH_WATERMARK = -1
_LOGS_AT_ONCE = 100
_LOGS_BETWEEN_PAUSES = 200
_SECONDS_BETWEEN_LOOKS_AT_ALL = 300
_SHORT_RETENTION_MS = 3_600_000


class Retention:
    """Lets the logs of one broker begin later, and the files before go."""

    def __init__(
        self,
        directory: LogDirectory,
        partitions: Partitions,
        unlinking: Unlinking,
        claims: Claims,
        *,
        wall_ms: Callable[[], int],
    ) -> None:
        self._directory = directory
        self._partitions = partitions
        self._unlinking = unlinking
        self._claims = claims
        self._wall_ms = wall_ms
        self._firebreak = Firebreak("retention")
        self._complaints = Complaints("what is due to be dropped stays")

    async def run(self, settings: Callable[[], Settings]) -> None:
        """Drop what is due every log.retention.check.interval.ms, forever.

        Where only the profile says how often, logs that keep records for long, and any number of bytes, are
        looked at every five minutes, Kafka's interval: records that a test gives a time long past live as
        long here as they do there.
        """
        await trio.sleep(settings().get_int("log.initial.task.delay.ms") / 1000)
        looked_at_all = trio.current_time()
        while True:
            await trio.sleep(settings().get_int(_INTERVAL) / 1000)
            looks_at_all = (
                settings().source(_INTERVAL) is not Source.PROFILE
                or trio.current_time() >= looked_at_all + _SECONDS_BETWEEN_LOOKS_AT_ALL
            )
            if looks_at_all:
                looked_at_all = trio.current_time()
            errors: list[KafkaError] = []
            await self._shorten(
                self._partitions.online(), errors, are_claimed=False, are_watched=not looks_at_all
            )
            self._complaints.hear(errors[0] if errors else None)

    async def apply(self, topic: str) -> None:
        """Drop what is due of a topic's partitions now; return when it is done.

        Raises UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR.
        """
        errors: list[KafkaError] = []
        for partition in self._partitions.of_topic(topic):
            async with self._claims.hold(partition.topic_partition):
                await self._shorten([partition], errors, are_claimed=True)
        if errors:
            raise errors[0]

    async def delete_records(self, topic: str, index: int, offset: int) -> int:
        """Let a partition begin at `offset`, -1: behind all that readers may see; give where it begins.

        A restart keeps that, also after a kill. Raises OFFSET_OUT_OF_RANGE, POLICY_VIOLATION for a topic that
        is only compacted, and what `Partitions.find` and a checkpoint do.
        """
        [start] = await self.delete_all_records([(topic, index, offset)])
        if isinstance(start, KafkaError):
            raise start
        return start

    async def delete_all_records(self, wanted: Iterable[tuple[str, int, int]]) -> list[int | KafkaError]:
        """Do as `delete_records` for topics, partitions and offsets, with one checkpoint for all of them."""
        moved = [self._moved(*one) for one in wanted]
        logs = [log for log in moved if isinstance(log, PartitionLog)]
        failures = await self._checkpoint(logs)
        if failures:
            await self._free(failures)
            failures = await self._checkpoint(logs)
        return [
            log if isinstance(log, KafkaError) else failures.get(log, log.log_start_offset) for log in moved
        ]

    def _moved(self, topic: str, index: int, offset: int) -> PartitionLog | KafkaError:
        """The log, which begins at an offset now; or why it does not."""
        try:
            return self._move_start(topic, index, offset)
        except KafkaError as error:
            return error

    async def _free(self, logs: Iterable[PartitionLog]) -> None:
        """Remove what lies before the start of logs at once: the disk that takes no checkpoint may be full.

        Until a checkpoint tells where they begin, their first file does.
        """
        for log in logs:
            if log.closed or log.disk.health.failure or self._claims.is_claimed(log.topic_partition):
                continue
            try:
                await self._unlinking.now(log.delete_records_before(log.log_start_offset))
            except KafkaError as error:
                logger.warning("%s keeps what lies before its start: %s", log.topic_partition, error)

    def _move_start(self, topic: str, index: int, offset: int) -> PartitionLog:
        partition = self._partitions.find(topic, index)
        log = partition.log
        if DELETE not in log.config.cleanup_policy and COMPACT in log.config.cleanup_policy:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"{log.topic_partition} is compacted: no records are deleted of it.",
            )
        end = partition.high_watermark
        start = end if offset == _TO_HIGH_WATERMARK else offset
        if not 0 <= start <= end:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"Records of {log.topic_partition} cannot be deleted up to offset {start}: it is not "
                f"between 0 and {end}.",
            )
        log.disk.health.check()
        partition.move_start(start)
        return log

    async def _shorten(
        self,
        partitions: Iterable[Partition],
        errors: list[KafkaError],
        *,
        are_claimed: bool,
        are_watched: bool = False,
    ) -> None:
        """Let logs begin where they are to begin, and set the files aside that lie before.

        Of all logs, or of those alone that are to be shortened soon after they are due.
        """
        due: list[PartitionLog] = []
        for count, partition in enumerate(partitions, 1):
            try:
                with self._firebreak.around(partition.log):
                    if (_is_watched(partition.log) or not are_watched) and self._is_due(partition):
                        due.append(partition.log)
            except KafkaError as error:
                errors.append(error)
            if len(due) == _LOGS_AT_ONCE:
                await self._drop(due, errors, are_claimed=are_claimed)
                due = []
            if count % _LOGS_BETWEEN_PAUSES == 0:
                await trio.lowlevel.checkpoint()
        if due:
            await self._drop(due, errors, are_claimed=are_claimed)

    async def _drop(self, due: list[PartitionLog], errors: list[KafkaError], *, are_claimed: bool) -> None:
        """Checkpoint where logs begin, then give the files before that the names under which they go."""
        # On a full disk this is what frees space; the first file that stays is the start as well.
        errors += (await self._checkpoint(due)).values()
        for log in due:
            if log.closed or (self._claims.is_claimed(log.topic_partition) and not are_claimed):
                continue
            try:
                with self._firebreak.around(log):
                    paths = log.delete_records_before(log.log_start_offset)
                    self._unlinking.later(paths, log.config.file_delete_delay_ms)
            except KafkaError as error:
                errors.append(error)
            await trio.lowlevel.checkpoint()

    def _is_due(self, partition: Partition) -> bool:
        log = partition.log
        if log.closed or log.failed or log.disk.health.failure or self._firebreak.has_given_up(log):
            return False
        start = start_after_retention(log, high_watermark=partition.high_watermark, now_ms=self._wall_ms())
        if partition.move_start(start):
            logger.info("%s begins at offset %d now, by its retention settings", log.topic_partition, start)
            return True
        return has_passed_segments(log)

    async def _checkpoint(self, logs: Iterable[PartitionLog]) -> dict[PartitionLog, KafkaError]:
        """Make where these logs begin last; give those of which it cannot be told, and why."""
        checkpoints = self._directory.checkpoints
        failures: dict[PartitionLog, KafkaError] = {}
        noted: list[PartitionLog] = []
        for log in logs:
            if log.closed:
                continue
            try:
                checkpoints.note(log)
                noted.append(log)
            except KafkaError as error:
                failures[log] = error
        if noted:
            try:
                await trio.to_thread.run_sync(checkpoints.write_log_start_offsets)
            except KafkaError as error:
                failures.update(dict.fromkeys(noted, error))
        return failures


def _is_watched(log: PartitionLog) -> bool:
    """Whether a log is to be shortened soon after it is due."""
    config = log.config
    if config.retention_bytes >= 0 or 0 <= config.retention_ms <= _SHORT_RETENTION_MS:
        return True
    return has_passed_segments(log)
