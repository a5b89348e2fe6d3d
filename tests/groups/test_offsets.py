"""Tests of groups/offsets.py."""

from collections.abc import Sequence
from typing import cast

import pytest

from tests.support.playbook import GroupPlaybook
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.offsets import CommittedOffsets
from wirekafka.groups.records import OffsetCommit
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue

ONE_ID, OTHER_ID = bytes([1]) * 16, bytes([2]) * 16


def value(offset: int = 1) -> OffsetCommitValue:
    return OffsetCommitValue(offset=offset, metadata="", commit_timestamp=0)


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


def test_longest_retention_time_counts_on_from_the_smallest_number() -> None:
    """As in Kafka, whose sum of two longs is a long: the offset is stored, and expired at once."""
    play = GroupPlaybook()
    play.at(5)
    ticket = play.commit(retention_ms=2**63 - 1)
    stored = play.shard.durable.offsets.get("g", "t", 0)

    assert play.committed(ticket) == ErrorCode.NONE
    assert stored is not None
    assert stored.expire_timestamp == 4 - 2**63


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


def consumer_group(play: GroupPlaybook, *members: ConsumerMember) -> ConsumerGroup:
    """Put a group of the new protocol into the shard, as its records would."""
    group = play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    for member in members:
        group.put_member(member)
    return group


CLASSIC = ClassicMemberMetadata(session_timeout_ms=10_000, supported_protocols=[])


def member(classic: ClassicMemberMetadata | None = None) -> ConsumerMember:
    """One at epoch 9 that has partition 0 since epoch 5, and gives up partition 1, its since epoch 3."""
    return ConsumerMember(
        "m",
        member_epoch=9,
        assigned={ONE_ID: {0: 5}},
        partitions_pending_revocation={ONE_ID: {1: 3}},
        classic=classic,
    )


@pytest.mark.parametrize(
    ("member_id", "epoch", "code"),
    [
        ("m", 9, ErrorCode.NONE),
        ("m", 10, ErrorCode.STALE_MEMBER_EPOCH),
        ("m", 5, ErrorCode.NONE),
        ("m", 4, ErrorCode.STALE_MEMBER_EPOCH),
        ("m", -1, ErrorCode.STALE_MEMBER_EPOCH),
        ("other", 9, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", -1, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_consumer_commits_at_its_epoch_or_one_since_which_it_has_the_partition(
    member_id: str, epoch: int, code: ErrorCode
) -> None:
    """KIP-848; KIP-1251 lets a commit pass that was under way while the member's epoch grew."""
    play = GroupPlaybook()
    consumer_group(play, member())

    assert play.committed(play.commit(member_id, epoch, topic_id=ONE_ID)) == code
    assert play.fetch() == (1 if code is ErrorCode.NONE else -1)


@pytest.mark.parametrize("epoch", [10, 4])
def test_member_by_the_classic_protocol_is_told_in_its_words(epoch: int) -> None:
    """It has a generation where others have an epoch."""
    play = GroupPlaybook()
    consumer_group(play, member(CLASSIC))

    assert play.committed(play.commit("m", epoch, topic_id=ONE_ID)) == ErrorCode.ILLEGAL_GENERATION


def test_older_epoch_is_judged_by_the_partition_that_was_given_latest() -> None:
    """Partition 1 is owned since epoch 3, partition 0 since 5: epoch 4 will not do for both."""
    play = GroupPlaybook()
    consumer_group(play, member())

    assert commit_both(play, 5) == [ErrorCode.NONE, ErrorCode.NONE]
    assert commit_both(play, 4) == [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.STALE_MEMBER_EPOCH]
    assert commit_both(play, 4, metadata=["x" * 5000, ""]) == [
        ErrorCode.OFFSET_METADATA_TOO_LARGE,
        ErrorCode.NONE,
    ]


def commit_both(play: GroupPlaybook, epoch: int, metadata: Sequence[str] = ("", "")) -> list[int]:
    """Commit partitions 0 and 1 as the member, and give their codes."""
    partitions = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1, committed_metadata=text)
        for index, text in enumerate(metadata)
    ]
    topic = OffsetCommitRequestTopic(name="t", topic_id=ONE_ID, partitions=partitions)
    ticket = play.draw()
    decision = play.shard.commit_offsets(
        OffsetCommitRequest(group_id="g", member_id="m", generation_id_or_member_epoch=epoch, topics=[topic]),
        ticket=ticket,
        now_ms=0,
        group_id_not_found_known=True,
        by_topic_id=False,
        partition_exists=lambda topic, partition: True,
    )
    play.run(decision)
    answer = cast(OffsetCommitResponse, play.answers[ticket])
    return [one.error_code for one in answer.topics[0].partitions]


def test_versions_without_member_epochs_are_for_members_by_the_classic_protocol() -> None:
    """OffsetCommit v8 and older."""
    play = GroupPlaybook()
    group = consumer_group(play, member())
    new = play.commit("m", 9, topic_id=ONE_ID, group_id_not_found_known=False)
    group.put_member(member(CLASSIC))
    old = play.commit("m", 9, topic_id=ONE_ID, group_id_not_found_known=False)

    assert play.committed(new) == ErrorCode.UNSUPPORTED_VERSION
    assert play.committed(old) == ErrorCode.NONE


def test_anybody_may_commit_to_a_consumer_group_without_members() -> None:
    """As to an empty classic group: so its offsets are reset."""
    play = GroupPlaybook()
    consumer_group(play)

    assert play.committed(play.commit()) == ErrorCode.NONE
    assert play.committed(play.commit("m", 1)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert [row.group_type for row in play.shard.list_groups()] == ["consumer"]


@pytest.mark.parametrize(
    ("member_id", "epoch", "code"),
    [
        (None, -1, ErrorCode.NONE),
        ("m", 9, ErrorCode.NONE),
        ("m", 8, ErrorCode.STALE_MEMBER_EPOCH),
        ("m", 10, ErrorCode.STALE_MEMBER_EPOCH),
        ("m", -1, ErrorCode.STALE_MEMBER_EPOCH),
        ("other", 9, ErrorCode.UNKNOWN_MEMBER_ID),
        (None, 9, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_consumer_that_names_itself_must_be_up_to_date_to_fetch(
    member_id: str | None, epoch: int, code: ErrorCode
) -> None:
    """KIP-848: OffsetFetch v9; the whole group's answer is the error."""
    play = GroupPlaybook()
    consumer_group(play, member())
    play.commit("m", 9, topic_id=ONE_ID)
    request = OffsetFetchRequestGroup(group_id="g", member_id=member_id, member_epoch=epoch, topics=None)
    answer = play.shard.fetch_offsets(request, by_topic_id=False)

    assert answer.error_code == code
    assert len(answer.topics) == (1 if code is ErrorCode.NONE else 0)


def test_classic_groups_do_not_ask_who_fetches() -> None:
    """Nor does a group that is not there."""
    play = GroupPlaybook()
    play.stable("a")
    play.commit("a-1", 1)

    for group_id, found in (("g", 1), ("none", 0)):
        request = OffsetFetchRequestGroup(group_id=group_id, member_id="x", member_epoch=7, topics=None)
        answer = play.shard.fetch_offsets(request, by_topic_id=False)
        assert (answer.error_code, len(answer.topics)) == (ErrorCode.NONE, found)


def test_member_by_the_classic_protocol_fetches_at_its_generation() -> None:
    """The error is that of its protocol."""
    play = GroupPlaybook()
    consumer_group(play, member(CLASSIC))
    request = OffsetFetchRequestGroup(group_id="g", member_id="m", member_epoch=8, topics=None)

    answer = play.shard.fetch_offsets(request, by_topic_id=False)
    assert answer.error_code == ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize(
    ("group_type", "commit_code", "fetch_code"),
    [
        (ForeignGroupType.SHARE, ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NONE),
        (ForeignGroupType.STREAMS, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_nobody_commits_for_a_group_that_is_not_served(
    group_type: ForeignGroupType, commit_code: ErrorCode, fetch_code: ErrorCode
) -> None:
    """Kafka's ShareGroup and StreamsGroup; who names no member may read what is there."""
    play = GroupPlaybook()
    play.shard.durable.foreign_groups["g"] = ForeignGroup("g", group_type)
    by_member = OffsetFetchRequestGroup(group_id="g", topics=None, member_id="m", member_epoch=1)

    assert play.committed(play.commit()) == play.committed(play.commit("m", 1)) == commit_code
    assert play.shard.fetch_offsets(by_member, by_topic_id=False).error_code == fetch_code
    assert play.fetch() == -1
    assert play.log == []
