"""Tests of groups/foreign.py: a group of a type that is not served stays as it was, whoever comes to it.

Its record is what Kafka's GroupCoordinatorRecordHelpers writes for such a group.
"""

import pytest

from tests.support.consumer_playbook import ConsumerPlaybook
from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupConfig
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupState, ForeignGroupType
from wirekafka.groups.records import ForeignGroupMetadata
from wirekafka.machine import Decision
from wirekafka.protocol.error_codes import ErrorCode

VALUE = bytes.fromhex("0000" + "00000001" + "00" * 8 + "00")
both_types = pytest.mark.parametrize("group_type", ForeignGroupType)


def take_up(play: GroupPlaybook, group_type: ForeignGroupType) -> None:
    """Have the group in the log, as a broker that serves it left it."""
    play.run(Decision(records=[ForeignGroupMetadata("g", group_type, VALUE)]))


def test_state_of_such_a_group_is_not_known() -> None:
    """A word that Kafka's clients know."""
    assert ForeignGroup("g", ForeignGroupType.SHARE).state is ForeignGroupState.UNKNOWN


@both_types
def test_who_would_join_it_is_refused_and_nothing_is_written(group_type: ForeignGroupType) -> None:
    """In Kafka, records of another type behind its own end the loading of the whole partition."""
    play = ConsumerPlaybook(t=1)
    take_up(play, group_type)
    written = list(play.log)
    heartbeat = play.consumer("a", "t").join()
    join = play.joined(play.join("c"))

    assert heartbeat.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert heartbeat.error_message == "Group g is not a consumer group."
    assert (join.error_code, join.member_id) == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "")
    assert play.log == written


@both_types
def test_members_that_it_has_elsewhere_are_strangers_here(group_type: ForeignGroupType) -> None:
    """Kafka's answers to the classic protocol, and to the consumer protocol."""
    play = ConsumerPlaybook(t=1)
    take_up(play, group_type)
    member = play.consumer("a", "t")
    member.epoch = 1

    assert play.heartbeat("m", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert play.synced(play.sync("m", 1)).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert play.left(play.leave(("m", None))) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert member.beat().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert play.shard.describe_consumer_group("g").error_message == "Group g is not a consumer group."


def test_what_a_streams_group_committed_stays_for_any_time() -> None:
    """What its members read is not known; with the offsets Kafka would lose the group."""
    play = GroupPlaybook(GroupConfig(offsets_retention_ms=1, offsets_retention_check_interval_ms=10))
    play.commit(offset=7)
    take_up(play, ForeignGroupType.STREAMS)
    written = list(play.log)
    play.at(play.now_ms + 1_000)

    assert play.log == written
    assert play.fetch() == 7
    play.restart()
    assert play.shard.durable.foreign_groups == {"g": ForeignGroup("g", ForeignGroupType.STREAMS)}
    assert play.shard.volatile.classic_groups == {}


@both_types
def test_id_is_free_again_when_its_broker_deleted_the_group(group_type: ForeignGroupType) -> None:
    """The log has its tombstone."""
    play = ConsumerPlaybook(t=1)
    take_up(play, group_type)
    play.run(Decision(records=[ForeignGroupMetadata("g", group_type, None)]))

    assert play.consumer("a", "t").join().error_code == ErrorCode.NONE
    play.check_log()
