"""Makes the logs of a data folder last: what was appended, and the names it is found by.

`flush_logs` runs in a thread beside appends and reads, called by `broker`, by `directory` when it closes, and
by a log for itself. One flush at a time has a folder. Few logs are synced file by file, in threads; many, or
any with a file that was closed in between (see `open_files`), by one sync of the whole filesystem.

What a log has to have flushed it knows itself (`unflushed`).

Source: Kafka's UnifiedLog.flush, LocalLog.flush and LogManager.flushDirtyLogs, which sync one file at a time.
"""

from collections.abc import Sequence
from typing import Protocol

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.log.unflushed import Flush, FlushedLog, Unflushed

_MOST_SYNCED_ONE_BY_ONE = 16
_MOST_SYNCED_INLINE = 3


class FlushableLog(FlushedLog, Protocol):
    """What a flush asks of a log; all of it may be called beside appends."""

    topic_partition: TopicPartition
    unflushed: Unflushed

    def begin_flush(self) -> Flush | None:
        """Write what is kept in memory only, and say what is to be synced; None when nothing is."""


def flush_logs(disk: Disk, root: str, logs: Sequence[FlushableLog]) -> None:
    """Make everything last that was appended to these logs so far, and advance their recovery points.

    `root` is the data folder. Logs that are closed or deleted meanwhile are passed over. Raises
    KAFKA_STORAGE_ERROR once all that can be flushed is: the recovery points tell which logs are. A failed
    sync advances none, and is final for the folder.
    """
    with disk.flushing:
        disk.health.check()
        failures: list[KafkaError] = []
        begun = [(log, flush) for log in logs if (flush := _begin(disk, log, failures)) is not None]
        if _together(disk, [flush for _, flush in begun]):
            synced = [_sync_filesystem(disk, root, failures)] * len(begun)
        else:
            synced = _sync_each(disk, begun, failures)
        for (log, flush), lasts in zip(begun, synced, strict=True):
            if lasts and not disk.health.failure:
                log.unflushed.end(flush)
            else:
                log.unflushed.give_up(flush)
    if failures:
        raise failures[0]


def _begin(disk: Disk, log: FlushableLog, failures: list[KafkaError]) -> Flush | None:
    try:
        return log.begin_flush()
    except OSError as error:
        if not log.closed:  # else it was deleted meanwhile, and has nothing to flush any more
            failures.append(_error(disk, log, error))
        return None


def _error(disk: Disk, log: FlushableLog, error: OSError) -> KafkaError:
    return disk.storage_error(f"The log of {log.topic_partition} could not be flushed", error)


def _together(disk: Disk, flushes: list[Flush]) -> bool:
    closed = disk.open_files.closed_unsynced
    many = len(flushes) > _MOST_SYNCED_ONE_BY_ONE
    return disk.files.can_sync_filesystem and (many or any(f.is_closed_unsynced(closed) for f in flushes))


def _sync_filesystem(disk: Disk, root: str, failures: list[KafkaError]) -> bool:
    try:
        disk.sync_filesystem(root)
    except OSError as error:
        failures.append(disk.storage_error("The data folder could not be flushed", error))
        return False
    return True


def _sync_each(disk: Disk, begun: list[tuple[FlushableLog, Flush]], failures: list[KafkaError]) -> list[bool]:
    def sync(log_and_flush: tuple[FlushableLog, Flush]) -> bool:
        log, flush = log_and_flush
        try:
            disk.health.check()  # another thread's sync may have failed: then no other is to be believed
            flush.sync(disk.files, log)
        except KafkaError as error:
            failures.append(error)
            return False
        except OSError as error:
            failures.append(_error(disk, log, error))
            return False
        return True

    if len(begun) <= _MOST_SYNCED_INLINE:
        return [sync(one) for one in begun]
    return list(disk.sync_threads.map(sync, begun))
