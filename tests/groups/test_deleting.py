"""Tests of groups/deleting.py."""

from typing import cast

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import DeletedTopic, GroupConfig
from wirekafka.groups.consumer.group import ConsumerGroup, ResolvedRegularExpression
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.deleting import tombstones_of_group
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.records import (
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    ConsumerGroupPartitionMetadata,
    ConsumerGroupRegularExpression,
    ConsumerGroupTargetAssignmentMember,
    ConsumerGroupTargetAssignmentMetadata,
)
from wirekafka.protocol.apis.delete_groups import DeletableGroupResult
from wirekafka.protocol.apis.offset_delete import (
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteTopic,
)
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_protocol import ConsumerProtocolSubscription

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
ONE_ID, OTHER_ID = bytes([1]) * 16, bytes([2]) * 16


def subscription(*topics: str) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics))
    return b"\0\1" + codec_for(ConsumerProtocolSubscription, 1).build(body)


def delete_group(play: GroupPlaybook, group_id: str = "g") -> DeletableGroupResult:
    ticket = play.draw()
    play.run(play.shard.delete_group(group_id, ticket=ticket, now_ms=play.now_ms))
    return cast(DeletableGroupResult, play.answers[ticket])


def delete_offsets(
    play: GroupPlaybook, *topics: str, group_id: str = "g"
) -> tuple[int, dict[str, dict[int, int]]]:
    """Delete partitions 0 and 1 of topics, of which only partition 0 exists; give the codes."""
    ticket = play.draw()
    partitions = [OffsetDeletePartition(partition_index=index) for index in (0, 1)]
    asked = [OffsetDeleteTopic(name=name, partitions=partitions) for name in topics]
    decision = play.shard.delete_offsets(
        OffsetDeleteRequest(group_id=group_id, topics=asked),
        ticket=ticket,
        now_ms=play.now_ms,
        partition_exists=lambda topic, partition: partition == 0,
    )
    play.run(decision)
    answer = cast(OffsetDeleteResponse, play.answers[ticket])
    codes = {one.name: {p.partition_index: p.error_code for p in one.partitions} for one in answer.topics}
    return answer.error_code, codes


def stable_reader(play: GroupPlaybook, *topics: str) -> str:
    """Make a group whose one member subscribes to these topics; give its member id."""
    ticket = play.join("a", protocols={"range": subscription(*topics)}, session_ms=1_800_000)
    play.at(3_000)
    member_id = play.joined(ticket).member_id
    play.sync(member_id, 1, {})
    return member_id


def test_group_without_members_goes_with_its_offsets() -> None:
    """KIP-229; one batch of tombstones, and nothing comes back at a restart."""
    play = GroupPlaybook()
    play.stable("a")
    play.commit("a-1", 1)
    play.commit("a-1", 1, topic="u")
    play.leave(("a-1", None))
    result = delete_group(play)

    assert (result.group_id, result.error_code, result.error_message) == ("g", ErrorCode.NONE, None)
    assert [item.value for item in play.log[-3:]] == [None, None, None]
    for _ in range(2):
        assert play.shard.list_groups() == []
        assert play.shard.durable.offsets.by_group == {}
        play.restart()


def test_group_with_members_stays() -> None:
    """NON_EMPTY_GROUP in every state but Empty, in which a pending member is none."""
    play = GroupPlaybook()
    play.join("a")
    preparing = delete_group(play)
    play.at(3_000)
    completing = delete_group(play)
    play.sync("a-1", 1, {"a-1": b""})
    stable = delete_group(play)
    written = len(play.log)
    play.leave(("a-1", None))
    play.join("b", member_id_required=True)

    assert {one.error_code for one in (preparing, completing, stable)} == {ErrorCode.NON_EMPTY_GROUP}
    assert written == len(play.log) - 1
    assert delete_group(play).error_code == ErrorCode.NONE
    assert len(play.shard.volatile.deadlines) == 1


def test_group_that_is_not_there_cannot_be_deleted() -> None:
    """GROUP_ID_NOT_FOUND, and DeleteGroups v3 says so in words (KIP-1331)."""
    result = delete_group(GroupPlaybook(), "none")

    assert (result.error_code, result.error_message) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        "Group none not found.",
    )


def test_group_of_offsets_alone_is_deleted() -> None:
    """A consumer outside of group management leaves such a group."""
    play = GroupPlaybook()
    play.commit()

    assert delete_group(play).error_code == ErrorCode.NONE
    assert play.shard.list_groups() == []


def test_consumer_group_goes_when_it_has_no_members() -> None:
    """KIP-848."""
    play = GroupPlaybook()
    group = play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    group.put_member(ConsumerMember("m"))
    refused = delete_group(play)
    group.remove_member("m")
    ticket = play.draw()
    decision = play.shard.delete_group("g", ticket=ticket, now_ms=0)

    assert refused.error_code == ErrorCode.NON_EMPTY_GROUP
    assert decision.records == [
        ConsumerGroupTargetAssignmentMetadata("g", None),
        ConsumerGroupPartitionMetadata("g", None),
        ConsumerGroupMetadata("g", None),
    ]


def test_every_record_of_a_consumer_group_has_its_tombstone() -> None:
    """Kafka's order: members before the group they belong to."""
    group = ConsumerGroup("g")
    group.put_member(ConsumerMember("m"))
    group.targets = {"m": {}, "gone": {}}
    group.resolved_regexes["t.*"] = ResolvedRegularExpression(frozenset({"t1"}), 1, 2)

    assert list(tombstones_of_group(group)) == [
        ConsumerGroupCurrentMemberAssignment("g", "m", None),
        ConsumerGroupTargetAssignmentMember("g", "m", None),
        ConsumerGroupTargetAssignmentMember("g", "gone", None),
        ConsumerGroupTargetAssignmentMetadata("g", None),
        ConsumerGroupMemberMetadata("g", "m", None),
        ConsumerGroupRegularExpression("g", "t.*", None),
        ConsumerGroupPartitionMetadata("g", None),
        ConsumerGroupMetadata("g", None),
    ]


def test_offsets_of_a_group_without_members_are_deleted() -> None:
    """KIP-496: a partition without an offset is fine, one that does not exist is not."""
    play = GroupPlaybook()
    play.commit()
    play.commit(topic="kept")
    written = len(play.log)

    assert delete_offsets(play, "t", "u") == (ErrorCode.NONE, {"t": {0: 0, 1: 3}, "u": {0: 0, 1: 3}})
    assert len(play.log) == written + 1
    for _ in range(2):
        assert play.fetch_all() == {"kept": 1}
        play.restart()


def test_offsets_of_topics_that_are_read_stay() -> None:
    """GROUP_SUBSCRIBED_TO_TOPIC."""
    play = GroupPlaybook()
    member_id = stable_reader(play, "read")
    play.commit(member_id, 1, topic="read")
    play.commit(member_id, 1, topic="left")

    assert delete_offsets(play, "read", "left")[1] == {
        "read": {0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, 1: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION},
        "left": {0: ErrorCode.NONE, 1: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION},
    }
    assert play.fetch_all() == {"read": 1}


def test_consumers_of_unknown_subscriptions_are_taken_to_read_everything() -> None:
    """Metadata that cannot be read."""
    play = GroupPlaybook()
    play.stable("a")
    play.commit("a-1", 1)

    assert delete_offsets(play, "t")[1]["t"][0] == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_offsets_of_a_consumer_group_are_deleted_by_what_its_members_read() -> None:
    """KIP-848: by name, and by the regular expressions that were resolved."""
    play = GroupPlaybook()
    group = play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    group.put_member(ConsumerMember("m", subscribed_topic_names=frozenset({"named"})))
    group.resolved_regexes["m.*"] = ResolvedRegularExpression(frozenset({"matched"}), 1, 2)
    codes = delete_offsets(play, "named", "matched", "other")[1]

    assert {name: code[0] for name, code in codes.items()} == {
        "named": ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        "matched": ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        "other": ErrorCode.NONE,
    }


def test_group_may_refuse_to_delete_offsets_at_all() -> None:
    """Without a name, without existing, or in use by members of whom nobody knows what they read."""
    play = GroupPlaybook()
    play.join("a", protocol_type="connect")

    assert delete_offsets(play, "t", group_id="") == (ErrorCode.INVALID_GROUP_ID, {})
    assert delete_offsets(play, "t", group_id="none") == (ErrorCode.GROUP_ID_NOT_FOUND, {})
    assert delete_offsets(play, "t") == (ErrorCode.NON_EMPTY_GROUP, {})
    play.leave(("a-1", None))
    play.at(3_000)
    assert delete_offsets(play, "t") == (ErrorCode.NONE, {"t": {0: 0, 1: 3}})


def test_offsets_of_a_deleted_topic_go() -> None:
    """By id where one was stored, else by name; those of a new topic of the name stay."""
    play = GroupPlaybook()
    play.commit(topic="old", topic_id=ONE_ID)
    play.commit(topic="new", topic_id=OTHER_ID)
    play.commit(topic="unnumbered")
    play.commit(topic="other")
    deleted = [DeletedTopic(name, ONE_ID) for name in ("old", "new", "unnumbered")]
    play.run(play.shard.delete_offsets_of_topics(deleted))

    assert play.fetch_all() == {"new": 1, "other": 1}


def test_offsets_without_a_group_expire_from_their_commit() -> None:
    """KIP-211: a standalone consumer's offset lives 7 days from its last commit."""
    play = GroupPlaybook()
    play.commit()
    play.at(6 * DAY_MS)
    play.commit(topic="fresh")
    play.at(7 * DAY_MS)

    assert play.fetch_all() == {"fresh": 1}
    play.at(13 * DAY_MS)
    assert play.shard.list_groups() == []
    assert play.shard.durable.offsets.by_group == {}


def test_offsets_of_a_group_expire_from_when_it_became_empty() -> None:
    """KIP-211: while members are there the offsets stay; then the group goes with them."""
    play = GroupPlaybook()
    play.stable("a", session_ms=1_800_000)
    play.commit("a-1", 1)
    for _ in range(20 * 24 * 3):
        play.at(play.now_ms + HOUR_MS // 3)
        play.heartbeat("a-1", 1)
    assert play.fetch() == 1
    play.leave(("a-1", None))
    empty_ms = play.now_ms
    play.at(empty_ms + 7 * DAY_MS - HOUR_MS)
    assert play.fetch() == 1

    play.at(empty_ms + 7 * DAY_MS + HOUR_MS)
    assert play.state() == "Dead"
    play.restart()
    assert play.shard.list_groups() == []


def test_stable_consumers_lose_offsets_of_topics_they_left() -> None:
    """KIP-211: for topics nobody in the group subscribes to, the commit is what counts."""
    play = GroupPlaybook()
    ticket = play.join("a", protocols={"range": subscription("read")}, session_ms=1_800_000)
    play.at(3_000)
    member = play.joined(ticket).member_id
    play.sync(member, 1, {})
    play.commit(member, 1, topic="read")
    play.commit(member, 1, topic="left")
    while play.now_ms < 8 * DAY_MS:
        play.at(play.now_ms + HOUR_MS // 3)
        play.heartbeat(member, 1)

    assert play.fetch_all() == {"read": 1}


def test_rebalancing_group_loses_no_offsets() -> None:
    """KIP-211: nothing expires while it is not known who will read what."""
    play = GroupPlaybook(GroupConfig(offsets_retention_ms=10_000, offsets_retention_check_interval_ms=1_000))
    offered = {"range": subscription("x")}
    first = play.join("a", protocols=offered, session_ms=60_000)
    play.at(3_000)
    play.sync("a-1", play.joined(first).generation_id, {})
    play.commit("a-1", 1)
    second = play.join("b", protocols=offered, session_ms=60_000)
    play.at(23_000)
    assert play.state() == "PreparingRebalance"
    assert play.fetch() == 1

    play.join("a", "a-1", protocols=offered, session_ms=60_000)
    play.sync("a-1", play.joined(second).generation_id, {})
    assert play.state() == "Stable"
    play.at(24_000)
    assert play.fetch() == -1


def test_a_retention_time_of_the_request_counts_for_itself() -> None:
    """OffsetCommit v2-4: the offset expires so long after its commit, whatever the setting."""
    play = GroupPlaybook()
    play.commit(retention_ms=HOUR_MS)
    play.at(HOUR_MS - 1)
    assert play.fetch() == 1

    play.at(HOUR_MS)
    assert play.fetch() == -1


def test_consumer_group_loses_offsets_of_topics_it_does_not_read() -> None:
    """From the commit, whoever is in the group; without members and offsets it goes too."""
    play = GroupPlaybook()
    group = play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    group.put_member(ConsumerMember("m", member_epoch=1, subscribed_topic_names=frozenset({"read"})))
    for topic in ("read", "left"):
        play.commit("m", 1, topic=topic)
    play.at(7 * DAY_MS + HOUR_MS)
    assert play.fetch_all() == {"read": 1}

    group.remove_member("m")
    play.at(7 * DAY_MS + 2 * HOUR_MS)
    assert play.fetch_all() == {}
    assert play.log[-1].key == b"\0\3\0\1g"


def test_what_is_deleted_in_bulk_may_be_written_in_pieces() -> None:
    """Each tombstone stands for itself."""
    play = GroupPlaybook()
    play.commit()

    assert play.shard.delete_offsets_of_topics([DeletedTopic("t", ONE_ID)]).may_be_split
    play.now_ms = 8 * DAY_MS
    decision = play.shard.on_time(play.now_ms)
    assert (len(decision.records) > 0, decision.may_be_split) == (True, True)


def test_group_that_is_not_served_is_not_deleted() -> None:
    """Whether it has members is not known; a share group has no offsets that could go."""
    play = GroupPlaybook()
    codes = []
    for group_type in ForeignGroupType:
        play.shard.durable.foreign_groups["g"] = ForeignGroup("g", group_type)
        codes.append((delete_group(play).error_code, delete_offsets(play, "t")))
    message = delete_group(play).error_message

    assert codes == [
        (ErrorCode.NON_EMPTY_GROUP, (ErrorCode.GROUP_ID_NOT_FOUND, {})),
        (ErrorCode.NON_EMPTY_GROUP, (ErrorCode.NON_EMPTY_GROUP, {})),
    ]
    assert message == "Group g is a streams group, which is left alone here."
    assert play.log == []
