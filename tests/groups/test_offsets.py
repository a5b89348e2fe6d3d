"""Tests of groups/offsets.py."""

from typing import cast

import pytest

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import DeletedTopic, GroupConfig, OffsetCommit
from wirekafka.groups.offsets import CommittedOffsets
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue
from wirekafka.protocol.stored.consumer_protocol import ConsumerProtocolSubscription

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
ONE_ID, OTHER_ID = bytes([1]) * 16, bytes([2]) * 16


def value(offset: int = 1) -> OffsetCommitValue:
    return OffsetCommitValue(offset=offset, metadata="", commit_timestamp=0)


def subscription(*topics: str) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics))
    return b"\0\1" + codec_for(ConsumerProtocolSubscription, 1).build(body)


def test_store_keeps_no_empty_dictionaries() -> None:
    """The last tombstone of a group leaves nothing behind; one for nothing does nothing."""
    offsets = CommittedOffsets()
    offsets.apply(OffsetCommit("g", "t", 0, value()))
    offsets.apply(OffsetCommit("g", "t", 1, value()))
    offsets.apply(OffsetCommit("g", "t", 0, None))
    assert offsets.get("g", "t", 1) == value()
    offsets.apply(OffsetCommit("g", "u", 0, None))
    offsets.apply(OffsetCommit("g", "t", 1, None))

    assert offsets.by_group == {}


def test_a_later_commit_replaces_an_earlier_one() -> None:
    """Also when it goes back: a group may be reset."""
    play = GroupPlaybook()
    play.commit(offset=9)
    play.commit(offset=4)

    assert play.fetch() == 4


def test_commit_of_a_member_is_a_sign_of_life() -> None:
    """Kafka: an OffsetCommit keeps a session up as a Heartbeat does."""
    play = GroupPlaybook()
    play.stable("a", session_ms=10_000)
    start_ms = play.now_ms
    play.at(start_ms + 9_000)
    play.commit("a-1", 1)
    play.at(start_ms + 18_999)
    assert play.state() == "Stable"

    play.at(start_ms + 19_000)
    assert play.state() == "Empty"


def test_refused_commit_stores_nothing() -> None:
    """A code, and no record."""
    play = GroupPlaybook()
    play.stable("a")
    written = len(play.log)
    ticket = play.commit("a-1", 9)

    assert play.committed(ticket) == ErrorCode.ILLEGAL_GENERATION
    assert len(play.log) == written
    assert play.fetch() == -1


def test_unknown_group_has_another_code_in_old_versions() -> None:
    """OffsetCommit v9+ says GROUP_ID_NOT_FOUND where older ones said ILLEGAL_GENERATION."""
    play = GroupPlaybook()

    new, old = play.commit("a", 3), play.commit("a", 3, group_id_not_found_known=False)
    assert play.committed(new) == ErrorCode.GROUP_ID_NOT_FOUND
    assert play.committed(old) == ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ("x" * 4096, ErrorCode.NONE),
        ("x" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("\U0001f600" * 2048, ErrorCode.NONE),
        ("\U0001f600" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        (None, ErrorCode.NONE),
    ],
)
def test_metadata_has_a_limit(metadata: str | None, code: ErrorCode) -> None:
    """offset.metadata.max.bytes, which Kafka compares with Java's String.length."""
    play = GroupPlaybook()

    assert play.committed(play.commit(metadata=metadata)) == code


def test_each_partition_has_its_own_code() -> None:
    """Unknown topic id, unknown partition, good: one request, three answers, one record."""
    play = GroupPlaybook()
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=3, committed_metadata="")
    request = OffsetCommitRequest(
        group_id="g",
        member_id="",
        topics=[
            OffsetCommitRequestTopic(topic_id=ONE_ID, partitions=[partition]),
            OffsetCommitRequestTopic(name="gone", partitions=[partition]),
            OffsetCommitRequestTopic(name="t", topic_id=OTHER_ID, partitions=[partition]),
        ],
    )
    ticket = play.draw()
    decision = play.shard.commit_offsets(
        request,
        ticket=ticket,
        now_ms=7,
        group_id_not_found_known=True,
        by_topic_id=True,
        partition_exists=lambda topic, partition: topic == "t",
    )
    play.run(decision)

    answer = cast(OffsetCommitResponse, play.answers[ticket])
    codes = [topic.partitions[0].error_code for topic in answer.topics]
    assert codes == [ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE]
    stored = OffsetCommitValue(offset=3, metadata="", commit_timestamp=7, topic_id=OTHER_ID)
    assert decision.records == [OffsetCommit("g", "t", 0, stored)]


def test_group_is_not_asked_when_no_partition_exists() -> None:
    """Kafka answers such a commit before it reaches the coordinator."""
    play = GroupPlaybook()
    play.stable("a")
    ticket = play.commit("a-1", 9, exists=False)

    assert play.committed(ticket) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


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
