"""Every input in every state of a consumer group: which error code comes back, and the state it leaves."""

import pytest

from tests.support.inputs_of_consumers import INPUTS, STATES, Scene
from wirekafka.groups.consumer.group import ConsumerGroupState as State
from wirekafka.protocol.error_codes import ErrorCode

E = ErrorCode
Codes = tuple[ErrorCode, ...]
States = tuple[State, ...]
DEAD, EMPTY, ASSIGNING, RECONCILING, STABLE = STATES
AS_IT_WAS: States = tuple(STATES)

# Per input, for Dead (that is, not there), Empty, Assigning, Reconciling, Stable: codes, states after.
OUTCOMES: dict[str, tuple[Codes, States]] = {
    "join of a new member": ((E.NONE,) * 5, (STABLE, STABLE, ASSIGNING, ASSIGNING, RECONCILING)),
    "join of a new member that reads nothing": (
        (E.NONE,) * 5,
        (STABLE, STABLE, ASSIGNING, RECONCILING, STABLE),
    ),
    "join of a new static member": ((E.NONE,) * 5, (STABLE, STABLE, ASSIGNING, ASSIGNING, RECONCILING)),
    "join by a regular expression": ((E.NONE,) * 5, (STABLE, STABLE, ASSIGNING, ASSIGNING, RECONCILING)),
    "join by a broken regular expression": ((E.INVALID_REGULAR_EXPRESSION,) * 5, AS_IT_WAS),
    "join with an assignor nobody knows": ((E.UNSUPPORTED_ASSIGNOR,) * 5, AS_IT_WAS),
    "join of a member again": ((E.NONE,) * 5, (STABLE, STABLE, ASSIGNING, RECONCILING, STABLE)),
    "join under an instance id": (
        (*(E.NONE,) * 2, *(E.UNRELEASED_INSTANCE_ID,) * 3),
        (STABLE, STABLE, ASSIGNING, RECONCILING, STABLE),
    ),
    "join in place of one that left for a while": (
        (E.NONE,) * 5,
        (STABLE, STABLE, ASSIGNING, RECONCILING, STABLE),
    ),
    "join without a rebalance time-out": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "join with partitions": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "join that does not say what it has": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "join without a subscription": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "join with an empty rack": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "join without an id": ((E.NONE,) * 5, (STABLE, STABLE, ASSIGNING, ASSIGNING, RECONCILING)),
    "join without the id it needs": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "heartbeat": ((E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3), AS_IT_WAS),
    "heartbeat of a static member": ((E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3), AS_IT_WAS),
    "heartbeat of an unknown id": ((E.GROUP_ID_NOT_FOUND, *(E.UNKNOWN_MEMBER_ID,) * 4), AS_IT_WAS),
    "heartbeat of an epoch long past": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.FENCED_MEMBER_EPOCH,) * 3),
        AS_IT_WAS,
    ),
    "heartbeat of an epoch to come": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.FENCED_MEMBER_EPOCH,) * 3),
        AS_IT_WAS,
    ),
    "heartbeat of no epoch": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "heartbeat of the previous epoch": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        AS_IT_WAS,
    ),
    "heartbeat of the previous epoch with too much": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.FENCED_MEMBER_EPOCH,) * 3),
        AS_IT_WAS,
    ),
    "heartbeat under another's instance id": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.FENCED_INSTANCE_ID,) * 3),
        AS_IT_WAS,
    ),
    "heartbeat under an unknown instance id": (
        (E.GROUP_ID_NOT_FOUND, *(E.UNKNOWN_MEMBER_ID,) * 4),
        AS_IT_WAS,
    ),
    "heartbeat of one whose place was taken": (
        (E.FENCED_INSTANCE_ID,) * 5,
        (STABLE, STABLE, ASSIGNING, RECONCILING, STABLE),
    ),
    "heartbeat with another subscription": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, ASSIGNING, ASSIGNING, RECONCILING),
    ),
    "heartbeat with another assignor": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, ASSIGNING, ASSIGNING, RECONCILING),
    ),
    "heartbeat after its topic grew": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, ASSIGNING, ASSIGNING, RECONCILING),
    ),
    "leave": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, ASSIGNING, ASSIGNING, ASSIGNING),
    ),
    "leave of an unknown id": ((E.GROUP_ID_NOT_FOUND, *(E.UNKNOWN_MEMBER_ID,) * 4), AS_IT_WAS),
    "leave of a static member": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, ASSIGNING, ASSIGNING, ASSIGNING),
    ),
    "leave under another's instance id": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.FENCED_INSTANCE_ID,) * 3),
        AS_IT_WAS,
    ),
    "leave for a while": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, ASSIGNING, RECONCILING, RECONCILING),
    ),
    "leave for a while of a dynamic member": ((E.INVALID_REQUEST,) * 5, AS_IT_WAS),
    "leave for a while under another's instance id": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.FENCED_INSTANCE_ID,) * 3),
        AS_IT_WAS,
    ),
    "commit": ((E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3), AS_IT_WAS),
    "commit of an unknown id": ((E.GROUP_ID_NOT_FOUND, *(E.UNKNOWN_MEMBER_ID,) * 4), AS_IT_WAS),
    "commit of an epoch to come": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.STALE_MEMBER_EPOCH,) * 3),
        AS_IT_WAS,
    ),
    "commit without a member": ((*(E.NONE,) * 2, *(E.UNKNOWN_MEMBER_ID,) * 3), AS_IT_WAS),
    "deletion": (
        (E.GROUP_ID_NOT_FOUND, E.NONE, *(E.NON_EMPTY_GROUP,) * 3),
        (DEAD, DEAD, ASSIGNING, RECONCILING, STABLE),
    ),
    "description": ((E.GROUP_ID_NOT_FOUND, *(E.NONE,) * 4), AS_IT_WAS),
    "silence": ((E.NONE,) * 5, (DEAD, EMPTY, EMPTY, EMPTY, EMPTY)),
    "restart of the broker": (
        (E.GROUP_ID_NOT_FOUND, E.UNKNOWN_MEMBER_ID, *(E.NONE,) * 3),
        (DEAD, EMPTY, RECONCILING, RECONCILING, STABLE),
    ),
}


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.value)
@pytest.mark.parametrize("name", INPUTS)
def test_each_input_has_kafkas_outcome(name: str, state: State) -> None:
    """The outcomes are those of Kafka 4.4's GroupMetadataManager, pair by pair."""
    scene = Scene(state)
    assert scene.state is state

    code = INPUTS[name](scene)
    codes, states = OUTCOMES[name]
    assert (code, scene.state) == (codes[STATES.index(state)], states[STATES.index(state)])


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.value)
@pytest.mark.parametrize("name", INPUTS)
def test_each_input_leaves_a_log_that_replays(name: str, state: State) -> None:
    """Whatever was decided, a restart finds the group as it was."""
    scene = Scene(state)
    INPUTS[name](scene)
    before = scene.play.shard.durable
    scene.play.restart()

    assert scene.play.shard.durable == before
