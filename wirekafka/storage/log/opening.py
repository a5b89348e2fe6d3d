"""`Opening`: one partition's folder on its way to being a log.

Made by `recovery`, which checks the segments; `rebuilding` makes the rest of the segments' batches.

Source: Kafka's LogLoader, whose fields these are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import HEADER_BYTES, RecordBatch
from wirekafka.storage.config import COMPACT, LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.disk.files import Files, SyncFailed
from wirekafka.storage.log.epochs import LeaderEpochs
from wirekafka.storage.log.progress import OpeningProgress
from wirekafka.storage.producers.state import ProducerState
from wirekafka.storage.segments.scan import Damaged
from wirekafka.storage.segments.segment import Segment


def may_pass(error: KafkaError) -> bool:
    """Whether the operating system has refused what it may do later, as on a full disk. Damage stays."""
    cause = error.__cause__
    return isinstance(cause, OSError) and not isinstance(cause, Damaged | SyncFailed)


@dataclass(slots=True, kw_only=True)
class Stopped:
    """How the last stop left a partition, by the data folder's marker and checkpoints."""

    clean: bool = False
    recovery_point: int | None = None
    """Up to here everything was made to last; after a clean stop, the log's end. None: not known."""
    log_start_offset: int = 0
    was_compacted: bool = False
    is_new_folder: bool = False


@dataclass(slots=True)
class Opening:
    """What is known so far."""

    disk: Disk
    folder: str
    topic_partition: TopicPartition
    config: LogConfig
    now_ms: int
    stopped: Stopped
    notices: list[str]
    progress: OpeningProgress
    segments: list[Segment] = field(default_factory=list)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    checked_from: int | None = None
    """The base offset of the first segment that was read through, and whose indexes are made anew."""
    replayed_from: int | None = None
    """The base offset of the first segment whose producers and aborted transactions are told anew."""

    @property
    def files(self) -> Files:
        return self.disk.files

    @property
    def recovery_point(self) -> int:
        return self.stopped.recovery_point or 0

    @property
    def log_end_offset(self) -> int:
        return self.segments[-1].next_offset

    @property
    def is_compacted(self) -> bool:
        """Whether offsets that are missing are nothing to wonder at."""
        return self.stopped.was_compacted or COMPACT in self.config.cleanup_policy

    def replay_from(self, base_offset: int) -> None:
        """Have the batches from a segment on replayed, whatever later snapshots there are."""
        if self.replayed_from is None or base_offset < self.replayed_from:
            self.replayed_from = base_offset

    def has_no_producers(self, segment: Segment) -> bool:
        """Whether a segment was read through, and none of its batches has a producer."""
        was_checked = self.checked_from is not None and segment.base_offset >= self.checked_from
        return was_checked and self.replayed_from is None

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def notice(self, text: str) -> None:
        self.notices.append(f"{self.topic_partition}: {text}")

    def damage(self, what: str) -> KafkaError:
        """Refuse to open the log: `what` says which file is wrong, and at which position."""
        return KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR,
            f"The log of {self.topic_partition} is damaged: {what}. It is left as it is; "
            f"`wirekafka log verify {self.topic_partition}` shows what is there.",
        )

    def header_at(self, offset: int) -> RecordBatch | None:
        """The header of the batch that holds an offset, or of the first one behind it."""
        for segment in self.segments:
            if segment.next_offset > offset:
                found = segment.find(offset)
                if found is not None:
                    return RecordBatch(segment.file.read(HEADER_BYTES, found[0]))
        return None

    def headers_between(self, offset: int, end_offset: int) -> Iterator[RecordBatch]:
        """The headers of the batches from the one that holds `offset` up to, not with, `end_offset`."""
        for segment in self.segments:
            found = segment.find(offset) if segment.next_offset > offset else None
            if found is None:
                continue
            for _, header in segment.headers(found[0]):
                if header.base_offset >= end_offset:
                    return
                if header.last_offset >= offset:
                    yield header


@dataclass(slots=True, kw_only=True)
class Recovered:
    """What it has come to, and a `PartitionLog` is made of."""

    segments: list[Segment]
    epochs: LeaderEpochs
    producers: ProducerState
    snapshot_offsets: list[int]
    log_start_offset: int
    recovery_point: int
    is_new_folder: bool
