"""`Load`: the members of one topic by how many partitions they have, while some are given and taken.

Used by `uniform_mixed`, for each topic in turn. Two groups of members are kept in a list that is sorted
once: the least loaded at its beginning, who are given partitions in turn and level up, and the most loaded
at its end, who are taken from in turn and level down. A group that is through its turn takes in the members
beside it who have now as many. So each next member costs next to nothing.

Source: Kafka's UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer.
"""

from collections.abc import Iterable, Sequence


class Load:
    """Members by their numbers, of whom there is at least one; `sizes` says how many partitions each has."""

    __slots__ = (
        "_high",
        "_high_end",
        "_high_start",
        "_low",
        "_low_end",
        "_members",
        "_sizes",
        "_to_give",
        "_to_take",
    )

    def __init__(self, members: Iterable[int], sizes: Sequence[int]) -> None:
        self._sizes = sizes
        """The caller changes it as partitions move."""
        self._members = sorted(members, key=lambda member: (sizes[member], member))
        self._low = sizes[self._members[0]] - 1
        self._low_end = 0
        self._to_give = 0
        self._high = sizes[self._members[-1]] + 1
        self._high_start = self._high_end = len(self._members)
        self._to_take = len(self._members) - 1

    @property
    def is_even(self) -> bool:
        """Whether no move from the most to the least loaded makes a difference any more."""
        return self._high - self._low <= 1

    def next_to_give(self) -> int:
        """Give the least loaded member, which is counted as being given a partition."""
        if self._to_give >= self._low_end:
            self._low += 1
            while self._low_end < len(self._members) and self._size(self._low_end) == self._low:
                self._low_end += 1
            self._to_give = 0
        self._to_give += 1
        return self._members[self._to_give - 1]

    def next_to_take(self) -> int | None:
        """Give the most loaded member, which is counted as losing a partition; None when none is left."""
        if self._to_take < self._high_start:
            is_empty = self._high_end <= self._high_start
            lower = self._size(self._high_start - 1) if is_empty and self._high_start > 0 else self._high - 1
            self._high = lower
            while self._high_start > 0 and self._size(self._high_start - 1) == self._high:
                self._high_start -= 1
            self._to_take = self._high_end - 1
        if self._to_take < 0:
            return None
        self._to_take -= 1
        return self._members[self._to_take + 1]

    def leave_out(self) -> None:
        """Take no more from the member that `next_to_take` gave last."""
        place, last = self._to_take + 1, self._high_end - 1
        members = self._members
        members[place], members[last] = members[last], members[place]
        self._high_end = last

    def _size(self, place: int) -> int:
        return self._sizes[self._members[place]]
