"""Follows transactions through a log that is compacted: what was aborted, which markers are done with.

Fed by `filtering` with every batch in order. The batches of an aborted transaction may go at once; its
marker, and that of a committed one, only when no batch of the transaction is left in front of it.

Source: Kafka's CleanedTransactionMetadata.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from wirekafka.protocol.records import ControlRecordType, RecordBatch, marker_of
from wirekafka.storage.segments.transaction_index import AbortedTransaction


@dataclass(slots=True)
class _Aborted:
    transaction: AbortedTransaction
    has_batches: bool = False


@dataclass(slots=True)
class CleanedTransactions:
    """The transactions that are open at the place that the walk has reached."""

    _retained: list[AbortedTransaction] = field(default_factory=list)
    _coming: list[tuple[int, int, AbortedTransaction]] = field(default_factory=list)
    _aborted: dict[int, _Aborted] = field(default_factory=dict)
    _committed: set[int] = field(default_factory=set)

    def add_aborted(self, transactions: Iterable[AbortedTransaction]) -> None:
        """Tell of aborted transactions that begin at or behind the place reached."""
        for transaction in transactions:
            heappush(self._coming, (transaction.first_offset, transaction.producer_id, transaction))

    def take_retained(self) -> list[AbortedTransaction]:
        """The aborted transactions whose marker stays, since this was last asked."""
        taken, self._retained = self._retained, []
        return taken

    def may_drop(self, batch: RecordBatch) -> bool:
        """Whether a batch is of no more use to transactions, now that the walk has come to it.

        True of a batch that was aborted, and of a marker without any batch of its transaction before it.
        """
        while self._coming and self._coming[0][0] <= batch.last_offset:
            _, producer_id, transaction = heappop(self._coming)
            self._aborted.setdefault(producer_id, _Aborted(transaction))
        if batch.is_control:
            return self._may_drop_marker(batch)
        if not batch.is_transactional:
            return False
        aborted = self._aborted.get(batch.producer_id)
        if aborted is None:
            self._committed.add(batch.producer_id)
            return False
        aborted.has_batches = True
        return True

    def _may_drop_marker(self, batch: RecordBatch) -> bool:
        if batch.record_count == 0:
            return True  # emptied by an earlier compaction
        marker = marker_of(batch)
        if marker is None:
            return False
        if marker.kind is ControlRecordType.ABORT:
            aborted = self._aborted.pop(batch.producer_id, None)
            if aborted is None or not aborted.has_batches:
                return True
            self._retained.append(aborted.transaction)
            return False
        if batch.producer_id not in self._committed:
            return True
        self._committed.remove(batch.producer_id)
        return False
