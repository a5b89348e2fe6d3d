"""Every input in every state of a classic group: which error code comes back, or that it waits."""

from collections.abc import Callable

import pytest

from tests.support.outcomes import WAITS, Outcome, outcome_of
from tests.support.playbook import GroupPlaybook
from wirekafka.groups.classic.states import ClassicGroupState as State
from wirekafka.protocol.error_codes import ErrorCode

E = ErrorCode
LEADER, FOLLOWER = "a-1", "b-2"


def in_state(state: State) -> GroupPlaybook:
    """A group at generation 1 of a-1, which leads, and b-2, in the given state.

    The empty group has lost both members, and is at generation 2; the dead one was never there.
    """
    play = GroupPlaybook()
    if state is State.DEAD:
        return play
    if state is State.COMPLETING_REBALANCE:
        play.join("a", session_ms=60_000)
        play.join("b", session_ms=60_000)
        play.at(6_000)
        return play
    play.stable("a", "b", session_ms=60_000)
    if state is State.EMPTY:
        play.leave((LEADER, None), (FOLLOWER, None))
    if state is State.PREPARING_REBALANCE:
        play.join("c", session_ms=60_000)
    return play


def join(**arguments: object) -> Callable[[GroupPlaybook], Outcome]:
    return lambda play: outcome_of(play, play.join("x", **arguments))  # type: ignore[arg-type]


def sync(member_id: str, generation_id: int, **arguments: object) -> Callable[[GroupPlaybook], Outcome]:
    return lambda play: outcome_of(
        play,
        play.sync(member_id, generation_id, **arguments),  # type: ignore[arg-type]
    )


def beat(
    member_id: str, generation_id: int, instance: str | None = None
) -> Callable[[GroupPlaybook], Outcome]:
    return lambda play: play.heartbeat(member_id, generation_id, instance=instance)


def leave(member_id: str, instance: str | None = None) -> Callable[[GroupPlaybook], Outcome]:
    return lambda play: ErrorCode(play.left(play.leave((member_id, instance)))[0])


def commit(member_id: str, generation_id: int) -> Callable[[GroupPlaybook], Outcome]:
    return lambda play: ErrorCode(play.committed(play.commit(member_id, generation_id)))


INPUTS: dict[str, Callable[[GroupPlaybook], Outcome]] = {
    "join of a new member": join(),
    "join of a new member that needs an id": join(member_id_required=True),
    "join of a new static member": join(instance="i", member_id_required=True),
    "join of the leader": join(member_id=LEADER),
    "join of the leader with other metadata": join(member_id=LEADER, protocols={"range": b"new"}),
    "join of a follower": join(member_id=FOLLOWER),
    "join of a follower with other metadata": join(member_id=FOLLOWER, protocols={"range": b"new"}),
    "join of an unknown id": join(member_id="nobody"),
    "join with an unknown instance": join(member_id=LEADER, instance="nobody"),
    "join of another protocol type": join(protocol_type="connect"),
    "join without a protocol type": join(protocol_type=""),
    "join of a protocol nobody else has": join(protocols={"own": b""}),
    "join without protocols": join(protocols={}),
    "join of too short a session": join(session_ms=5_999),
    "join of too long a session": join(session_ms=1_800_001),
    "sync of the leader": sync(LEADER, 1, assignments={}),
    "sync of a follower": sync(FOLLOWER, 1),
    "sync of an unknown id": sync("nobody", 1),
    "sync of another generation": sync(FOLLOWER, 7),
    "sync of another protocol type": sync(FOLLOWER, 1, protocol=("connect", "range")),
    "sync of another protocol name": sync(FOLLOWER, 1, protocol=("consumer", "sticky")),
    "sync without the protocol it needs": sync(FOLLOWER, 1, protocol_required=True),
    "heartbeat": beat(FOLLOWER, 1),
    "heartbeat of an unknown id": beat("nobody", 1),
    "heartbeat of an unknown instance": beat(FOLLOWER, 1, "nobody"),
    "heartbeat of another generation": beat(FOLLOWER, 7),
    "leave": leave(FOLLOWER),
    "leave of an unknown id": leave("nobody"),
    "leave of an unknown instance": leave("", "nobody"),
    "commit": commit(FOLLOWER, 1),
    "commit of an unknown id": commit("nobody", 1),
    "commit of another generation": commit(FOLLOWER, 7),
    "commit without a member": commit("", -1),
    "commit with a member and no generation": commit(FOLLOWER, -1),
}

# Per input: Dead (that is, not there), Empty, PreparingRebalance, CompletingRebalance, Stable.
STATES = [
    State.DEAD,
    State.EMPTY,
    State.PREPARING_REBALANCE,
    State.COMPLETING_REBALANCE,
    State.STABLE,
]
OUTCOMES: dict[str, tuple[Outcome, Outcome, Outcome, Outcome, Outcome]] = {
    "join of a new member": (WAITS, WAITS, WAITS, WAITS, WAITS),
    "join of a new member that needs an id": (E.MEMBER_ID_REQUIRED,) * 5,
    "join of a new static member": (WAITS, WAITS, WAITS, WAITS, WAITS),
    "join of the leader": (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, WAITS, E.NONE, WAITS),
    "join of the leader with other metadata": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        WAITS,
        WAITS,
        WAITS,
    ),
    "join of a follower": (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, WAITS, E.NONE, E.NONE),
    "join of a follower with other metadata": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        WAITS,
        WAITS,
        WAITS,
    ),
    "join of an unknown id": (E.UNKNOWN_MEMBER_ID,) * 5,
    "join with an unknown instance": (E.UNKNOWN_MEMBER_ID,) * 5,
    "join of another protocol type": (WAITS, WAITS, *(E.INCONSISTENT_GROUP_PROTOCOL,) * 3),
    "join without a protocol type": (E.INCONSISTENT_GROUP_PROTOCOL,) * 5,
    "join of a protocol nobody else has": (WAITS, WAITS, *(E.INCONSISTENT_GROUP_PROTOCOL,) * 3),
    "join without protocols": (E.INCONSISTENT_GROUP_PROTOCOL,) * 5,
    "join of too short a session": (E.INVALID_SESSION_TIMEOUT,) * 5,
    "join of too long a session": (E.INVALID_SESSION_TIMEOUT,) * 5,
    "sync of the leader": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        E.REBALANCE_IN_PROGRESS,
        E.NONE,
        E.NONE,
    ),
    "sync of a follower": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        E.REBALANCE_IN_PROGRESS,
        WAITS,
        E.NONE,
    ),
    "sync of an unknown id": (E.UNKNOWN_MEMBER_ID,) * 5,
    "sync of another generation": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        *(E.ILLEGAL_GENERATION,) * 3,
    ),
    "sync of another protocol type": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        *(E.INCONSISTENT_GROUP_PROTOCOL,) * 3,
    ),
    "sync of another protocol name": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        *(E.INCONSISTENT_GROUP_PROTOCOL,) * 3,
    ),
    "sync without the protocol it needs": (E.INCONSISTENT_GROUP_PROTOCOL,) * 5,
    "heartbeat": (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS, E.NONE, E.NONE),
    "heartbeat of an unknown id": (E.UNKNOWN_MEMBER_ID,) * 5,
    "heartbeat of an unknown instance": (E.UNKNOWN_MEMBER_ID,) * 5,
    "heartbeat of another generation": (
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
        *(E.ILLEGAL_GENERATION,) * 3,
    ),
    "leave": (E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE),
    "leave of an unknown id": (E.UNKNOWN_MEMBER_ID,) * 5,
    "leave of an unknown instance": (E.UNKNOWN_MEMBER_ID,) * 5,
    "commit": (
        E.GROUP_ID_NOT_FOUND,
        E.UNKNOWN_MEMBER_ID,
        E.NONE,
        E.REBALANCE_IN_PROGRESS,
        E.NONE,
    ),
    "commit of an unknown id": (E.GROUP_ID_NOT_FOUND, *(E.UNKNOWN_MEMBER_ID,) * 4),
    "commit of another generation": (
        E.GROUP_ID_NOT_FOUND,
        E.UNKNOWN_MEMBER_ID,
        *(E.ILLEGAL_GENERATION,) * 3,
    ),
    "commit without a member": (E.NONE, E.NONE, *(E.UNKNOWN_MEMBER_ID,) * 3),
    "commit with a member and no generation": (E.NONE, E.NONE, *(E.ILLEGAL_GENERATION,) * 3),
}


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.value)
@pytest.mark.parametrize("name", INPUTS)
def test_each_input_has_kafkas_outcome(name: str, state: State) -> None:
    """The outcomes are those of Kafka 4.4's GroupMetadataManager, pair by pair."""
    play = in_state(state)
    assert play.state() == state.value

    outcome = INPUTS[name](play)
    assert outcome == OUTCOMES[name][STATES.index(state)]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.value)
@pytest.mark.parametrize("name", INPUTS)
def test_each_input_leaves_a_log_that_replays(name: str, state: State) -> None:
    """Whatever was decided, a restart finds the durable state that the shard had."""
    play = in_state(state)
    INPUTS[name](play)
    before = play.shard.durable
    play.restart()

    assert play.shard.durable == before
