"""One compaction of one log: of every key the newest record stays.

Run by the broker's cleaner, in a thread beside appends and reads. The newest offset of each key in the dirty
part is gathered first, of as many keys as memory is meant for; then every segment up to there is written
anew. Offsets never change. A batch that is not right ends it, with everything left as it is.

Source: Kafka's Cleaner.
"""

from collections.abc import Callable
from dataclasses import dataclass

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.acceptance.record_checks import most_unpacked_bytes
from wirekafka.storage.cleaning.cleanable import Cleanable
from wirekafka.storage.cleaning.cleaned_segment import discard_all
from wirekafka.storage.cleaning.filtering import BatchFilter
from wirekafka.storage.cleaning.gathering import gather
from wirekafka.storage.cleaning.offset_map import OffsetMap
from wirekafka.storage.cleaning.rewriting import Rewriting
from wirekafka.storage.cleaning.work import LogChanged, OnLoop, Work, at_once, unhurried


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What a compaction did."""

    end_offset: int
    """Up to here the log is clean."""
    bytes_read: int
    bytes_kept: int
    first_horizon_ms: int
    """When the first of the tombstones and markers that were left may go."""


def clean(
    cleanable: Cleanable,
    newest: OffsetMap,
    *,
    high_watermark: int,
    now_ms: int,
    drop: Callable[[list[str]], None],
    on_loop: OnLoop = at_once,
    pace: Callable[[int], None] = unhurried,
) -> Cleaned:
    """Compact a log as far as `newest`, which is empty yet, has room for its keys.

    `drop` is given the files that were set aside, on the loop: they are the log's no longer, and may be
    unlinked. `pace` is told of the bytes that were read or written, and may wait, or raise to end it. Raises
    Unreadable for a batch that is not right, LogChanged, KAFKA_STORAGE_ERROR. Then the log is as it was,
    or compacted in its first segments only, which is all the same to a reader.
    """
    log = cleanable.log
    if log.failed and not log.closed:
        # Half a swap may be all that there is of some segments: it is for a start to mend, not to discard.
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"The log of {log.topic_partition} is not compacted: it has failed, and a start has to mend it.",
        )
    work = Work(log, on_loop, pace, drop, now_ms)
    try:
        log.disk.health.check()
        discard_all(log.disk.files, log.folder)
        gather(work, cleanable, newest)
        end_offset = newest.latest_offset + 1
        batch_filter = BatchFilter(
            newest,
            # A segment that is clean in part is written anew whole, so what was aborted in its rest counts.
            work.transactions(0, work.end_of_segments(end_offset)),
            high_watermark=high_watermark,
            now_ms=now_ms,
            delete_retention_ms=log.config.delete_retention_ms,
            most_unpacked_bytes=most_unpacked_bytes(log.config),
        )
        rewriting = Rewriting(work, batch_filter, end_offset)
        rewriting.rewrite(cleanable.end_offset)
    except OSError as error:
        if log.closed:
            raise LogChanged from error  # its folder is gone, or has another name
        raise log.disk.storage_error(
            f"The log of {log.topic_partition} could not be compacted", error
        ) from error
    return Cleaned(
        end_offset=end_offset,
        bytes_read=rewriting.bytes_read,
        bytes_kept=rewriting.bytes_kept,
        first_horizon_ms=batch_filter.first_horizon_ms,
    )
