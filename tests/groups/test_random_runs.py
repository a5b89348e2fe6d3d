"""Random runs of a group shard, with invariants after every step.

Members join, sync, beat, leave, commit and hang up as they please; time passes; appends fail; the
broker is killed.
"""

import random
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.invariants import check_classic_group
from tests.support.playbook import GroupPlaybook
from wirekafka.groups import DeletedTopic, GroupConfig
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.deadlines import SessionDeadline
from wirekafka.machine import Ticket
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

STEPS = ["join", "rejoin", "rejoin", "sync", "beat", "leave", "commit", "wait", "settle", "settle"]
RARE = ["forget", "fail", "mend", "restart", "delete topic"]
PROTOCOLS = [{"range": b""}] * 4 + [{"range": b"x"}, {"sticky": b"", "range": b""}, {"sticky": b""}, {}]


class RandomRun:
    """Takes random steps, choosing what to send by what it knows of the group."""

    def __init__(self, seed: int, config: GroupConfig) -> None:
        self.random = random.Random(seed)
        self.play = GroupPlaybook(config)
        self.generation = -1

    @property
    def group(self) -> ClassicGroup | None:
        return self.play.shard.volatile.classic_groups.get("g")

    def some_member(self) -> str:
        group = self.group
        known = [] if group is None else [*group.members, *sorted(group.pending_members)]
        return self.random.choice([*known, *known, "nobody", ""])

    def some_instance(self, member_id: str) -> str | None:
        member = self.group.members.get(member_id) if self.group is not None else None
        own = None if member is None else member.group_instance_id
        return self.random.choice([own, own, own, own, "i1", None])

    def some_generation(self) -> int:
        group = self.group
        return self.random.choice([-1, 0, *[0 if group is None else group.generation_id] * 6])

    def step(self, name: str) -> None:
        play, member_id = self.play, self.some_member()
        instance, generation = self.some_instance(member_id), self.some_generation()
        match name:
            case "join":
                self.join("", self.random.choice([None, None, "i1", "i2"]))
            case "rejoin":
                self.join(member_id, instance)
            case "sync":
                group = self.group
                plan = {} if group is None else {m: m.encode() for m in group.members}
                play.sync(member_id, generation, plan, instance=instance)
            case "beat":
                play.heartbeat(member_id, generation, instance=instance)
            case "leave":
                play.leave((member_id, instance), (self.some_member(), None))
            case "commit":
                play.commit(member_id, generation, topic=self.random.choice("tu"), instance=instance)
            case "wait":
                play.at(play.now_ms + self.random.choice([1, 1_000, 3_000, 7_000, 20_000]))
            case "settle":
                self.settle()
            case "forget":
                self.forget()
            case "fail":
                play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
            case "mend":
                play.append_error = None
            case "restart":
                play.restart(after_ms=self.random.choice([0, 5_000]))
                self.generation = -1
            case "delete topic":
                play.run(play.shard.delete_offsets_of_topics([DeletedTopic("t", bytes(16))]))

    def join(self, member_id: str, instance: str | None) -> None:
        self.play.join(
            "m",
            member_id,
            instance=instance,
            protocols=self.random.choice(PROTOCOLS),
            session_ms=self.random.choice([6_000, 10_000]),
            rebalance_ms=self.random.choice([0, 5_000, 15_000]),
            member_id_required=self.random.random() < 0.5,
            skip_assignment_known=self.random.random() < 0.5,
        )

    def settle(self) -> None:
        """Let the members finish the rebalance, if there is one, as well-behaved clients do."""
        group = self.group
        if group is not None and group.is_preparing:
            for member in list(group.members.values()):
                if member.member_id not in group.awaiting_join and member.member_id in group.members:
                    self.join(member.member_id, member.group_instance_id)
            self.play.at(self.play.now_ms + 3_000)
        if group is not None and group.is_completing and self.random.random() < 0.8:
            leader = group.members[group.leader_id or ""]
            plan = {member_id: member_id.encode() for member_id in group.members}
            self.play.sync(leader.member_id, group.generation_id, plan, instance=leader.group_instance_id)

    def forget(self) -> None:
        if self.play.waiting:
            ticket = self.random.choice(sorted(self.play.waiting))
            self.play.waiting.remove(ticket)
            self.play.shard.forget(Ticket(ticket))

    def check(self) -> None:
        play, volatile = self.play, self.play.shard.volatile
        wake_ms = play.machine.wake_at_ms()
        assert wake_ms is not None
        play.check_log()
        group = self.group
        if group is None:
            self.generation = -1
            return
        assert group.generation_id >= self.generation
        self.generation = group.generation_id
        assert group.unwritten is None
        assert group.replacement is None
        check_classic_group(group)
        for member_id in group.members:
            if member_id not in group.awaiting_join and member_id not in group.awaiting_sync:
                assert SessionDeadline("g", member_id) in volatile.deadlines
        for member_id in group.pending_members:
            assert SessionDeadline("g", member_id) in volatile.deadlines


@given(
    seed=st.integers(0, 2**32),
    names=st.lists(st.sampled_from(STEPS * 3 + RARE), min_size=20, max_size=80),
    config=st.sampled_from(
        [
            GroupConfig(),
            GroupConfig(group_initial_rebalance_delay_ms=0),
            GroupConfig(group_max_size=2),
            GroupConfig(offsets_retention_ms=20_000, offsets_retention_check_interval_ms=5_000),
        ]
    ),
)
@settings(max_examples=120, deadline=None)
def test_any_run_keeps_the_invariants(seed: int, names: list[str], config: GroupConfig) -> None:
    """Generations go up, tickets are answered once, replay finds the durable state, all waits end."""
    run = RandomRun(seed, config)
    for name in names:
        run.step(name)
        run.check()
        run.play.at(run.play.now_ms)
        assert cast(int, run.play.machine.wake_at_ms()) > run.play.now_ms

    run.play.append_error = None
    run.play.at(run.play.now_ms + 600_000)
    run.check()
    assert not run.play.waiting
    assert run.play.state() in ("Empty", "Dead")
