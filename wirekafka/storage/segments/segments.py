"""The segments of one log in order, and which of them holds an offset.

Owned by `log`. There is always one, and the last is the one that is appended to.

Source: Kafka's LogSegments and LocalLog.read.
"""

from bisect import bisect_left, bisect_right

from wirekafka.storage.disk.files import FileSlice
from wirekafka.storage.segments.segment import Segment

_NO_END = 1 << 63


class Segments:
    """Segments by growing base offset; `active` is the last."""

    __slots__ = ("_segments", "active")

    def __init__(self, segments: list[Segment]) -> None:
        self._segments = segments
        self.active = segments[-1]

    def all(self) -> list[Segment]:
        """The segments as they are now, in a list of its own."""
        return list(self._segments)

    def add(self, segment: Segment) -> None:
        self._segments.append(segment)
        self.active = segment

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    @property
    def first_offset(self) -> int:
        return self._segments[0].base_offset

    @property
    def end_of_first(self) -> int:
        """Where the segment after the first begins; in a log of one, behind every offset."""
        return self._segments[1].base_offset if len(self._segments) > 1 else _NO_END

    def slice(self, offset: int, max_bytes: int, up_to_offset: int, at_least_one_batch: bool) -> FileSlice:
        """The batches from the one that holds `offset` on, of one segment, below `up_to_offset`."""
        segment, (position, size) = self._find(offset)
        end = segment.size
        if up_to_offset < segment.next_offset:
            beyond = segment.find(up_to_offset)
            end = beyond[0] if beyond is not None else end
        length = end - position
        if length > max_bytes:
            whole = size if at_least_one_batch else 0
            length = max_bytes if size <= max_bytes else whole
        return FileSlice(segment.file, position, length)

    def _find(self, offset: int) -> tuple[Segment, tuple[int, int]]:
        """The segment, and place in it, of the batch that holds `offset` or comes next."""
        for segment in self._from(offset):
            found = segment.find(offset)
            if found is not None:
                return segment, found
        return self.active, (self.active.size, 0)

    def _from(self, offset: int) -> list[Segment]:
        """The segment that holds an offset, and all behind it."""
        if offset >= self.active.base_offset:
            return [self.active]
        return self._segments[max(bisect_right(self._segments, offset, key=_base_offset) - 1, 0) :]

    def unread(self, offset: int) -> Segment | None:
        """The segment before the last that holds an offset, if its indexes have not been read yet."""
        if offset >= self.active.base_offset:
            return None
        segment = self._from(offset)[0]
        return None if segment.is_loaded else segment

    def has_no_aborted_from(self, offset: int) -> bool:
        """Whether it is known, without a look at files, that no transaction was aborted from there on."""
        return all(segment.transactions.is_known_to_be_empty for segment in self._from(offset))

    def remove_before(self, offset: int) -> list[str]:
        """Set the segments aside that end at or before an offset, the oldest first: no hole is left, ever.

        Gives the names their files have now. A segment that cannot be set aside stays, and all behind it.
        Raises OSError if that is the first.
        """
        set_aside: list[str] = []
        while len(self._segments) > 1 and self._segments[1].base_offset <= offset:
            # Out of the list before its files go, for a flush that runs in another thread.
            first = self._segments.pop(0)
            try:
                set_aside += first.set_aside()
            except OSError:
                self._segments.insert(0, first)
                if not set_aside:
                    raise
                break
        return set_aside

    def replace(self, replaced: list[Segment], segment: Segment) -> None:
        """Put one segment in the place of those that it was made of, which are neighbours and sealed.

        Raises ValueError when they are not all there any more.
        """
        slot = bisect_left(self._segments, replaced[0].base_offset, key=_base_offset)
        if self._segments[slot : slot + len(replaced)] != replaced or replaced[-1] is self.active:
            raise ValueError("the segments to replace are not those of the log")
        self._segments[slot : slot + len(replaced)] = [segment]

    def release(self) -> None:
        """Let go of all files."""
        for segment in self._segments:
            segment.release()


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
