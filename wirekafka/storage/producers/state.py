"""What a partition remembers of its producers: sequence numbers and open transactions. Pure.

`log` asks `check` before an append and calls `update` after it; `recovery` calls `replay` for each
batch header of what no snapshot covers. `producers.snapshot` gives it a form on disk.

Source: Kafka's ProducerStateManager, ProducerStateEntry and ProducerAppendInfo.
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import ControlRecordType, EndTxnMarker, RecordBatch, marker_of
from wirekafka.protocol.records.batch import NO_PRODUCER_ID, NO_SEQUENCE
from wirekafka.storage.segments.transaction_index import AbortedTransaction

BATCHES_REMEMBERED = 5
NO_EPOCH = -1
NO_TRANSACTION = -1
SEQUENCE_MASK = 0x7FFFFFFF


class AppendedBatch(NamedTuple):
    """What is remembered of one of a producer's last batches."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int

    @classmethod
    def of(cls, batch: RecordBatch) -> "AppendedBatch":
        return cls(batch.last_sequence, batch.last_offset, batch.last_offset_delta, batch.max_timestamp)

    @property
    def base_offset(self) -> int:
        return self.last_offset - self.offset_delta

    def has_sequences(self, first: int, last: int) -> bool:
        return last == self.last_sequence and first == (last - self.offset_delta) & SEQUENCE_MASK


class Producer:
    """One producer id: its epoch, its last batches, and where its open transaction began."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp_ms", "transaction_start")

    def __init__(
        self,
        epoch: int = NO_EPOCH,
        coordinator_epoch: int = -1,
        last_timestamp_ms: int = -1,
        transaction_start: int = NO_TRANSACTION,
    ) -> None:
        self.epoch = epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp_ms = last_timestamp_ms
        self.transaction_start = transaction_start
        self.batches: deque[AppendedBatch] = deque(maxlen=BATCHES_REMEMBERED)

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def is_expired(self, now_ms: int, expiration_ms: int) -> bool:
        if self.transaction_start != NO_TRANSACTION:
            return False
        return now_ms - self.last_timestamp_ms >= expiration_ms


class ProducerState:
    """The producers of one partition, by producer id."""

    def __init__(self, topic_partition: TopicPartition) -> None:
        self._topic_partition = topic_partition
        self.producers: dict[int, Producer] = {}
        self._open_transactions: dict[int, int] = {}

    def load(self, producers: Iterable[tuple[int, Producer]]) -> None:
        """Take over what a snapshot holds, in place of everything known."""
        self.producers = dict(producers)
        starts = ((p.transaction_start, producer_id) for producer_id, p in self.producers.items())
        self._open_transactions = {start: who for start, who in sorted(starts) if start != NO_TRANSACTION}

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest open transaction began; None when none is open."""
        # Transactions are opened at growing offsets, so the first one in is the oldest.
        return next(iter(self._open_transactions), None)

    def check(self, batch: RecordBatch, *, from_client: bool) -> AppendedBatch | None:
        """Check a batch that has a producer id and is about to be appended; change nothing.

        Gives the remembered batch when this one repeats it exactly. Raises INVALID_PRODUCER_EPOCH,
        OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE, TRANSACTION_COORDINATOR_FENCED.
        """
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            return None
        if batch.producer_epoch < producer.epoch:
            raise self._refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                batch,
                f"has epoch {batch.producer_epoch}, which is older than the last seen epoch {producer.epoch}",
            )
        if batch.is_control:
            self._check_marker(producer, batch)
            return None
        if from_client:
            repeated = self._check_sequence(producer, batch)
            if repeated is not None:
                return repeated
        if producer.transaction_start != NO_TRANSACTION and not batch.is_transactional:
            raise self._refusal(
                ErrorCode.INVALID_TXN_STATE, batch, "has an open transaction and wrote a batch outside of it"
            )
        return None

    def _check_sequence(self, producer: Producer, batch: RecordBatch) -> AppendedBatch | None:
        first = batch.base_sequence
        if batch.producer_epoch != producer.epoch:
            if first != 0 and producer.epoch != NO_EPOCH:
                raise self._refusal(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    batch,
                    f"began epoch {batch.producer_epoch} with sequence number {first} instead of 0",
                )
            return None
        last_sequence = producer.last_sequence
        # Without batches of this epoch the next is 0: -1 + 1.
        if first == (last_sequence + 1) & SEQUENCE_MASK:
            return None
        for appended in producer.batches:
            if appended.has_sequences(first, batch.last_sequence):
                return appended
        if producer.epoch == NO_EPOCH:
            return None
        raise self._refusal(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            batch,
            f"sent sequence number {first} after {last_sequence}",
        )

    def _check_marker(self, producer: Producer, batch: RecordBatch) -> None:
        marker = marker_of(batch)
        if marker is not None and marker.coordinator_epoch < producer.coordinator_epoch:
            raise self._refusal(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                batch,
                f"has a marker of coordinator epoch {marker.coordinator_epoch}, which is older than "
                f"{producer.coordinator_epoch}",
            )

    def _refusal(self, code: ErrorCode, batch: RecordBatch, what: str) -> KafkaError:
        return KafkaError(code, f"Producer {batch.producer_id} of {self._topic_partition} {what}.")

    def update(self, batch: RecordBatch) -> AbortedTransaction | None:
        """Remember a batch that has a producer id and was appended at its base offset.

        Gives the transaction when it aborts one: the segment's index is to have it.
        """
        if batch.is_control:
            # One without a record is what compaction leaves of a transaction that is all gone.
            marker = marker_of(batch)
            return None if marker is None else self._end_transaction(batch, marker)
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            producer = self.producers[batch.producer_id] = Producer()
        producer.set_epoch(batch.producer_epoch)
        producer.last_timestamp_ms = batch.max_timestamp
        producer.batches.append(AppendedBatch.of(batch))
        if batch.is_transactional and producer.transaction_start == NO_TRANSACTION:
            producer.transaction_start = batch.base_offset
            self._open_transactions[batch.base_offset] = batch.producer_id
        return None

    def next_sequence(self, producer_id: int) -> tuple[int, int] | None:
        """The epoch and the first sequence number of a producer's next batch if all goes well.

        None for a producer that is not known, or has a transaction open.
        """
        producer = self.producers.get(producer_id)
        if producer is None or producer.transaction_start != NO_TRANSACTION:
            return None
        return producer.epoch, (producer.last_sequence + 1) & SEQUENCE_MASK

    def update_in_sequence(self, producer_id: int, appended: AppendedBatch) -> None:
        """Remember a batch that had the `next_sequence`, and was appended, as `update` would."""
        producer = self.producers[producer_id]
        producer.last_timestamp_ms = appended.timestamp_ms
        producer.batches.append(appended)

    def replay(self, batch: RecordBatch) -> AbortedTransaction | None:
        """Remember a batch that is in the log: what was let in then is not judged again.

        Of a control batch the record is needed too. Gives what `update` does.
        """
        return self.update(batch) if batch.producer_id > NO_PRODUCER_ID else None

    def _end_transaction(self, batch: RecordBatch, marker: EndTxnMarker) -> AbortedTransaction | None:
        producer = self.producers.get(batch.producer_id)
        if producer is None:
            producer = self.producers[batch.producer_id] = Producer()
        producer.set_epoch(batch.producer_epoch)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.last_timestamp_ms = batch.max_timestamp
        start = producer.transaction_start
        if start == NO_TRANSACTION:
            return None
        del self._open_transactions[start]
        producer.transaction_start = NO_TRANSACTION
        if marker.kind is not ControlRecordType.ABORT:
            return None
        stable = self.first_unstable_offset
        behind = batch.base_offset + 1 if stable is None else stable
        return AbortedTransaction(batch.producer_id, start, batch.base_offset, behind)

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget the producers that were idle for `expiration_ms` and have no open transaction."""
        self.producers = {
            producer_id: producer
            for producer_id, producer in self.producers.items()
            if not producer.is_expired(now_ms, expiration_ms)
        }
