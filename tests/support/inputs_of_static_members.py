"""A classic group with a static and a pending member in each of its states, and every input that may meet it.

Called by the table of their outcomes, and by the runs of any inputs in any order.

Source: KIP-345 (static members), KIP-394 (pending members).
"""

from collections.abc import Callable

from tests.support.outcomes import Outcome, outcome_of
from tests.support.playbook import GroupPlaybook
from wirekafka.groups.classic.states import ClassicGroupState as State
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse
from wirekafka.protocol.error_codes import ErrorCode

E = ErrorCode
LEADER, STATIC = "a-1", "i-2"
SESSION_MS, PENDING_MS, REBALANCE_MS = 70_000, 10_000, 60_000


class Scene:
    """A group at generation 1 of a, which leads, and s, static under instance i; p has an id and is pending.

    The empty group has lost both members, and is at generation 2; of the dead one nothing was ever heard.
    """

    def __init__(self, state: State) -> None:
        self.play = GroupPlaybook()
        self.pending = "p-0"
        if state is State.DEAD:
            return
        tickets = [
            self.play.join("a", session_ms=SESSION_MS),
            self.play.join("s", session_ms=SESSION_MS, instance="i"),
        ]
        self.play.at(6_000)
        assert [self.play.joined(ticket).member_id for ticket in tickets] == [LEADER, STATIC]
        if state is not State.COMPLETING_REBALANCE:
            self.play.sync(STATIC, 1, instance="i")
            self.play.sync(LEADER, 1, {})
        if state is State.EMPTY:
            self.play.leave((LEADER, None), (STATIC, "i"))
        if state is State.PREPARING_REBALANCE:
            self.play.join("c", session_ms=SESSION_MS)
        ticket = self.play.join("p", member_id_required=True, session_ms=PENDING_MS)
        self.pending = self.play.joined(ticket).member_id

    @property
    def state(self) -> State:
        return State(self.play.state())


def joins(member_id: str = "", **arguments: object) -> Callable[[Scene], Outcome]:
    """A static member joins, under instance i if nothing else is said."""
    said: dict[str, object] = {"instance": "i", "session_ms": SESSION_MS, **arguments}
    return lambda scene: outcome_of(
        scene.play,
        scene.play.join("x", member_id, **said),  # type: ignore[arg-type]
    )


def pending_joins(**arguments: object) -> Callable[[Scene], Outcome]:
    """The pending member joins with the id it was given."""
    said: dict[str, object] = {"session_ms": SESSION_MS, **arguments}
    return lambda scene: outcome_of(
        scene.play,
        scene.play.join("p", scene.pending, **said),  # type: ignore[arg-type]
    )


def syncs(member_id: str, instance: str | None) -> Callable[[Scene], Outcome]:
    return lambda scene: outcome_of(scene.play, scene.play.sync(member_id, 1, instance=instance))


def beats(member_id: str, instance: str | None, generation_id: int = 1) -> Callable[[Scene], Outcome]:
    return lambda scene: scene.play.heartbeat(member_id, generation_id, instance=instance)


def leaves(member_id: str, instance: str | None) -> Callable[[Scene], Outcome]:
    return lambda scene: ErrorCode(scene.play.left(scene.play.leave((member_id, instance)))[0])


def leaves_as_of_old(member_id: str) -> Callable[[Scene], Outcome]:
    """LeaveGroup before version 3 is about one member, whose code is the answer's."""

    def left(scene: Scene) -> Outcome:
        play, ticket = scene.play, scene.play.draw()
        request = LeaveGroupRequest(group_id="g", member_id=member_id, members=[])
        play.run(play.shard.leave(request, ticket=ticket, now_ms=play.now_ms, one_member=True))
        answer = play.answers[ticket]
        assert isinstance(answer, LeaveGroupResponse)
        return ErrorCode(answer.error_code)

    return left


def commits(member_id: str, instance: str | None, **facts: bool) -> Callable[[Scene], Outcome]:
    return lambda scene: ErrorCode(
        scene.play.committed(scene.play.commit(member_id, 1, instance=instance, **facts))  # type: ignore[arg-type]
    )


def as_pending(act: Callable[[str, str | None], Callable[[Scene], Outcome]]) -> Callable[[Scene], Outcome]:
    """The pending member does what only members may."""
    return lambda scene: act(scene.pending, None)(scene)


def fenced(act: Callable[[Scene], Outcome]) -> Callable[[Scene], Outcome]:
    """The old process of the static member acts after a new one has joined."""

    def acts(scene: Scene) -> Outcome:
        scene.play.join("s", instance="i", session_ms=SESSION_MS)
        return act(scene)

    return acts


def passes(duration_ms: int, *alive: tuple[str, str | None]) -> Callable[[Scene], Outcome]:
    """Time goes by, of which these members make use to be heard of."""

    def passed(scene: Scene) -> Outcome:
        end_ms = scene.play.now_ms + duration_ms
        while scene.play.now_ms < end_ms:
            scene.play.at(min(end_ms, scene.play.now_ms + 5_000))
            for member_id, instance in alive:
                scene.play.heartbeat(member_id, 1, instance=instance)
        return E.NONE

    return passed


INPUTS: dict[str, Callable[[Scene], Outcome]] = {
    "join of a static member without its id": joins(),
    "join of a static member without its id, of before v9": joins(skip_assignment_known=False),
    "join of a static member without its id, of v4 or later": joins(member_id_required=True),
    "join of a static member without its id, with a new protocol": joins(protocols={"own": b""}),
    "join of a static member with its id": joins(STATIC),
    "join of a static member with its id and other metadata": joins(STATIC, protocols={"range": b"new"}),
    "join under the instance id with another's id": joins(LEADER),
    "join of a fenced static member": fenced(joins(STATIC)),
    "sync of a static member": syncs(STATIC, "i"),
    "sync of a static member that names no instance": syncs(STATIC, None),
    "sync of a fenced static member": fenced(syncs(STATIC, "i")),
    "heartbeat of a static member": beats(STATIC, "i"),
    "heartbeat of a static member of another generation": beats(STATIC, "i", 7),
    "heartbeat of a fenced static member": fenced(beats(STATIC, "i")),
    "heartbeat under the instance id with another's id": beats(LEADER, "i"),
    "leave of a static member": leaves(STATIC, "i"),
    "leave by the instance id alone": leaves("", "i"),
    "leave of a fenced static member": fenced(leaves(STATIC, "i")),
    "commit of a static member": commits(STATIC, "i"),
    "commit of a fenced static member": fenced(commits(STATIC, "i")),
    "join of a pending member": pending_joins(),
    "join of a pending member as a static one": pending_joins(instance="j"),
    "join of a pending member of another protocol type": pending_joins(protocol_type="connect"),
    "sync of a pending member": as_pending(syncs),
    "heartbeat of a pending member": as_pending(beats),
    "commit of a pending member": as_pending(commits),
    "leave of a pending member": as_pending(leaves),
    "leave of before v3": leaves_as_of_old(LEADER),
    "leave of before v3 of an unknown id": leaves_as_of_old("nobody"),
    "commit of before v9 of an unknown id": commits("nobody", None, group_id_not_found_known=False),
    "the session of a pending member ends": passes(PENDING_MS, (LEADER, None), (STATIC, "i")),
    "the session of the leader ends": passes(SESSION_MS, (STATIC, "i")),
    "the session of a static member ends": passes(SESSION_MS, (LEADER, None)),
    "all sessions end": passes(6 * SESSION_MS),
    "the rebalance runs out of time": passes(REBALANCE_MS, (LEADER, None), (STATIC, "i")),
}

STATES = [
    State.DEAD,
    State.EMPTY,
    State.PREPARING_REBALANCE,
    State.COMPLETING_REBALANCE,
    State.STABLE,
]
