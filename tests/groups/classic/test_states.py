"""Tests of groups/classic/states.py."""

import itertools

import pytest

from wirekafka.groups.classic.states import MOVES, ClassicGroupState, check_move

EMPTY, PREPARING, COMPLETING, STABLE, DEAD = ClassicGroupState


@pytest.mark.parametrize(("present", "target"), list(itertools.product(ClassicGroupState, repeat=2)))
def test_only_moves_of_the_table_are_allowed(present: ClassicGroupState, target: ClassicGroupState) -> None:
    """Kafka's valid previous states, read the other way round; nothing leaves Dead."""
    allowed = {
        (EMPTY, PREPARING),
        (PREPARING, COMPLETING),
        (PREPARING, EMPTY),
        (COMPLETING, STABLE),
        (COMPLETING, PREPARING),
        (STABLE, PREPARING),
        (EMPTY, DEAD),
        (PREPARING, DEAD),
        (COMPLETING, DEAD),
        (STABLE, DEAD),
    }
    assert (target in MOVES[present]) == ((present, target) in allowed)
    if (present, target) in allowed:
        check_move("g", present, target)
        return

    with pytest.raises(ValueError, match=f"group g cannot go from {present.value} to {target.value}"):
        check_move("g", present, target)


def test_states_are_spelled_as_clients_see_them() -> None:
    """DescribeGroups and ListGroups show these words."""
    assert [state.value for state in ClassicGroupState] == [
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
        "Dead",
    ]
