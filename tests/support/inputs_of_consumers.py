"""A consumer group in each of its states, and every input that may meet it.

Called by the table of their outcomes, and by the runs of any inputs in any order.

Source: KIP-848.
"""

from collections.abc import Callable, Mapping

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from wirekafka.groups.consumer.group import ConsumerGroupState as State
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.apis.delete_groups import DeletableGroupResult
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

E = ErrorCode
STATES = [State.DEAD, State.EMPTY, State.ASSIGNING, State.RECONCILING, State.STABLE]
SESSION_MS = 45_000
PARTITIONS = 6


class Scene:
    """A group of the dynamic members a and b, and the static one s of instance i, in one of the states.

    Of the dead group there never was anything; the empty one has lost all three.
    """

    def __init__(self, state: State) -> None:
        self.play = ConsumerPlaybook(t=PARTITIONS, u=1)
        self.a, self.b = self.play.consumer("a", "t"), self.play.consumer("b", "t")
        self.s = self.play.consumer("s", "t", instance="i")
        if state is State.DEAD:
            self.a.epoch = self.b.epoch = self.s.epoch = 3
            return
        for member in (self.a, self.b, self.s):
            member.join()
            self.play.pass_ms(1_000)
        self.play.settle(self.a, self.b, self.s)
        if state is State.EMPTY:
            self._leave()
        if state in (State.ASSIGNING, State.RECONCILING):
            self.play.pass_ms(1_000)
            self.play.consumer("c", "t").join()
        if state is State.ASSIGNING:
            self.play.consumer("d", "t").join()

    def _leave(self) -> None:
        epoch = self.a.epoch
        for member in (self.a, self.b, self.s):
            member.leave()
            member.epoch = epoch

    @property
    def state(self) -> State:
        group = self.play.shard.durable.consumer_groups.get("g")
        return State.DEAD if group is None else group.state


def joins(name: str, *topics: str, **said: str | None) -> Callable[[Scene], int]:
    """A member of these topics joins."""
    return lambda scene: scene.play.consumer(name, *topics, **said).join().error_code


def says(who: str, epoch: int | None = None, **fields: object) -> Callable[[Scene], int]:
    """A member sends a heartbeat of this epoch with these fields, and its own epoch if none is named."""

    def said(scene: Scene) -> int:
        member: Consumer = getattr(scene, who)
        if epoch is not None:
            member.epoch = epoch
        return member.say(**fields).error_code

    return said


def joins_with(**fields: object) -> Callable[[Scene], int]:
    """A new member's first request, with these fields in place of the right ones."""
    first: Mapping[str, object] = {
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["t"],
        "topic_partitions": [],
    }
    return lambda scene: scene.play.consumer("n", "t").say(**{**first, **fields}).error_code


def joins_without_id(scene: Scene) -> int:
    """A version 0 member leaves it to the broker to find it an id."""
    scene.play.member_id_required = False
    nameless = scene.play.consumer("n", "t")
    nameless.member_id = ""
    return nameless.join().error_code


def joins_without_the_id_it_needs(scene: Scene) -> int:
    nameless = scene.play.consumer("n", "t")
    nameless.member_id = ""
    return nameless.join().error_code


def lost_an_answer(scene: Scene) -> int:
    """The member's epoch is the one before the last, and it has nothing that it was not given."""
    scene.a.epoch = _previous_epoch(scene)
    return scene.a.say(topic_partitions=[]).error_code


def lost_an_answer_and_has_too_much(scene: Scene) -> int:
    scene.a.epoch = _previous_epoch(scene)
    everything = HeartbeatTopicPartitions(topic_id=scene.play.id_of("t"), partitions=list(range(PARTITIONS)))
    return scene.a.say(topic_partitions=[everything]).error_code


def _previous_epoch(scene: Scene) -> int:
    group = scene.play.shard.durable.consumer_groups.get("g")
    known = None if group is None else group.members.get("a")
    return 1 if known is None else known.previous_member_epoch


def another_takes_the_instance(scene: Scene) -> int:
    """The static member says that it will be back, and comes back under another id."""
    scene.s.leave(for_a_while=True)
    return scene.play.consumer("s2", "t", instance="i").join().error_code


def returns_late(scene: Scene) -> int:
    """The static member's old process goes on after another took its instance id."""
    epoch = scene.s.epoch
    another_takes_the_instance(scene)
    scene.s.epoch = epoch
    return scene.s.say().error_code


def named_as(who: str, instance: str, epoch: int | None = None) -> Callable[[Scene], int]:
    """A member gives an instance id that is not its own."""

    def said(scene: Scene) -> int:
        member: Consumer = getattr(scene, who)
        member.instance = instance
        return says(who, epoch)(scene)

    return said


def unknown(epoch: int) -> Callable[[Scene], int]:
    """A member that nobody knows sends this epoch."""
    request = ConsumerGroupHeartbeatRequest(group_id="g", member_id="nobody", member_epoch=epoch)
    return lambda scene: scene.play.heartbeat_of(request, scene.a.client).error_code


def commits(member_id: str, behind: int = 0) -> Callable[[Scene], int]:
    """A commit by a member, with its epoch or one that is so many behind it."""
    return lambda scene: scene.play.committed(scene.play.commit(member_id, scene.a.epoch - behind))


def commits_alone(scene: Scene) -> int:
    """A commit from outside of group management."""
    return scene.play.committed(scene.play.commit("", -1))


def is_deleted(scene: Scene) -> int:
    ticket = scene.play.draw()
    scene.play.run(scene.play.shard.delete_group("g", ticket=ticket, now_ms=scene.play.now_ms))
    result = scene.play.answers[ticket]
    assert isinstance(result, DeletableGroupResult)
    return result.error_code


def is_described(scene: Scene) -> int:
    try:
        return scene.play.shard.describe_consumer_group("g").error_code
    except KafkaError as error:
        return error.code


def falls_silent(scene: Scene) -> int:
    """Nobody is heard of for a session time-out."""
    scene.play.pass_ms(SESSION_MS)
    return 0


def loses_its_broker(scene: Scene) -> int:
    scene.play.restart(after_ms=1_000)
    return scene.a.say().error_code


def grows(scene: Scene) -> int:
    """The topic has more partitions, and a member's heartbeat is the first to come."""
    scene.play.create("t", PARTITIONS + 2)
    return scene.a.say().error_code


INPUTS: dict[str, Callable[[Scene], int]] = {
    "join of a new member": joins("n", "t"),
    "join of a new member that reads nothing": joins("n"),
    "join of a new static member": joins("n", "t", instance="j"),
    "join by a regular expression": joins("n", regex="t|u"),
    "join by a broken regular expression": joins("n", regex="("),
    "join with an assignor nobody knows": joins("n", "t", assignor="sticky"),
    "join of a member again": lambda scene: scene.a.join().error_code,
    "join under an instance id": joins("n", "t", instance="i"),
    "join in place of one that left for a while": another_takes_the_instance,
    "join without a rebalance time-out": joins_with(rebalance_timeout_ms=-1),
    "join with partitions": joins_with(
        topic_partitions=[HeartbeatTopicPartitions(topic_id=bytes(15) + b"\1", partitions=[0])]
    ),
    "join that does not say what it has": joins_with(topic_partitions=None),
    "join without a subscription": joins_with(subscribed_topic_names=None),
    "join with an empty rack": joins_with(rack_id=""),
    "join without an id": joins_without_id,
    "join without the id it needs": joins_without_the_id_it_needs,
    "heartbeat": says("a"),
    "heartbeat of a static member": says("s"),
    "heartbeat of an unknown id": unknown(3),
    "heartbeat of an epoch long past": says("a", 1),
    "heartbeat of an epoch to come": says("a", 1_000),
    "heartbeat of no epoch": says("a", -3),
    "heartbeat of the previous epoch": lost_an_answer,
    "heartbeat of the previous epoch with too much": lost_an_answer_and_has_too_much,
    "heartbeat under another's instance id": named_as("a", "i"),
    "heartbeat under an unknown instance id": named_as("a", "nobody"),
    "heartbeat of one whose place was taken": returns_late,
    "heartbeat with another subscription": says("a", subscribed_topic_names=["u"]),
    "heartbeat with another assignor": says("a", server_assignor="range"),
    "heartbeat after its topic grew": grows,
    "leave": says("a", -1),
    "leave of an unknown id": unknown(-1),
    "leave of a static member": says("s", -1),
    "leave under another's instance id": named_as("a", "i", -1),
    "leave for a while": says("s", -2),
    "leave for a while of a dynamic member": says("a", -2),
    "leave for a while under another's instance id": named_as("a", "i", -2),
    "commit": commits("a"),
    "commit of an unknown id": commits("nobody"),
    "commit of an epoch to come": commits("a", -7),
    "commit without a member": commits_alone,
    "deletion": is_deleted,
    "description": is_described,
    "silence": falls_silent,
    "restart of the broker": loses_its_broker,
}
