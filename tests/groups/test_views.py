"""Tests of groups/views.py."""

from tests.support.playbook import GroupPlaybook
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from wirekafka.protocol.error_codes import ErrorCode

ONE_ID, OTHER_ID = bytes([1]) * 16, bytes([2]) * 16


def test_stable_group_shows_metadata_and_assignments() -> None:
    """DescribeGroups passes both on unread."""
    play = GroupPlaybook()
    ticket = play.join("client", protocols={"range": b"subscription"}, instance="i")
    play.at(3_000)
    member_id = play.joined(ticket).member_id
    play.sync(member_id, 1, {member_id: b"assignment"}, instance="i")
    group = play.shard.describe("g", group_id_not_found_known=True)

    assert (group.error_code, group.group_state) == (ErrorCode.NONE, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    member = group.members[0]
    assert (member.member_id, member.group_instance_id) == ("i-1", "i")
    assert (member.client_id, member.client_host) == ("client", "/127.0.0.1")
    assert (member.member_metadata, member.member_assignment) == (b"subscription", b"assignment")


def test_rebalancing_group_shows_members_without_metadata() -> None:
    """Kafka: no protocol is chosen yet, so there is none to show."""
    play = GroupPlaybook()
    play.join("a", protocols={"range": b"subscription"})
    group = play.shard.describe("g", group_id_not_found_known=True)

    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert [member.member_metadata for member in group.members] == [b""]


def test_missing_group_is_dead() -> None:
    """DescribeGroups v6 adds GROUP_ID_NOT_FOUND (KIP-1043); older ones show a dead group."""
    play = GroupPlaybook()
    new = play.shard.describe("none", group_id_not_found_known=True)
    old = play.shard.describe("none", group_id_not_found_known=False)

    assert (new.error_code, new.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert new.error_message == "Group none not found."
    assert (old.error_code, old.group_state, old.error_message) == (ErrorCode.NONE, "Dead", None)


def test_groups_are_listed_by_state_and_type() -> None:
    """ListGroups v4 and v5: filters ignore case; unknown names match nothing."""
    play = GroupPlaybook()
    play.stable("a")
    play.group_id = "simple"
    play.commit()
    shard = play.shard

    assert [(row.group_id, row.group_state, row.protocol_type) for row in shard.list_groups()] == [
        ("g", "Stable", "consumer"),
        ("simple", "Empty", ""),
    ]
    assert {row.group_type for row in shard.list_groups()} == {"classic"}
    assert [row.group_id for row in shard.list_groups(["stable "])] == ["g"]
    assert [row.group_id for row in shard.list_groups(["Empty", "Dead"])] == ["simple"]
    assert shard.list_groups(["Nonsense"]) == []
    assert len(shard.list_groups([], ["Classic", "consumer"])) == 2
    assert shard.list_groups([], ["consumer"]) == []


def test_consumer_groups_are_listed_beside_the_others() -> None:
    """KIP-848: with the states of their protocol."""
    play = GroupPlaybook()
    play.stable("a")
    group = play.shard.durable.consumer_groups["new"] = ConsumerGroup("new", group_epoch=2)
    empty = [(row.group_id, row.group_state) for row in play.shard.list_groups([], ["CONSUMER"])]
    group.put_member(ConsumerMember("m"))

    assert empty == [("new", "Empty")]
    assert [row.group_id for row in play.shard.list_groups(["assigning"])] == ["new"]
    assert [(row.group_type, row.protocol_type) for row in play.shard.list_groups()] == [
        ("classic", "consumer"),
        ("consumer", "consumer"),
    ]
    assert [row.group_id for row in play.shard.list_groups([], ["Classic", "nonsense"])] == ["g"]
    assert play.shard.list_groups([], ["nonsense"]) == []


def test_consumer_group_is_no_classic_group() -> None:
    """DescribeGroups shows it as one that is not there; ConsumerGroupDescribe has it."""
    play = GroupPlaybook()
    play.shard.durable.consumer_groups["new"] = ConsumerGroup("new")
    new = play.shard.describe("new", group_id_not_found_known=True)
    old = play.shard.describe("new", group_id_not_found_known=False)

    assert (new.error_code, new.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert new.error_message == "Group new is not a classic group."
    assert (old.error_code, old.group_state, old.error_message) == (ErrorCode.NONE, "Dead", None)


def test_offset_of_an_earlier_topic_of_the_name_is_not_given() -> None:
    """KIP-1319: ids must agree where both sides know one."""
    play = GroupPlaybook()
    play.commit(offset=5, topic_id=ONE_ID)
    play.commit(offset=6, topic="unnumbered")

    assert play.fetch("t", ONE_ID) == 5
    assert play.fetch("t", OTHER_ID) == -1
    assert play.fetch("t") == 5
    assert play.fetch("unnumbered", ONE_ID) == 6


def test_topic_id_without_a_name_is_unknown() -> None:
    """The handler found no topic of that id."""
    play = GroupPlaybook()
    asked = OffsetFetchRequestTopics(topic_id=ONE_ID, partition_indexes=[4])
    answer = play.shard.fetch_offsets(OffsetFetchRequestGroup(group_id="g", topics=[asked]), by_topic_id=True)

    partition = answer.topics[0].partitions[0]
    assert (partition.partition_index, partition.error_code) == (4, ErrorCode.UNKNOWN_TOPIC_ID)
    assert partition.committed_offset == -1


def test_all_topics_come_with_the_ids_they_were_committed_with() -> None:
    """Null topics ask for everything; a group that is not there has nothing, and no error."""
    play = GroupPlaybook()
    play.commit(topic="a", topic_id=ONE_ID)
    play.commit(topic="b")
    answer = play.shard.fetch_offsets(OffsetFetchRequestGroup(group_id="g", topics=None), by_topic_id=False)
    none = play.shard.fetch_offsets(OffsetFetchRequestGroup(group_id="none", topics=None), by_topic_id=False)

    assert [(topic.name, topic.topic_id) for topic in answer.topics] == [("a", ONE_ID), ("b", bytes(16))]
    assert (none.topics, none.error_code) == ([], ErrorCode.NONE)


def test_group_that_is_not_served_is_listed_and_is_no_classic_group() -> None:
    """So that an operator sees whose the id is."""
    play = GroupPlaybook()
    play.shard.durable.foreign_groups["g"] = ForeignGroup("g", ForeignGroupType.SHARE)
    [row] = play.shard.list_groups()

    assert (row.group_id, row.protocol_type, row.group_type) == ("g", "share", "share")
    assert row.group_state == "Unknown"
    assert play.shard.list_groups(types=["Share"]) == [row]
    assert play.shard.list_groups(types=["classic", "consumer"]) == []
    described = play.shard.describe("g", group_id_not_found_known=True)
    assert described.error_message == "Group g is not a classic group."
