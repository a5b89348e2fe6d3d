"""Tests of groups/classic/volatile.py."""

from wirekafka.groups.classic.volatile import Volatile
from wirekafka.groups.deadlines import JoinDeadline, SessionDeadline, SyncDeadline


def test_deadlines_of_a_group_are_told_apart() -> None:
    """A join and a sync deadline of one group are different keys; one of each may be there."""
    volatile = Volatile()
    volatile.deadlines.schedule(JoinDeadline("g"), 1)
    volatile.deadlines.schedule(SyncDeadline("g"), 2)
    volatile.deadlines.schedule(SessionDeadline("g", "m"), 3)
    volatile.deadlines.schedule(SessionDeadline("g", "m"), 4)

    assert len(volatile.deadlines) == 3
    assert [volatile.deadlines.pop_due(9) for _ in range(3)] == [
        JoinDeadline("g"),
        SyncDeadline("g"),
        SessionDeadline("g", "m"),
    ]
