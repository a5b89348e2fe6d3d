"""coordination: the shard of a group, and what becomes of groups with their topic."""

import errno

import pytest
import trio

from tests.broker.support import change_configs, create_topic, delete_topic
from wirekafka.broker import OFFSETS_TOPIC, Broker, BrokerConfig, GroupClient, open_broker
from wirekafka.groups import GroupRecord, GroupShard, pace, partition_for
from wirekafka.machine import Decision, Reply, Ticket
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from wirekafka.protocol.apis.offset_fetch import OffsetFetchRequestGroup
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import Files

TOPIC, BROKER, GROUP = 2, 4, 32
"""The codes of what has settings."""


async def commit(broker: Broker, group_id: str, topic: str, offset: int) -> int:
    """Commit partition 0 of a topic as a consumer without a group; give the error code."""
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata=None
    )
    topic_id = broker.image.topics[topic].topic_id
    request = OffsetCommitRequest(
        group_id=group_id,
        member_id="",
        topics=[OffsetCommitRequestTopic(name=topic, topic_id=topic_id, partitions=[partition])],
    )

    def decide(shard: GroupShard, ticket: Ticket, now_ms: int) -> Decision:  # type: ignore[type-arg]
        return shard.commit_offsets(
            request,
            ticket=ticket,
            now_ms=now_ms,
            group_id_not_found_known=True,
            by_topic_id=False,
            partition_exists=broker.partitions.exists,
        )

    answer = await broker.coordination.ask(group_id, decide)
    assert isinstance(answer, OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


def committed(broker: Broker, group_id: str) -> dict[str, int]:
    """What a group has committed for partition 0 of each topic."""
    asked = OffsetFetchRequestGroup(group_id=group_id, topics=None)
    answer = broker.coordination.look(group_id).fetch_offsets(asked, by_topic_id=False)
    return {topic.name: topic.partitions[0].committed_offset for topic in answer.topics}


@pytest.fixture
async def with_groups(broker: Broker) -> Broker:
    await broker.cluster.auto_create_topic(OFFSETS_TOPIC)
    return broker


async def test_without_an_offsets_topic_there_is_no_coordinator(broker: Broker) -> None:
    """Clients then look for one, which makes it."""
    with pytest.raises(KafkaError) as refusal:
        broker.coordination.look("g")
    assert refusal.value.code == ErrorCode.NOT_COORDINATOR
    assert list(broker.coordination.shards) == []


async def test_group_lies_in_the_shard_that_its_name_says(with_groups: Broker) -> None:
    """By the hash that Kafka uses, so that a folder of Kafka's is understood."""
    shards = [with_groups.coordination.look(f"g{number}").partition for number in range(20)]

    assert shards == [partition_for(f"g{number}", 3) for number in range(20)]
    assert len(list(with_groups.coordination.shards)) == 3


async def test_commit_is_written_to_the_groups_partition(with_groups: Broker) -> None:
    await create_topic(with_groups, "t")

    code = await commit(with_groups, "g", "t", 5)

    assert (code, committed(with_groups, "g")) == (0, {"t": 5})
    partition = with_groups.partitions.find(OFFSETS_TOPIC, partition_for("g", 3))
    assert partition.high_watermark == 1


async def test_tell_lets_the_shard_hear(with_groups: Broker) -> None:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")

    answer = with_groups.coordination.tell("g", lambda shard, now_ms: shard.heartbeat(request, now_ms=now_ms))

    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_shard_that_cannot_be_read_is_left_out(with_groups: Broker) -> None:
    """Its groups are told to try again, the others are served."""
    lost = partition_for("g", 3)
    with_groups.coordination.leave_out_shard(lost)

    with pytest.raises(KafkaError) as refusal:
        with_groups.coordination.look("g")

    assert refusal.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert [shard.partition for shard in with_groups.coordination.shards] == [
        i for i in range(3) if i != lost
    ]


async def test_groups_whose_log_found_no_space_are_served_when_it_is_back(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first commit on a full disk makes the topic; that must not last longer than the full disk."""
    await create_topic(broker, "t")
    real = Files.make_folder

    def no_space(files: Files, path: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Files, "make_folder", no_space)
    await broker.cluster.auto_create_topic(OFFSETS_TOPIC)
    with pytest.raises(KafkaError) as refusal:
        await commit(broker, "g", "t", 5)
    monkeypatch.setattr(Files, "make_folder", real)

    assert refusal.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    with trio.fail_after(10):
        while (error_code := await commit_if_served(broker, "g", "t", 5)) is None:
            await trio.sleep(0.05)
    assert error_code == 0
    assert committed(broker, "g") == {"t": 5}


async def test_fault_in_a_shard_has_its_groups_read_from_the_log_again(
    with_groups: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was in memory may be half changed, what is written is not. The next fault is only told."""
    await create_topic(with_groups, "t")
    await commit(with_groups, "g", "t", 5)
    before = with_groups.coordination.look("g")

    def fail(shard: GroupShard, ticket: Ticket, now_ms: int) -> Decision[GroupRecord]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await with_groups.coordination.ask("g", fail)
    after = with_groups.coordination.look("g")
    with pytest.raises(ZeroDivisionError):
        await with_groups.coordination.ask("g", fail)

    assert after is not before
    assert with_groups.coordination.look("g") is after
    assert committed(with_groups, "g") == {"t": 5}
    assert await commit(with_groups, "g", "t", 6) == 0


async def test_groups_whose_log_nobody_can_take_up_are_left_out(
    with_groups: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The others are served, and the broker starts."""
    index = partition_for("g", 3)
    partition = with_groups.partitions.find(OFFSETS_TOPIC, index)

    def loaded(shard: GroupShard, now_ms: int) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(GroupShard, "loaded", loaded)
    with_groups.coordination.open_shard(index, partition)

    with pytest.raises(KafkaError) as refusal:
        with_groups.coordination.look("g")
    assert refusal.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert "ZeroDivisionError" in caplog.text


async def commit_if_served(broker: Broker, group_id: str, topic: str, offset: int) -> int | None:
    try:
        return await commit(broker, group_id, topic, offset)
    except KafkaError:
        return None


async def test_deleted_topic_takes_its_offsets_along(with_groups: Broker) -> None:
    """Of every group; a topic of the same name begins anew."""
    for topic in ("t", "kept"):
        await create_topic(with_groups, topic)
        for group_id in ("g1", "g2", "g3"):
            await commit(with_groups, group_id, topic, 5)

    await delete_topic(with_groups, "t")
    await create_topic(with_groups, "t")

    assert [committed(with_groups, group_id) for group_id in ("g1", "g2", "g3")] == [{"kept": 5}] * 3


async def test_deleted_offsets_topic_ends_every_group(with_groups: Broker) -> None:
    """And the groups begin anew when it is made again."""
    await create_topic(with_groups, "t")
    await commit(with_groups, "g", "t", 5)

    await delete_topic(with_groups, OFFSETS_TOPIC)
    with pytest.raises(KafkaError) as refusal:
        await commit(with_groups, "g", "t", 6)
    await with_groups.cluster.auto_create_topic(OFFSETS_TOPIC)

    assert refusal.value.code == ErrorCode.NOT_COORDINATOR
    assert committed(with_groups, "g") == {}


async def interval_told(broker: Broker, member_id: str) -> int:
    """Join a consumer group, and give the heartbeat interval that the answer tells."""
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=1000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )

    def decide(shard: GroupShard, ticket: Ticket, now_ms: int) -> Decision[GroupRecord]:
        return shard.consumer_heartbeat(
            request,
            ticket=ticket,
            now_ms=now_ms,
            client=GroupClient("c", "/127.0.0.1"),
            new_member_uuid="unused",
            member_id_required=True,
        )

    answer = await broker.coordination.ask("g", decide)
    assert isinstance(answer, ConsumerGroupHeartbeatResponse)
    assert answer.error_code == 0
    return answer.heartbeat_interval_ms


async def test_members_of_consumer_groups_beat_the_slower_the_more_they_are(
    with_groups: Broker, monkeypatch: pytest.MonkeyPatch, mock_clock: trio.testing.MockClock
) -> None:
    """They are counted now and then: the next second tells of those that this one brought."""
    monkeypatch.setattr(pace, "HEARTBEATS_A_SECOND", 4)
    told = [await interval_told(with_groups, "a"), await interval_told(with_groups, "b")]
    mock_clock.jump(1)
    told.append(await interval_told(with_groups, "c"))

    assert told == [100, 100, 500]


async def test_shards_know_the_topics_of_the_moment(with_groups: Broker) -> None:
    """And hear of each that is made, grows or is deleted."""
    shard, heard = next(iter(with_groups.coordination.shards)), []
    shard.topics_changed = lambda names, now_ms: heard.append(sorted(names))  # type: ignore[method-assign]
    known = []

    for change in (
        create_topic(with_groups, "t", 2),
        create_topic(with_groups, "u", retention_ms="5"),
        delete_topic(with_groups, "t"),
    ):
        await change
        known.append(sorted(name for name in shard.topics.names() if name != OFFSETS_TOPIC))

    assert known == [["t"], ["t", "u"], ["u"]]
    assert heard == [["t"], ["u"], ["t"]]


async def test_groups_go_by_the_settings_that_hold_now(with_groups: Broker) -> None:
    """The broker's, and the group's own; in every shard."""
    await change_configs(with_groups, BROKER, "", group_consumer_assignment_interval_ms="777")
    await change_configs(with_groups, GROUP, "g", consumer_session_timeout_ms="50000")

    shards = list(with_groups.coordination.shards)
    assert [shard.config.group_consumer_assignment_interval_ms for shard in shards] == [777] * 3
    assert [shard.overrides_of("g") for shard in shards] == [{"consumer.session.timeout.ms": 50_000}] * 3
    assert [dict(shard.overrides_of("h")) for shard in shards] == [{}] * 3


async def test_changed_settings_hold_after_a_restart(config: BrokerConfig) -> None:
    """From the first decision on, those of groups too."""
    async with open_broker(config) as first:
        await first.cluster.auto_create_topic(OFFSETS_TOPIC)
        await change_configs(first, BROKER, "", group_consumer_assignment_interval_ms="777")
        await change_configs(first, GROUP, "g", consumer_session_timeout_ms="50000")

    async with open_broker(config) as again:
        shard = again.coordination.look("g")
        assert shard.config.group_consumer_assignment_interval_ms == 777
        assert shard.overrides_of("g") == {"consumer.session.timeout.ms": 50_000}


async def test_heartbeats_are_held_while_the_settings_and_the_members_allow_it(
    with_groups: Broker, monkeypatch: pytest.MonkeyPatch, mock_clock: trio.testing.MockClock
) -> None:
    """The members are counted by those who only beat, too."""
    coordination = with_groups.coordination
    held = [coordination.holds_heartbeats]
    monkeypatch.setattr(GroupShard, "classic_member_count", pace.MOST_HELD)
    for _ in range(2):
        mock_clock.jump(1)
        coordination.tell("g", lambda shard, now_ms: None)
        held.append(coordination.holds_heartbeats)
    monkeypatch.setattr(GroupShard, "classic_member_count", 0)
    mock_clock.jump(1)
    coordination.tell("g", lambda shard, now_ms: None)
    held.append(coordination.holds_heartbeats)

    assert held == [True, False, False, True]


async def test_what_no_record_can_hold_is_refused(with_groups: Broker) -> None:
    """By the setting of the offsets topic as it is now."""
    coordination = with_groups.coordination
    coordination.check_fits("g", 1_048_588)
    with pytest.raises(KafkaError) as refusal:
        coordination.check_fits("g", 1_048_589)
    await change_configs(with_groups, TOPIC, OFFSETS_TOPIC, max_message_bytes="2000000")
    coordination.check_fits("g", 1_048_589)

    assert refusal.value.code == ErrorCode.UNKNOWN_SERVER_ERROR


async def test_time_is_told_again_when_a_wait_is_interrupted(with_groups: Broker) -> None:
    """The wall clock may have been set meanwhile."""
    leads = []

    def wait(shard: GroupShard, ticket: Ticket, now_ms: int) -> Decision[GroupRecord]:
        leads.append(shard.wall_lead_ms)
        shard.wall_lead_ms += 3_600_000
        waiting.append(ticket)
        return Decision()

    def answer(shard: GroupShard, now_ms: int) -> Decision[GroupRecord]:
        leads.append(shard.wall_lead_ms)
        return Decision(replies=[Reply(waiting.pop(), "answer")])

    waiting: list[Ticket] = []
    told = await with_groups.coordination.ask_until("g", wait, trio.lowlevel.checkpoint, answer)

    assert told == "answer"
    assert leads[1] == pytest.approx(leads[0], abs=1_000)
