"""Members by both protocols in one group: upgrades, downgrades, and classic members that the broker assigns.

Called by `run`, with brokers of each group.consumer.migration.policy.
Source: KIP-848, "Online migration"; Kafka's GroupMetadataManager.
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.consumer_groups import (
    ConsumerGroup,
    ConsumerMember,
    create_topic_for_groups,
)
from compat_tests.differential.groups import Asker, Protocols, assignment, await_groups, subscription
from compat_tests.differential.side import Side
from compat_tests.differential.topics import Topic
from compat_tests.differential.wire import TIMEOUT_SECONDS, Connection, framed, request_body
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from wirekafka.protocol.apis.sync_group import SyncGroupRequest

OTHER_TOPIC = "mixed-too"
SECONDS_OF_SILENCE = 2.0
JOIN, JOIN_KEY, SYNC_KEY, SYNC = 9, 11, 14, 5


def mixing(side: Side) -> None:
    """Mix members of both protocols, where the broker lets a group go both ways."""
    await_groups(side)
    topic = create_topic_for_groups(side, "mixed", 4)
    create_topic_for_groups(side, OTHER_TOPIC, 2)
    _stable_group_is_upgraded(_Mixed(side, "upgraded", topic))
    _group_is_downgraded(_Mixed(side, "downgraded", topic))
    _downgraded_by_replacement(_Mixed(side, "replaced", topic))
    _group_at_a_rebalance_is_upgraded(side, topic)
    _empty_group_changes_its_kind(_Mixed(side, "emptied", topic))
    _groups_that_cannot_be_upgraded(side, topic)
    _classic_member_is_assigned(_Mixed(side, "assigned", topic))
    _classic_member_errs(_Mixed(side, "erring", topic))
    _static_classic_member(_Mixed(side, "static", topic))


def mixing_disabled(side: Side) -> None:
    """Mix members where the broker lets a group go neither way."""
    mixing(side)


def mixing_upgrade(side: Side) -> None:
    """Mix members where the broker lets a group go to the new protocol."""
    mixing(side)


def mixing_downgrade(side: Side) -> None:
    """Mix members where the broker lets a group go back to the old protocol."""
    mixing(side)


class _Mixed:
    """One group, asked as a member of either protocol would."""

    def __init__(self, side: Side, name: str, topic: Topic) -> None:
        self.side, self.name, self.topic = side, f"mixed-{name}", topic
        self.classic = Asker(side, self.name, JOIN)
        self.consumer = ConsumerGroup(side, self.name, 1)

    def told(self, label: str) -> str:
        return f"{self.name}, {label}"

    def protocols(self, *held: int) -> Protocols:
        owned = [(self.topic.name, held)] if held else []
        return (("range", subscription(self.topic.name, owned=owned)),)

    def join_classic(
        self, label: str, member_id: str = "", *held: int, instance: str | None = None
    ) -> tuple[str, int]:
        """Join as a classic member; give its member id and the generation it got."""
        answer = self.classic.join_fully(
            self.told(label), member_id, protocols=self.protocols(*held), instance=instance
        )
        return answer.member_id, answer.generation_id

    def sync_classic(self, label: str, member_id: str, generation_id: int, *held: int) -> None:
        given = [(member_id, assignment((self.topic.name, held)))] if held else ()
        self.classic.sync(self.told(label), member_id, generation_id, assignments=given)

    def beat_classic(self, label: str, member_id: str, generation_id: int) -> None:
        self.classic.heartbeat(self.told(label), member_id, generation_id)

    def join(self, member: ConsumerMember, label: str, topic: str | None = None) -> bool:
        """Join as a new member, and tell whether it may.

        For another topic where it must not matter in which order members are taken: that order goes by the
        hashes of member ids, which are random for classic members.
        """
        answer = member.join(self.told(label), self.topic.name if topic is None else topic)
        return answer is not None and answer.error_code == 0

    def commit(self, label: str, member_id: str, generation_id: int) -> None:
        partition = OffsetCommitRequestPartition(
            partition_index=0, committed_offset=7, committed_metadata="m"
        )
        topic = OffsetCommitRequestTopic(name=self.topic.name, partitions=[partition])
        request = OffsetCommitRequest(
            group_id=self.name,
            member_id=member_id,
            generation_id_or_member_epoch=generation_id,
            topics=[topic],
        )
        self.side.ask(self.told(label), request, 9)

    def look(self, label: str) -> None:
        """Describe the group by both protocols, list it, and fetch its offsets."""
        self.consumer.describe(self.told(f"describe {label}"))
        self.classic.describe(self.told(f"describe as classic {label}"))
        listed = ListGroupsRequest(types_filter=["classic", "consumer"])
        self.side.ask(self.told(f"list {label}"), listed, 5, keep=self._keep)
        wanted = OffsetFetchRequestGroup(group_id=self.name, topics=None)
        self.side.ask(self.told(f"fetch {label}"), OffsetFetchRequest(groups=[wanted]), 9)

    # Any: a ListGroupsResponse.
    def _keep(self, answer: Any) -> None:
        answer.groups = [group for group in answer.groups if group.group_id == self.name]


def _stable_group_is_upgraded(group: _Mixed) -> None:
    member, generation = group.join_classic("classic joins")
    group.sync_classic("classic syncs", member, generation, 0, 1, 2, 3)
    group.commit("classic commits", member, generation)
    group.look("before the upgrade")
    newer = group.consumer.member("m-new")
    group.join(newer, "newer joins")
    group.look("after the upgrade")
    group.beat_classic("classic hears of it", member, generation)
    group.commit("classic commits before it rejoins", member, generation)
    group.sync_classic("classic syncs before it rejoins", member, generation)
    newer.beat(group.told("newer waits"))
    member, generation = group.join_classic("classic rejoins", member, 0, 1)
    group.sync_classic("classic syncs again", member, generation)
    newer.beat(group.told("newer gets its part"))
    newer.report(group.told("newer reports"))
    group.beat_classic("classic beats", member, generation)
    group.beat_classic("classic beats at another generation", member, generation + 1)
    group.commit("classic commits again", member, generation)
    group.commit("classic commits at another generation", member, generation - 1)
    group.look("when both are there")
    group.classic.leave(group.told("classic leaves"), (member, None))
    newer.beat(group.told("newer gets all"))
    newer.report(group.told("newer reports all"))
    group.look("when the classic member has left")


def _group_is_downgraded(group: _Mixed) -> None:
    newer, other = group.consumer.member("m-new"), group.consumer.member("m-other")
    group.join(newer, "newer joins")
    newer.report(group.told("newer reports"))
    member, generation = group.join_classic("classic joins")
    group.sync_classic("classic syncs", member, generation)
    group.join(other, "another newer one joins", OTHER_TOPIC)
    other.leave(group.told("another newer one leaves"))
    group.look("while one of each is there")
    newer.leave(group.told("newer leaves"))
    group.look("after the downgrade")
    group.beat_classic("classic hears of it", member, generation)
    newer.beat(group.told("newer beats after it left"))
    member, generation = group.join_classic("classic rejoins", member)
    group.sync_classic("classic syncs what it decides", member, generation, 0, 1, 2, 3)
    group.beat_classic("classic beats", member, generation)
    group.commit("classic commits", member, generation)
    group.look("when it is classic")
    group.join(newer, "newer is there again")
    group.look("when newer is there again")


def _downgraded_by_replacement(group: _Mixed) -> None:
    """The last member by the new protocol is static, and comes back as a classic member."""
    newer = group.consumer.member("m-new")
    newer.join(group.told("static joins"), group.topic.name, instance="i")
    member, generation = group.join_classic("classic joins")
    newer.leave(group.told("static goes for a while"), -2, instance="i")
    group.look("while the static one is away")
    group.join_classic("static comes back as a classic one", instance="i")
    group.look("when it is back")
    group.beat_classic("the other hears of it", member, generation)


def _group_at_a_rebalance_is_upgraded(side: Side, topic: Topic) -> None:
    """A join or a sync that waits is answered when the group changes its kind."""
    completing = _Mixed(side, "completing", topic)
    member, generation = completing.join_classic("classic joins")
    completing.look("while the leader has not synced")
    newer = completing.consumer.member("m-new")
    completing.join(newer, "newer joins while the leader has not synced", OTHER_TOPIC)
    completing.sync_classic("classic syncs too late", member, generation, 0, 1, 2, 3)
    completing.beat_classic("classic beats", member, generation)
    completing.look("after that")
    preparing = _Mixed(side, "preparing", topic)
    member, generation = preparing.join_classic("classic joins")
    preparing.sync_classic("classic syncs", member, generation, 0, 1, 2, 3)
    other = side.another()
    try:
        _join_waits(preparing, other, member, generation)
    finally:
        other.close()


def _join_waits(group: _Mixed, other: Connection, member: str, generation: int) -> None:
    side = group.side
    given = side.arrange(group.classic.join_request(protocols=group.protocols()), JOIN)
    group.classic.join_waiting(other, given.member_id, protocols=group.protocols())
    group.classic.await_rebalance(member, generation)
    group.beat_classic("classic hears of another", member, generation)
    newer = group.consumer.member("m-new")
    # Where the group may not be upgraded, the join waits on, and so does what is sent behind it.
    upgraded = group.join(newer, "newer joins while a join waits", OTHER_TOPIC)
    patience_seconds = TIMEOUT_SECONDS if upgraded else SECONDS_OF_SILENCE
    side.receive(group.told("the join that waited"), other, JOIN_KEY, JOIN, patience_seconds=patience_seconds)
    group.look("when nobody waits")
    request = SyncGroupRequest(
        group_id=group.name,
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[],
    )
    other.send(framed(request_body(request, SYNC)))
    side.receive(group.told("a sync after that"), other, SYNC_KEY, SYNC, patience_seconds=patience_seconds)


def _empty_group_changes_its_kind(group: _Mixed) -> None:
    group.commit("a simple commit", "", -1)
    newer = group.consumer.member("m-new")
    group.join(newer, "newer joins where offsets are")
    group.look("when it is of the new kind")
    newer.leave(group.told("newer leaves"))
    group.look("when it is empty")
    member, generation = group.join_classic("classic joins the empty one")
    group.sync_classic("classic syncs", member, generation, 0)
    group.look("when it is classic")
    group.classic.leave(group.told("classic leaves"), (member, None))
    group.join(newer, "newer joins the empty classic one")
    group.look("when it is new again")


def _groups_that_cannot_be_upgraded(side: Side, topic: Topic) -> None:
    connect = _Mixed(side, "connect", topic)
    answer = connect.classic.join_fully(connect.told("a worker joins"), protocol_type="connect")
    connect.classic.sync(
        connect.told("a worker syncs"), answer.member_id, answer.generation_id, protocol=("connect", "range")
    )
    connect.join(connect.consumer.member("m"), "newer joins workers")
    connect.look("after that")
    odd = _Mixed(side, "odd", topic)
    answer = odd.classic.join_fully(odd.told("one with an odd subscription joins"))
    odd.classic.sync(odd.told("one with an odd subscription syncs"), answer.member_id, answer.generation_id)
    odd.join(odd.consumer.member("m"), "newer joins odd ones")
    odd.look("after that")


def _classic_member_is_assigned(group: _Mixed) -> None:
    newer = group.consumer.member("m-new")
    group.join(newer, "newer joins")
    newer.report(group.told("newer reports"))
    member, generation = group.join_classic("classic joins")
    group.look("when classic has joined")
    group.beat_classic("classic beats before it syncs", member, generation)
    group.sync_classic("classic syncs before there is anything", member, generation)
    newer.beat(group.told("newer hears"))
    newer.report(group.told("newer has given up"))
    group.beat_classic("classic hears", member, generation)
    member, generation = group.join_classic("classic rejoins", member)
    group.sync_classic("classic gets its part", member, generation)
    group.sync_classic("classic gets it again", member, generation)
    group.beat_classic("classic beats", member, generation)
    group.look("when all is shared")
    group.classic.leave(group.told("classic leaves and others do not"), ("m-nobody", None), (member, None))
    group.look("when classic has left")


def _classic_member_errs(group: _Mixed) -> None:
    newer = group.consumer.member("m-new")
    group.join(newer, "newer joins")
    ask, told = group.classic, group.told
    ask.join(told("join by another type"), protocol_type="connect", protocols=group.protocols())
    ask.join(told("join with an odd subscription"))
    ask.join(told("join without protocols"), protocols=())
    ask.join(told("join by an unknown member"), "m-nobody", protocols=group.protocols())
    ask.leave(told("leave of the unknown member"), ("m-nobody", None))
    ask.join(told("join with a short session"), session_ms=5, protocols=group.protocols())
    ask.join(told("join by the newer one's id"), "m-new", protocols=group.protocols())
    member, generation = group.join_classic("classic joins")
    ask.sync(told("sync at another generation"), member, generation + 1)
    ask.sync(told("sync of an unknown member"), "m-nobody", generation)
    ask.sync(told("sync of the newer one"), "m-new", newer.epoch)
    ask.sync(told("sync of another protocol"), member, generation, protocol=("consumer", "sticky"))
    ask.sync(told("sync of another type"), member, generation, protocol=("connect", "range"))
    ask.heartbeat(told("heartbeat of an unknown member"), "m-nobody", generation)
    ask.heartbeat(told("heartbeat of the newer one"), "m-new", newer.epoch)
    ask.heartbeat(told("heartbeat with an instance"), member, generation, instance="i")
    group.consumer.beat(told("beat of the classic one"), member, generation)
    group.consumer.beat(told("beat that leaves, of the classic one"), member, -1)
    ask.leave(told("leave of the newer one"), ("m-new", None))
    ask.leave(told("leave of an unknown instance"), ("", "i"))
    group.look("after errors")
    ask.join(told("join for another topic"), member, protocols=(("range", subscription("mixed-nowhere")),))
    ask.join(told("join for no topic"), member, protocols=(("range", subscription()),))
    group.look("for no topic")


def _static_classic_member(group: _Mixed) -> None:
    newer = group.consumer.member("m-new")
    group.join(newer, "newer joins")
    member, generation = group.join_classic("classic joins as static", instance="i")
    group.sync_classic("classic syncs", member, generation)
    again, generation = group.join_classic("classic joins as static again", instance="i")
    group.beat_classic("the one before beats", member, generation)
    group.classic.heartbeat(group.told("the one before beats by name"), member, generation, instance="i")
    group.classic.heartbeat(group.told("the one there beats by name"), again, generation, instance="i")
    other = group.consumer.member("m-other")
    other.join(group.told("newer joins by the same name"), group.topic.name, instance="i")
    group.look("with a static classic one")
    group.classic.leave(group.told("leaves by name"), ("", "i"))
    group.look("after it left")
