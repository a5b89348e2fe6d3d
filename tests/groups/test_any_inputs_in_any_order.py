"""Every input of the tables, in any order, of both protocols: what must hold after each.

The tables say what a single input does in each state; here states are reached that have no name.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.groups import test_every_state_and_input_of_consumers as consumers
from tests.groups import test_every_state_and_input_of_static_and_pending as classic
from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupShard, records
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.machine import KeyValue
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

ANY_STATE = st.sampled_from(classic.STATES)
STEPS = 12


class SceneOfAny(Protocol):
    """A scene of either table."""

    @property
    def play(self) -> GroupPlaybook: ...


Step = Callable[[consumers.Scene], object]


def everybody_beats(scene: consumers.Scene) -> None:
    """The members do what they are told, and say so."""
    for member in (scene.a, scene.b, scene.s):
        if member.epoch > 0:
            member.beat()


def nobody_gives_up(scene: consumers.Scene) -> None:
    for member in (scene.a, scene.b, scene.s):
        if member.epoch > 0:
            member.beat(revokes=False)


def a_second_passes(scene: consumers.Scene) -> None:
    scene.play.pass_ms(1_000)


def appends_fail(scene: consumers.Scene) -> None:
    scene.play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")


def appends_succeed(scene: consumers.Scene) -> None:
    scene.play.append_error = None


CONSUMER_STEPS: list[Step] = [
    *consumers.INPUTS.values(),
    *[everybody_beats] * 12,
    *[a_second_passes] * 6,
    *[nobody_gives_up] * 2,
    appends_fail,
    *[appends_succeed] * 3,
]


def durable_of(log: Sequence[KeyValue]) -> object:
    """What a restart would know."""
    shard = GroupShard(0, GroupPlaybook().config)
    for item in log:
        record = records.decode(item)
        assert record is not None
        shard.apply(record)
    return shard.durable


def compacted(log: Sequence[KeyValue]) -> list[KeyValue]:
    """Keep the newest record of each key."""
    newest = {item.key: place for place, item in enumerate(log)}
    return [item for place, item in enumerate(log) if newest[item.key] == place]


def check_log(scene: SceneOfAny) -> None:
    """What the log says is what the shard knows, before compaction and after; and who is parked, waits."""
    play = scene.play
    assert durable_of(play.log) == play.shard.durable
    assert durable_of(compacted(play.log)) == play.shard.durable
    assert set(play.shard.volatile.parked) == play.waiting


def check_group(group: ConsumerGroup, before: ConsumerGroup | None) -> None:
    """Nothing has two owners; epochs do not go back."""
    owned = [
        (topic_id, index)
        for member in group.members.values()
        for assigned in (member.assigned, member.partitions_pending_revocation)
        for topic_id, partitions in assigned.items()
        for index in partitions
    ]
    assert len(owned) == len(set(owned))
    assert group.assignment_epoch <= group.group_epoch
    assert all(member.member_epoch <= group.group_epoch for member in group.members.values())
    assert set(group.static_members.values()) <= set(group.members)
    if before is group:
        return
    assert before is None or not before.members, "a group with members is not made anew"


@given(
    state=st.sampled_from(consumers.STATES), steps=st.lists(st.sampled_from(CONSUMER_STEPS), max_size=STEPS)
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_consumer_groups_bear_any_inputs(state: object, steps: list[Step]) -> None:
    """No partition with two owners, no epoch that goes back, and a log that says it all."""
    scene = consumers.Scene(state)  # type: ignore[arg-type]
    epochs = (0, 0)
    for step in steps:
        before = scene.play.shard.durable.consumer_groups.get("g")
        length = len(scene.play.log)
        step(scene)

        check_log(scene)
        group = scene.play.shard.durable.consumer_groups.get("g")
        if group is None:
            epochs = (0, 0)
            continue
        if step is not consumers.loses_its_broker:
            check_group(group, before if length < len(scene.play.log) and before else group)
        assert epochs <= (group.group_epoch, group.assignment_epoch)
        epochs = (group.group_epoch, group.assignment_epoch)

    scene.play.append_error = None
    scene.play.pass_ms(3 * consumers.SESSION_MS)
    assert "g" not in scene.play.shard.durable.consumer_groups or scene.play.group.is_empty


@given(state=ANY_STATE, names=st.lists(st.sampled_from(sorted(classic.INPUTS)), max_size=STEPS))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_classic_groups_bear_any_inputs(state: object, names: list[str]) -> None:
    """Generations do not go back, the log says it all, and whoever waits is answered in the end."""
    scene = classic.Scene(state)  # type: ignore[arg-type]
    generation = -1
    for name in names:
        classic.INPUTS[name](scene)

        check_log(scene)
        group = scene.play.shard.volatile.groups.get("g")
        assert group is None or group.generation_id >= generation
        generation = -1 if group is None else group.generation_id

    scene.play.at(scene.play.now_ms + 20 * classic.SESSION_MS)
    assert not scene.play.waiting
    assert scene.play.state() in ("Empty", "Dead")
