"""Tells the good stretches of a segment's file from the bad ones, every byte of it read.

Called by `verification`, which says what it finds, and `repair`, which takes the bad ones out.

Source: ours. Kafka's DumpLogSegments stops at the first wrong byte.
"""

from collections.abc import Callable
from dataclasses import dataclass

from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.disk.files import OpenFile
from wirekafka.storage.segments.scan import valid_batch_from, valid_batches, whole_batch_at

OnBatch = Callable[[int, RecordBatch], None]


@dataclass(slots=True, kw_only=True)
class Stretch:
    """A range of a file: whole batches with offsets one after the other, or bytes that are none."""

    start: int
    end: int
    is_good: bool
    first_offset: int
    """Of the bad: the offset that was to be expected here."""
    next_offset: int
    batches: int = 0
    records: int = 0
    why: str = ""
    """What is wrong with the bad."""

    @property
    def size_bytes(self) -> int:
        return self.end - self.start


def survey(
    file: OpenFile, base_offset: int, *, next_offset: int | None = None, on_batch: OnBatch | None = None
) -> list[Stretch]:
    """Give the stretches of a segment's file in order; none for an empty one.

    Offsets have to grow from `next_offset` on. `on_batch` is told of each batch that is right when it is
    reached.
    """
    return _Survey(file, base_offset, next_offset, on_batch).stretches()


class _Survey:
    def __init__(
        self, file: OpenFile, base_offset: int, next_offset: int | None, on_batch: OnBatch | None
    ) -> None:
        self._file = file
        self._size = file.size()
        self._base_offset = base_offset
        self._next_offset = base_offset if next_offset is None else next_offset
        self._on_batch = on_batch
        self._position = 0
        self._stretches: list[Stretch] = []
        self._last: tuple[int, int, int] | None = None
        """Position, offset before it and record count of the last good batch."""

    def stretches(self) -> list[Stretch]:
        while self._position < self._size:
            self._take_good()
            if self._position < self._size:
                self._take_bad()
        return [stretch for stretch in self._stretches if stretch.size_bytes]

    def _take_good(self) -> None:
        offset = self._next_offset
        good = Stretch(
            start=self._position, end=self._position, is_good=True, first_offset=offset, next_offset=offset
        )
        self._last = None
        for position, batch in valid_batches(
            self._file, self._base_offset, self._size, position=self._position, next_offset=offset
        ):
            if self._on_batch is not None:
                self._on_batch(position, batch)
            self._last = (position, good.next_offset, batch.record_count)
            if batch.base_offset != good.next_offset:
                good = self._after_gap(good, position, batch.base_offset)
            good.end = position + batch.size_in_bytes
            good.next_offset = batch.last_offset + 1
            good.batches += 1
            good.records += batch.record_count
        self._position, self._next_offset = good.end, good.next_offset
        if good.batches:
            self._stretches.append(good)

    def _after_gap(self, good: Stretch, position: int, offset: int) -> Stretch:
        """Begin another stretch: the offsets before it are missing."""
        if good.batches:
            self._stretches.append(good)
        return Stretch(start=position, end=position, is_good=True, first_offset=offset, next_offset=offset)

    def _take_bad(self) -> None:
        batch = whole_batch_at(self._file, self._position, self._size)
        if batch is not None and self._is_last_ones_fault(batch):
            self._give_up_last_batch()
            return
        start, why = self._position, self._why(batch)
        if batch is not None:
            end = start + batch.size_in_bytes
        else:
            found = valid_batch_from(self._file, start + 1, self._size, self._next_offset)
            end = self._size if found is None else found
        self._position = end
        self._add_bad(start, end, why)

    def _is_last_ones_fault(self, batch: RecordBatch) -> bool:
        """Whether a batch would follow if only the one before it had another offset."""
        return self._last is not None and self._last[1] <= batch.base_offset < self._next_offset

    def _give_up_last_batch(self) -> None:
        assert self._last is not None
        start, offset, record_count = self._last
        good = self._stretches[-1]
        wrong = self._file_offset(start)
        good.end, good.next_offset = start, offset
        good.batches -= 1
        good.records -= record_count
        if not good.batches:
            self._stretches.pop()
        self._next_offset = offset
        self._add_bad(start, self._position, f"the batch there has offset {wrong}, and the next one a lower")

    def _file_offset(self, position: int) -> int:
        return int.from_bytes(self._file.read(8, position), "big", signed=True)

    def _why(self, batch: RecordBatch | None) -> str:
        if batch is not None:
            return f"the batch there has offset {batch.base_offset}, after offset {self._next_offset - 1}"
        if not any(self._file.read(min(4096, self._size - self._position), self._position)):
            return "zeros are there"
        return "what is there is no batch, or its CRC is wrong"

    def _add_bad(self, start: int, end: int, why: str) -> None:
        last = self._stretches[-1] if self._stretches else None
        if last is not None and not last.is_good:
            last.end = end
            return
        offset = self._next_offset
        self._stretches.append(
            Stretch(start=start, end=end, is_good=False, first_offset=offset, next_offset=offset, why=why)
        )
