"""Every input of the tables, in any order, of both protocols: what must hold after each.

The tables say what a single input does in each state; here states are reached that have no name.
"""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import inputs_of_consumers as consumers
from tests.support import inputs_of_static_members as classic
from tests.support.invariants import check_classic_group, check_consumer_group
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

ANY_STATE = st.sampled_from(classic.STATES)
STEPS = 12


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


@given(
    state=st.sampled_from(consumers.STATES), steps=st.lists(st.sampled_from(CONSUMER_STEPS), max_size=STEPS)
)
@settings(max_examples=60)
def test_consumer_groups_bear_any_inputs(state: object, steps: list[Step]) -> None:
    """No partition with two owners, no epoch that goes back, and a log that says it all."""
    scene = consumers.Scene(state)  # type: ignore[arg-type]
    epochs = (0, 0)
    for step in steps:
        before = scene.play.shard.durable.consumer_groups.get("g")
        length = len(scene.play.log)
        step(scene)

        scene.play.check_log()
        group = scene.play.shard.durable.consumer_groups.get("g")
        if group is None:
            epochs = (0, 0)
            continue
        if step is not consumers.loses_its_broker:
            check_consumer_group(group, before if length < len(scene.play.log) and before else group)
        assert epochs <= (group.group_epoch, group.assignment_epoch)
        epochs = (group.group_epoch, group.assignment_epoch)

    scene.play.append_error = None
    scene.play.pass_ms(3 * consumers.SESSION_MS)
    assert "g" not in scene.play.shard.durable.consumer_groups or scene.play.group.is_empty


@given(state=ANY_STATE, names=st.lists(st.sampled_from(sorted(classic.INPUTS)), max_size=STEPS))
@settings(max_examples=60)
def test_classic_groups_bear_any_inputs(state: object, names: list[str]) -> None:
    """Generations do not go back, the log says it all, and whoever waits is answered in the end."""
    scene = classic.Scene(state)  # type: ignore[arg-type]
    generation = -1
    for name in names:
        classic.INPUTS[name](scene)

        scene.play.check_log()
        group = scene.play.shard.volatile.classic_groups.get("g")
        if group is None:
            generation = -1
            continue
        assert group.generation_id >= generation
        generation = group.generation_id
        check_classic_group(group)

    scene.play.at(scene.play.now_ms + 20 * classic.SESSION_MS)
    assert not scene.play.waiting
    assert scene.play.state() in ("Empty", "Dead")
