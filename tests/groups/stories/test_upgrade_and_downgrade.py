"""Story: a group goes over from the classic protocol to the new one, member by member, and back."""

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.torture.groups import plans
from tests.torture.groups.plans import Named, Subscription
from wirekafka.groups import GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.groups.consumer.group import ConsumerGroupState
from wirekafka.machine import Ticket
from wirekafka.protocol.error_codes import ErrorCode

REBALANCING = (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)
SESSION_MS = 10_000


class ClassicOne:
    """A client of the classic protocol, of the eager kind: joining again it gives up all it has."""

    def __init__(self, play: ConsumerPlaybook, name: str) -> None:
        self.play, self.name = play, name
        self.member_id, self.generation = "", -1
        self.has: set[Named] = set()

    def beat(self) -> ErrorCode:
        """Send a heartbeat, and join again when told to."""
        code = self.play.heartbeat(self.member_id, self.generation)
        if code in REBALANCING:
            self.join()
        return code

    def join(self) -> None:
        """Join and sync in a consumer group, which makes nobody wait and nobody lead."""
        self.has = set()
        joined = self.play.joined(self.ask())
        assert (joined.error_code, joined.leader, joined.members) == (ErrorCode.NONE, "", [])
        self.member_id, self.generation = joined.member_id, joined.generation_id
        self.sync()

    def ask(self) -> Ticket:
        metadata = plans.written_subscription(Subscription(frozenset({"t"}), frozenset(), self.generation))
        return self.play.join(
            self.name,
            self.member_id,
            protocols={"range": metadata},
            session_ms=SESSION_MS,
            rebalance_ms=60_000,
        )

    def sync(self, plan: dict[str, bytes] | None = None) -> None:
        synced = self.play.synced(self.play.sync(self.member_id, self.generation, plan))
        assert synced.error_code == ErrorCode.NONE
        self.has = plans.read_assignment(synced.assignment)


def classic_group(play: ConsumerPlaybook, *names: str) -> list[ClassicOne]:
    """Members of a classic group, each with its share of the four partitions of t."""
    members = [ClassicOne(play, name) for name in names]
    rebalance(play, members)
    return members


def rebalance(play: ConsumerPlaybook, members: list[ClassicOne]) -> None:
    """A whole rebalance of a classic group."""
    tickets = [member.ask() for member in members]
    play.at(play.now_ms + 6_000)
    for member, ticket in zip(members, tickets, strict=True):
        joined = play.joined(ticket)
        member.member_id, member.generation = joined.member_id, joined.generation_id
    leader = next(play.joined(ticket) for ticket in tickets if play.joined(ticket).members)
    subscriptions = {one.member_id: plans.read_subscription(one.metadata) for one in leader.members}
    plan = plans.eager(subscriptions, {"t": 4})
    written = {member_id: plans.written_assignment(assigned) for member_id, assigned in plan.items()}
    waits = [
        play.sync(one.member_id, one.generation, written if one.member_id == leader.leader else None)
        for one in members
    ]
    for member, ticket in zip(members, waits, strict=True):
        member.has = plans.read_assignment(play.synced(ticket).assignment)


def go_on(play: ConsumerPlaybook, *members: ClassicOne | Consumer) -> None:
    """Some rounds of heartbeats, in which nobody reads what another reads."""
    for _ in range(8):
        play.pass_ms(1_000)
        for member in members:
            member.beat()
            shares(*members)


def shares(*members: ClassicOne | Consumer) -> list[int]:
    """How many partitions each has; no two have the same."""
    having = [
        sorted(one.has) if isinstance(one, ClassicOne) else [("t", index) for index in one.has.get("t", [])]
        for one in members
    ]
    read = [partition for one in having for partition in one]
    assert len(read) == len(set(read))
    return sorted(map(len, having))


def test_a_new_consumer_converts_the_group_and_gets_its_share() -> None:
    """Online upgrade: the classic members are told to rejoin, and give up what is the newcomer's first."""
    play = ConsumerPlaybook(t=4)
    members = classic_group(play, "a", "b")
    newcomer = play.consumer("n", "t")
    assert newcomer.join().error_code == ErrorCode.NONE
    assert "g" not in play.shard.volatile.classic_groups
    assert newcomer.epoch == members[0].generation + 1
    assert newcomer.has == {}
    assert play.heartbeat(members[0].member_id, members[0].generation) is ErrorCode.REBALANCE_IN_PROGRESS
    go_on(play, *members, newcomer)

    assert shares(*members, newcomer) == [1, 1, 2]
    assert play.group.state is ConsumerGroupState.STABLE


def test_the_last_consumer_that_leaves_makes_the_group_classic_again() -> None:
    """Online downgrade: who is left rebalances as a classic group does, with a leader of their own."""
    play = ConsumerPlaybook(t=4)
    members = classic_group(play, "a", "b")
    newcomer = play.consumer("n", "t")
    newcomer.join()
    go_on(play, *members, newcomer)
    epoch = play.group.group_epoch
    newcomer.leave()

    assert play.shard.durable.consumer_groups == {}
    assert play.state() == "PreparingRebalance"
    assert play.heartbeat(members[0].member_id, members[0].generation) in REBALANCING
    rebalance(play, members)
    assert members[0].generation > epoch
    assert shares(*members) == [2, 2]


def test_all_go_over_one_after_the_other() -> None:
    """A rolling upgrade: each classic member leaves and comes back as one of the new protocol."""
    play = ConsumerPlaybook(t=4)
    old = classic_group(play, "a", "b")
    new: list[Consumer] = []
    while old:
        gone = old.pop()
        play.leave((gone.member_id, None))
        newcomer = play.consumer(f"new-{gone.name}", "t")
        newcomer.join()
        new.append(newcomer)
        go_on(play, *old, *new)
        assert sum(shares(*old, *new)) == 4

    assert shares(*new) == [2, 2]
    assert {member.classic for member in play.group.members.values()} == {None}


@pytest.mark.parametrize("policy", [MigrationPolicy.DISABLED, MigrationPolicy.DOWNGRADE])
def test_a_policy_against_it_keeps_the_group_classic(policy: MigrationPolicy) -> None:
    """group.consumer.migration.policy: the newcomer is refused, and the group does not notice."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_migration_policy=policy), t=4)
    members = classic_group(play, "a", "b")
    newcomer = play.consumer("n", "t")

    assert newcomer.join().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert [member.beat() for member in members] == [ErrorCode.NONE] * 2
    assert shares(*members) == [2, 2]


def test_committed_offsets_go_along_both_ways() -> None:
    """What was committed before is there after each conversion, and each kind commits in its own way."""
    play = ConsumerPlaybook(t=4)
    (member,) = classic_group(play, "a")
    play.commit(member.member_id, member.generation, offset=3)
    newcomer = play.consumer("n", "t")
    newcomer.join()
    go_on(play, member, newcomer)
    assert play.fetch() == 3
    assert play.committed(play.commit("n", newcomer.epoch, offset=5)) == ErrorCode.NONE
    assert play.committed(play.commit(member.member_id, member.generation, offset=6)) == ErrorCode.NONE
    newcomer.leave()

    assert play.fetch() == 6


@pytest.mark.parametrize("rounds", range(5))
def test_a_conversion_survives_a_restart_at_any_time(rounds: int) -> None:
    """Both kinds of members are in the log with what they have and what they offer."""
    play = ConsumerPlaybook(t=4)
    members = classic_group(play, "a", "b")
    newcomer = play.consumer("n", "t")
    newcomer.join()
    everyone: list[ClassicOne | Consumer] = [*members, newcomer]
    for member in (everyone * 3)[:rounds]:
        member.beat()
    play.restart(after_ms=1_000)
    go_on(play, *everyone)

    assert shares(*everyone) == [1, 1, 2]
    assert set(play.group.members) == {members[0].member_id, members[1].member_id, "n"}


def test_a_classic_member_in_a_consumer_group_is_dropped_after_its_own_session() -> None:
    """Its session time-out is the one that it joined with, not the group's."""
    play = ConsumerPlaybook(t=4)
    (member,) = classic_group(play, "a")
    newcomer = play.consumer("n", "t")
    newcomer.join()
    go_on(play, member, newcomer)
    heard_ms = play.now_ms
    play.at(heard_ms + SESSION_MS - 1)
    assert member.member_id in play.group.members
    play.at(heard_ms + SESSION_MS)
    newcomer.beat()

    assert shares(newcomer) == [4]
    assert member.beat() is ErrorCode.UNKNOWN_MEMBER_ID
