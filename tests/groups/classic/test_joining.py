"""Tests of groups/classic/joining.py; what each state answers is in test_every_state_and_input."""

from tests.support.playbook import GroupPlaybook
from wirekafka.groups import GroupConfig, records
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.records import ConsumerGroupMetadata, GroupMetadata
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def test_group_is_written_down_when_its_first_member_comes() -> None:
    """Kafka 4: so that it is there for others, and after a restart."""
    play = GroupPlaybook()
    play.join("a", member_id_required=True)

    record = records.decode(play.log[0])
    assert isinstance(record, GroupMetadata)
    assert record.value is not None
    assert (record.value.generation, record.value.members) == (0, [])
    play.restart()
    assert play.state() == "Empty"


def test_refused_first_join_still_makes_the_group() -> None:
    """Kafka writes the group down whatever the join came to; the next check removes it."""
    play = GroupPlaybook()
    ticket = play.join("a", protocols={})
    assert play.joined(ticket).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert play.state() == "Empty"
    play.at(600_000)

    assert play.state() == "Dead"


def test_consumer_group_without_members_becomes_a_classic_one() -> None:
    """KIP-848: its records go, what it has committed stays; also after a restart."""
    play = GroupPlaybook()
    play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    play.commit(offset=7)
    written = len(play.log)
    ticket = play.join("a", member_id_required=True)

    assert play.joined(ticket).error_code == ErrorCode.MEMBER_ID_REQUIRED
    kinds = [type(records.decode(item)) for item in play.log[written:]]
    assert kinds[-2:] == [ConsumerGroupMetadata, GroupMetadata]
    for _ in range(2):
        assert [(row.group_type, row.group_state) for row in play.shard.list_groups()] == [
            ("classic", "Empty")
        ]
        assert play.fetch() == 7
        play.restart()


def test_consumer_group_stays_when_who_joins_is_not_known() -> None:
    """A member id that it never gave out; the answer is the same as if it were not there."""
    play = GroupPlaybook()
    play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    ticket = play.join("a", "a-1")

    assert play.joined(ticket).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert [row.group_type for row in play.shard.list_groups()] == ["consumer"]
    assert play.log == []


def test_consumer_group_stays_when_the_classic_one_cannot_be_written() -> None:
    """All of it is one batch of records."""
    play = GroupPlaybook()
    play.shard.durable.consumer_groups["g"] = ConsumerGroup("g")
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "The log is offline.")
    ticket = play.join("a")

    assert play.joined(ticket).error_code == ErrorCode.NOT_COORDINATOR
    assert [row.group_type for row in play.shard.list_groups()] == ["consumer"]


def test_follower_of_a_stable_group_is_given_its_generation_again() -> None:
    """It may have missed the answer to its JoinGroup; nobody else is disturbed."""
    play = GroupPlaybook()
    play.stable("a", "b")
    again = play.joined(play.join("b", "b-2"))

    assert (again.generation_id, again.leader, again.members) == (1, "a-1", [])
    assert play.state() == "Stable"


def test_leader_of_a_completing_group_is_given_the_members_again() -> None:
    """It needs them to assign."""
    play = GroupPlaybook()
    play.join("a")
    play.join("b")
    play.at(6_000)
    again = play.joined(play.join("a", "a-1"))

    assert [member.member_id for member in again.members] == ["a-1", "b-2"]


def test_leader_of_a_stable_group_may_ask_for_a_new_generation() -> None:
    """The topics have changed, say, though its metadata has not."""
    play = GroupPlaybook()
    play.stable("a", "b")
    leader = play.join("a", "a-1")
    assert play.heartbeat("b-2", 1) is ErrorCode.REBALANCE_IN_PROGRESS
    follower = play.join("b", "b-2")

    assert play.joined(leader).generation_id == play.joined(follower).generation_id == 2


def test_new_metadata_reaches_the_leader() -> None:
    """A changed subscription rebalances, and is what the leader is shown."""
    play = GroupPlaybook()
    play.stable("a", "b")
    play.join("b", "b-2", protocols={"range": b"new"})
    leader = play.joined(play.join("a", "a-1"))

    assert {m.member_id: m.metadata for m in leader.members} == {"a-1": b"", "b-2": b"new"}


def test_full_group_turns_new_members_away() -> None:
    """group.max.size: GROUP_MAX_SIZE_REACHED, while those who are in may rejoin."""
    play = GroupPlaybook(GroupConfig(group_max_size=2))
    play.stable("a", "b")
    refused = play.joined(play.join("c"))

    assert (refused.error_code, refused.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")
    assert play.joined(play.join("b", "b-2")).error_code == ErrorCode.NONE
    assert play.state() == "Stable"


def test_full_rebalance_turns_away_who_comes_last() -> None:
    """While members are gathered, those who have joined count, not those who were in before."""
    play = GroupPlaybook(GroupConfig(group_max_size=2))
    play.stable("a", "b")
    leader = play.join("a", "a-1")
    newcomer = play.join("c")
    late = play.join("b", "b-2")

    assert play.joined(late).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    play.at(play.now_ms + 60_000)
    assert [member.member_id for member in play.joined(leader).members] == ["a-1", f"c-{newcomer}"]


def test_pending_members_take_no_room() -> None:
    """group.max.size counts who joins: ids are given to more, and the last of them is turned away."""
    play = GroupPlaybook(GroupConfig(group_max_size=1))
    ids = [play.joined(play.join(who, member_id_required=True)).member_id for who in "ab"]
    first, second = (play.join(member_id[0], member_id) for member_id in ids)
    assert play.joined(second).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    play.at(3_000)

    assert play.joined(first).generation_id == 1
    assert play.joined(play.join("b", ids[1])).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert play.joined(play.join("c", member_id_required=True)).error_code == (
        ErrorCode.GROUP_MAX_SIZE_REACHED
    )


def test_new_member_that_waits_too_long_is_dropped() -> None:
    """Five minutes in JoinGroup: its client may have gone, and asks again if not."""
    play = GroupPlaybook()
    play.stable("a", session_ms=600_000)
    play.join("x", "a-1", session_ms=600_000, rebalance_ms=1_000_000)
    play.sync("a-1", 2, {})
    start_ms = play.now_ms
    ticket = play.join("b", rebalance_ms=1_000_000)
    play.at(start_ms + 299_999)
    assert ticket in play.waiting

    play.at(start_ms + 300_000)
    assert play.joined(ticket).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_session_timeout_limits_are_inclusive() -> None:
    """group.min.session.timeout.ms and group.max.session.timeout.ms themselves are allowed."""
    for session_ms in (6_000, 1_800_000):
        play = GroupPlaybook()
        assert play.join("a", session_ms=session_ms) in play.waiting

    for session_ms in (5_999, 1_800_001):
        play = GroupPlaybook()
        refused = play.joined(play.join("a", "id", session_ms=session_ms))
        assert (refused.error_code, refused.member_id) == (ErrorCode.INVALID_SESSION_TIMEOUT, "id")
        assert play.state() == "Dead"


def test_group_of_a_type_that_is_not_served_cannot_be_joined() -> None:
    """INCONSISTENT_GROUP_PROTOCOL; in Kafka an empty streams group gives way."""
    play = GroupPlaybook()
    play.shard.durable.foreign_groups["g"] = ForeignGroup("g", ForeignGroupType.STREAMS)

    assert play.joined(play.join("a")).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert play.joined(play.join("a", session_ms=1)).error_code == ErrorCode.INVALID_SESSION_TIMEOUT
    assert (play.log, play.shard.volatile.classic_groups) == ([], {})
