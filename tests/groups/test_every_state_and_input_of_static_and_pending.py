"""Every input of static and pending members, every deadline and every version's facts, in every state.

The inputs of dynamic members are in test_every_state_and_input.
"""

import pytest

from tests.support.inputs_of_static_members import INPUTS, STATES, Scene
from tests.support.outcomes import WAITS, Outcome
from wirekafka.groups.classic.states import ClassicGroupState as State
from wirekafka.protocol.error_codes import ErrorCode

E = ErrorCode
DEAD, EMPTY, PREPARING, COMPLETING, STABLE = STATES
Outcomes = tuple[Outcome, ...]
States = tuple[State, ...]
AS_IT_WAS: States = tuple(STATES)

# Per input, for Dead (that is, not there), Empty, PreparingRebalance, CompletingRebalance, Stable: what comes
# back, and the states after.
OUTCOMES: dict[str, tuple[Outcomes, States]] = {
    "join of a static member without its id": (
        (WAITS, WAITS, WAITS, WAITS, E.NONE),
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "join of a static member without its id, of before v9": (
        (WAITS, WAITS, WAITS, WAITS, E.NONE),
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "join of a static member without its id, of v4 or later": (
        (WAITS, WAITS, WAITS, WAITS, E.NONE),
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "join of a static member without its id, with a new protocol": (
        (
            WAITS,
            WAITS,
            E.INCONSISTENT_GROUP_PROTOCOL,
            E.INCONSISTENT_GROUP_PROTOCOL,
            E.INCONSISTENT_GROUP_PROTOCOL,
        ),
        (PREPARING, PREPARING, PREPARING, COMPLETING, STABLE),
    ),
    "join of a static member with its id": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, WAITS, E.NONE, E.NONE),
        AS_IT_WAS,
    ),
    "join of a static member with its id and other metadata": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, WAITS, WAITS, WAITS),
        (DEAD, EMPTY, PREPARING, PREPARING, PREPARING),
    ),
    "join under the instance id with another's id": (
        (
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.FENCED_INSTANCE_ID,
            E.FENCED_INSTANCE_ID,
            E.FENCED_INSTANCE_ID,
        ),
        AS_IT_WAS,
    ),
    "join of a fenced static member": (
        (E.FENCED_INSTANCE_ID,) * 5,
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "sync of a static member": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS, WAITS, E.NONE),
        AS_IT_WAS,
    ),
    "sync of a static member that names no instance": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS, WAITS, E.NONE),
        AS_IT_WAS,
    ),
    "sync of a fenced static member": (
        (E.FENCED_INSTANCE_ID,) * 5,
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "heartbeat of a static member": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS, E.NONE, E.NONE),
        AS_IT_WAS,
    ),
    "heartbeat of a static member of another generation": (
        (
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.ILLEGAL_GENERATION,
            E.ILLEGAL_GENERATION,
            E.ILLEGAL_GENERATION,
        ),
        AS_IT_WAS,
    ),
    "heartbeat of a fenced static member": (
        (E.FENCED_INSTANCE_ID,) * 5,
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "heartbeat under the instance id with another's id": (
        (
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.FENCED_INSTANCE_ID,
            E.FENCED_INSTANCE_ID,
            E.FENCED_INSTANCE_ID,
        ),
        AS_IT_WAS,
    ),
    "leave of a static member": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE),
        (DEAD, EMPTY, PREPARING, PREPARING, PREPARING),
    ),
    "leave by the instance id alone": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE),
        (DEAD, EMPTY, PREPARING, PREPARING, PREPARING),
    ),
    "leave of a fenced static member": (
        (E.FENCED_INSTANCE_ID,) * 5,
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "commit of a static member": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, E.NONE, E.REBALANCE_IN_PROGRESS, E.NONE),
        AS_IT_WAS,
    ),
    "commit of a fenced static member": (
        (E.FENCED_INSTANCE_ID,) * 5,
        (PREPARING, PREPARING, PREPARING, PREPARING, STABLE),
    ),
    "join of a pending member": (
        (E.UNKNOWN_MEMBER_ID, WAITS, WAITS, WAITS, WAITS),
        (DEAD, PREPARING, PREPARING, PREPARING, PREPARING),
    ),
    "join of a pending member as a static one": (
        (
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_SERVER_ERROR,
            E.UNKNOWN_SERVER_ERROR,
            E.UNKNOWN_SERVER_ERROR,
            E.UNKNOWN_SERVER_ERROR,
        ),
        AS_IT_WAS,
    ),
    "join of a pending member of another protocol type": (
        (
            E.UNKNOWN_MEMBER_ID,
            WAITS,
            E.INCONSISTENT_GROUP_PROTOCOL,
            E.INCONSISTENT_GROUP_PROTOCOL,
            E.INCONSISTENT_GROUP_PROTOCOL,
        ),
        (DEAD, PREPARING, PREPARING, COMPLETING, STABLE),
    ),
    "sync of a pending member": ((E.UNKNOWN_MEMBER_ID,) * 5, AS_IT_WAS),
    "heartbeat of a pending member": ((E.UNKNOWN_MEMBER_ID,) * 5, AS_IT_WAS),
    "commit of a pending member": (
        (
            E.GROUP_ID_NOT_FOUND,
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
        ),
        AS_IT_WAS,
    ),
    "leave of a pending member": (
        (E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE, E.NONE),
        (DEAD, EMPTY, PREPARING, PREPARING, PREPARING),
    ),
    "leave of before v3": (
        (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE),
        (DEAD, EMPTY, PREPARING, PREPARING, PREPARING),
    ),
    "leave of before v3 of an unknown id": ((E.UNKNOWN_MEMBER_ID,) * 5, AS_IT_WAS),
    "commit of before v9 of an unknown id": (
        (
            E.ILLEGAL_GENERATION,
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
            E.UNKNOWN_MEMBER_ID,
        ),
        AS_IT_WAS,
    ),
    "the session of a pending member ends": ((E.NONE,) * 5, AS_IT_WAS),
    "the session of the leader ends": ((E.NONE,) * 5, (DEAD, EMPTY, COMPLETING, EMPTY, PREPARING)),
    "the session of a static member ends": ((E.NONE,) * 5, (DEAD, EMPTY, COMPLETING, EMPTY, PREPARING)),
    "all sessions end": ((E.NONE,) * 5, (DEAD, EMPTY, EMPTY, EMPTY, EMPTY)),
    "the rebalance runs out of time": ((E.NONE,) * 5, (DEAD, EMPTY, COMPLETING, EMPTY, STABLE)),
}


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.value)
@pytest.mark.parametrize("name", INPUTS)
def test_each_input_has_kafkas_outcome(name: str, state: State) -> None:
    """The outcomes are those of Kafka 4.4's GroupMetadataManager, pair by pair."""
    scene = Scene(state)
    assert scene.state is state

    outcome = INPUTS[name](scene)
    outcomes, states = OUTCOMES[name]
    assert (outcome, scene.state) == (outcomes[STATES.index(state)], states[STATES.index(state)])


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.value)
@pytest.mark.parametrize("name", INPUTS)
def test_each_input_leaves_a_log_that_replays(name: str, state: State) -> None:
    """Whatever was decided, a restart finds the durable state that the shard had."""
    scene = Scene(state)
    INPUTS[name](scene)
    before = scene.play.shard.durable
    scene.play.restart()

    assert scene.play.shard.durable == before
