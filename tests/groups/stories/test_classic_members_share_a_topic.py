"""Story: a topic of four partitions is read by one, two, four and five members of the classic protocol."""

from tests.support.playbook import GroupPlaybook
from tests.torture.groups import plans
from tests.torture.groups.plans import Named, Subscription
from wirekafka.groups import GroupConfig
from wirekafka.machine import Ticket
from wirekafka.protocol.error_codes import ErrorCode

SESSION_MS = 10_000
REBALANCE_MS = 60_000


class Sharing:
    """A group of which each member does what its client would do, and the leader deals out."""

    def __init__(self, *, cooperative: bool = False) -> None:
        self.play = GroupPlaybook(GroupConfig(group_initial_rebalance_delay_ms=0))
        self.cooperative = cooperative
        self.partitions = 4
        self.has: dict[str, set[Named]] = {}
        """Member id to what it reads."""
        self.generation = -1
        self.given_up: list[set[Named]] = []
        """What the members stopped reading, rebalance by rebalance."""

    @property
    def protocol(self) -> str:
        return "cooperative-sticky" if self.cooperative else "range"

    def metadata(self, member_id: str) -> bytes:
        owned = frozenset(self.has.get(member_id, ())) if self.cooperative else frozenset[Named]()
        return plans.written_subscription(Subscription(frozenset({"t"}), owned, self.generation))

    def rebalance(self, *newcomers: str) -> None:
        """All join, the leader assigns, all sync; a cooperative group does so until nothing is given up."""
        play, before = self.play, {member_id: set(has) for member_id, has in self.has.items()}
        if not self.cooperative:
            self.has = {member_id: set() for member_id in self.has}
        tickets = [self.join(name, "") for name in newcomers]
        tickets += [self.join("x", member_id) for member_id in self.has]
        play.at(play.now_ms)
        answers = [play.joined(ticket) for ticket in tickets]
        self.generation = answers[0].generation_id
        assert {answer.error_code for answer in answers} == {ErrorCode.NONE}
        (leader,) = (answer for answer in answers if answer.members)
        subscriptions = {m.member_id: plans.read_subscription(m.metadata) for m in leader.members}
        make = plans.cooperative if self.cooperative else plans.eager
        plan = make(subscriptions, {"t": self.partitions})
        ids = sorted((answer.member_id for answer in answers), key=lambda one: one == leader.member_id)
        written = {member_id: plans.written_assignment(assigned) for member_id, assigned in plan.items()}
        syncs = [play.sync(one, self.generation, written if one == ids[-1] else None) for one in ids]
        now = {
            one: plans.read_assignment(play.synced(sync).assignment)
            for one, sync in zip(ids, syncs, strict=True)
        }
        self.has = now
        lost = self.cooperative and any(before.get(one, set()) - now[one] for one in ids)
        self.given_up.append(
            set().union(
                *(has - (now.get(one, set()) if self.cooperative else set()) for one, has in before.items())
            )
        )
        if lost:
            self.rebalance()

    def join(self, name: str, member_id: str) -> Ticket:
        """A member joins, or joins again."""
        protocols = {self.protocol: self.metadata(member_id)}
        return self.play.join(
            name, member_id, protocols=protocols, session_ms=SESSION_MS, rebalance_ms=REBALANCE_MS
        )

    def leave(self, member_id: str) -> None:
        """A member goes politely, and the others hear of it by their next heartbeat."""
        assert self.play.left(self.play.leave((member_id, None))) == [ErrorCode.NONE]
        del self.has[member_id]
        for other in self.has:
            assert self.play.heartbeat(other, self.generation) is ErrorCode.REBALANCE_IN_PROGRESS
        self.rebalance()

    def shares(self) -> list[int]:
        """How many partitions each has, when each is read by one."""
        read = [one for has in self.has.values() for one in has]
        assert sorted(read) == [("t", index) for index in range(self.partitions)]
        return sorted(map(len, self.has.values()))


def test_members_share_and_the_fifth_is_idle() -> None:
    """The description: each partition belongs to one member, and who comes last may get none."""
    group = Sharing()
    found = []
    for name in "abcde":
        group.rebalance(name)
        found.append(group.shares())

    assert found == [[4], [2, 2], [1, 1, 2], [1, 1, 1, 1], [0, 1, 1, 1, 1]]


def test_an_eager_rebalance_stops_the_world_and_a_cooperative_one_does_not() -> None:
    """KIP-429: only what moves is given up, in a first rebalance, and given out in a second one."""
    eager, cooperative = Sharing(), Sharing(cooperative=True)
    for group in (eager, cooperative):
        group.rebalance("a")
        group.given_up.clear()
        group.rebalance("b")

    assert [len(given_up) for given_up in eager.given_up] == [4]
    assert [len(given_up) for given_up in cooperative.given_up] == [2, 0]
    assert eager.shares() == cooperative.shares() == [2, 2]


def test_who_leaves_is_succeeded_at_once() -> None:
    """LeaveGroup starts a rebalance without any time-out."""
    group = Sharing()
    group.rebalance("a", "b")
    now_ms = group.play.now_ms
    group.leave("b-2")

    assert (group.shares(), group.play.now_ms) == ([4], now_ms)


def test_who_is_killed_is_succeeded_after_its_session() -> None:
    """The session time-out, and not a moment before."""
    group = Sharing()
    group.rebalance("a", "b")
    heard_ms = group.play.now_ms
    group.play.at(heard_ms + SESSION_MS - 1)
    assert group.play.heartbeat("a-1", group.generation) is ErrorCode.NONE

    group.play.at(heard_ms + SESSION_MS)
    assert group.play.heartbeat("a-1", group.generation) is ErrorCode.REBALANCE_IN_PROGRESS
    del group.has["b-2"]
    group.rebalance()
    assert group.shares() == [4]


def test_who_stalls_is_left_behind_at_the_rebalance_timeout() -> None:
    """Its heartbeats go on, but it does not join: the rebalance waits for max.poll.interval.ms."""
    group = Sharing()
    group.rebalance("a", "b")
    ticket = group.join("c", "")
    joins = group.join("a", "a-1")
    start_ms = group.play.now_ms
    while group.play.now_ms < start_ms + REBALANCE_MS:
        assert {ticket, joins} <= group.play.waiting
        assert group.play.heartbeat("b-2", group.generation) is ErrorCode.REBALANCE_IN_PROGRESS
        group.play.at(group.play.now_ms + 5_000)

    assert group.play.joined(joins).generation_id == group.generation + 1
    assert group.play.heartbeat("b-2", group.generation) is ErrorCode.UNKNOWN_MEMBER_ID


def test_new_partitions_are_taken_up_when_the_leader_sees_them() -> None:
    """The broker has no part in it: the leader joins anew, and the others hear of a rebalance."""
    group = Sharing()
    group.rebalance("a", "b")
    group.partitions = 6
    assert group.join("a", "a-1") in group.play.waiting
    assert group.play.heartbeat("b-2", group.generation) is ErrorCode.REBALANCE_IN_PROGRESS
    group.rebalance()

    assert group.shares() == [3, 3]


def test_a_group_goes_on_where_it_was_after_all_left_and_the_broker_restarted() -> None:
    """Committed offsets outlive the members and the broker."""
    group = Sharing()
    group.rebalance("a")
    assert group.play.committed(group.play.commit("a-1", group.generation, offset=7)) == ErrorCode.NONE
    group.play.leave(("a-1", None))
    group.play.restart(after_ms=60_000)
    group.has.clear()
    group.rebalance("b")

    assert group.shares() == [4]
    assert group.play.fetch() == 7


def test_two_groups_read_each_for_itself() -> None:
    """What one group commits is nothing to the other."""
    play = GroupPlaybook(GroupConfig(group_initial_rebalance_delay_ms=0))
    first = play.stable("a")
    play.commit(first[0], 1, offset=5)
    play.group_id = "h"
    second = play.stable("b")

    assert play.fetch() == -1
    assert play.committed(play.commit(second[0], 1, offset=9)) == ErrorCode.NONE
    assert play.committed(play.commit(first[0], 1, offset=6)) == ErrorCode.UNKNOWN_MEMBER_ID
    play.group_id = "g"
    assert play.fetch() == 5
