"""The states of a classic group, and the table of moves between them.

`classic.group` asks the table at every move; tests walk it.

Source: Kafka's ClassicGroupState.
"""

from enum import Enum


class ClassicGroupState(Enum):
    """The values are spelled as DescribeGroups and ListGroups show them."""

    EMPTY = "Empty"
    """No members; a group that only stores offsets is always here."""

    PREPARING_REBALANCE = "PreparingRebalance"
    """JoinGroup requests are being gathered."""

    COMPLETING_REBALANCE = "CompletingRebalance"
    """A generation is announced; the leader's assignment is awaited."""

    STABLE = "Stable"
    """Every member has, or may fetch, its assignment."""

    DEAD = "Dead"
    """Deleted; what DescribeGroups says of a group that is not there."""


MOVES: dict[ClassicGroupState, frozenset[ClassicGroupState]] = {
    ClassicGroupState.EMPTY: frozenset({ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.DEAD}),
    ClassicGroupState.PREPARING_REBALANCE: frozenset(
        {ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.EMPTY, ClassicGroupState.DEAD}
    ),
    ClassicGroupState.COMPLETING_REBALANCE: frozenset(
        {ClassicGroupState.STABLE, ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.DEAD}
    ),
    ClassicGroupState.STABLE: frozenset({ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.DEAD}),
    ClassicGroupState.DEAD: frozenset(),
}


def check_move(group_id: str, present: ClassicGroupState, target: ClassicGroupState) -> None:
    """Raise ValueError for a move that the table does not have."""
    if target not in MOVES[present]:
        raise ValueError(f"group {group_id} cannot go from {present.value} to {target.value}")
