"""cluster: what follows from each metadata record before its reply is released; and after a restart."""

import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.broker.support import append, broker_config, change_configs, create_topic, delete_topic
from tests.broker.test_coordination import commit, committed
from wirekafka.broker import (
    OFFSETS_TOPIC,
    Broker,
    BrokerConfig,
    FetchKey,
    FetchLimits,
    FetchPlan,
    cluster,
    fetch_partitions,
    open_broker,
)
from wirekafka.ids import TopicPartition, uuid_text
from wirekafka.metadata import TopicImage
from wirekafka.protocol.apis.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from wirekafka.protocol.apis.fetch import FetchPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Record, build_batch
from wirekafka.storage import Files, Origin


async def test_created_topic_has_its_leader_and_log_in_the_answer(broker: Broker) -> None:
    """Kafka's clients would wait for it and ask again."""
    topic_id = await create_topic(broker, "t", 2)

    topic = broker.image.topics["t"]
    assert topic.topic_id == topic_id == broker.partitions.find("t", 1).log.topic_id
    assert [partition.leader for partition in topic.partitions.values()] == [1, 1]
    assert broker.partitions.find("t", 0).high_watermark == 0


async def test_topics_settings_hold_from_its_first_record_on(broker: Broker) -> None:
    await create_topic(broker, "t", max_message_bytes="99", message_timestamp_type="LogAppendTime")

    config = broker.partitions.find("t", 0).log.config
    assert (config.max_message_bytes, config.message_timestamp_type) == (99, "LogAppendTime")


async def test_new_partitions_are_open_in_the_answer(broker: Broker) -> None:
    await create_topic(broker, "t")
    grown = CreatePartitionsTopic(name="t", count=3, assignments=None)

    answer = await broker.cluster.create_partitions(
        CreatePartitionsRequest(topics=[grown], timeout_ms=1000, validate_only=False)
    )

    assert answer.results[0].error_code == 0
    assert broker.partitions.find("t", 2).high_watermark == 0


async def test_large_topic_is_whole_in_the_answer_and_others_are_served_meanwhile(broker: Broker) -> None:
    """Else every client would wait for as long as the making of all its folders takes."""
    seen: list[int] = []

    async def look_on() -> None:
        while True:
            seen.append(len(broker.partitions.online()))
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as onlookers:
        onlookers.start_soon(look_on)
        await create_topic(broker, "t", 300)
        onlookers.cancel_scope.cancel()

    assert len(broker.partitions.of_topic("t")) == 300
    assert [count for count in seen if 0 < count < 300], seen


async def test_large_topic_that_is_deleted_before_it_is_whole_leaves_nothing(
    broker: Broker, config: BrokerConfig, nursery: trio.Nursery
) -> None:
    """Nor does what is left of it get in the way of the next one of its name."""
    nursery.start_soon(create_topic, broker, "t", 300)
    while not broker.partitions.is_online("t", 0):
        await trio.lowlevel.checkpoint()
    assert not broker.partitions.is_online("t", 299)

    await delete_topic(broker, "t")
    await create_topic(broker, "t", 2)

    assert [partition.topic_partition.partition for partition in broker.partitions.online()] == [0, 1]
    names = (path.name for path in config.data_dir.iterdir() if path.name.startswith("t-"))
    assert sorted(name for name in names if not name.endswith("-delete")) == ["t-0", "t-1"]


async def test_auto_created_topic_has_the_default_partitions(broker: Broker) -> None:
    await broker.cluster.auto_create_topic("t")

    assert list(broker.image.topics["t"].partitions) == [0]


async def test_auto_creation_says_what_stands_in_the_way(broker: Broker) -> None:
    with pytest.raises(KafkaError) as refusal:
        await broker.cluster.auto_create_topic("a b")
    assert refusal.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION


async def test_topics_that_begin_together_are_created_once(broker: Broker) -> None:
    """Two clients that ask for the same new topic at once; both have what they wanted."""
    generation = broker.image.generation

    async with trio.open_nursery() as nursery:
        nursery.start_soon(broker.cluster.auto_create_topic, "t")
        nursery.start_soon(broker.cluster.auto_create_topic, "t")

    assert [name for name in broker.image.topics if name == "t"] == ["t"]
    assert broker.image.generation == generation + 2


async def test_deletion_wakes_the_fetches_that_wait(broker: Broker, nursery: trio.Nursery) -> None:
    await create_topic(broker, "t")
    key, codes = FetchKey("t", 0), []
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=99)
    plan = FetchPlan.of({key: wanted}, by_topic_id=False)
    plan.partitions[key].found = broker.partitions.find("t", 0)

    async def fetch() -> None:
        limits = FetchLimits(min_bytes=1, max_bytes=99, max_wait_ms=60_000, committed_only=False)
        codes.append((await fetch_partitions(plan, limits, broker.timeouts))[key].error_code)

    nursery.start_soon(fetch)
    await wait_all_tasks_blocked()
    await delete_topic(broker, "t")
    await wait_all_tasks_blocked()

    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


async def test_deleted_topic_is_gone_from_image_and_disk(broker: Broker, config: BrokerConfig) -> None:
    topic_id = await create_topic(broker, "t")

    assert await delete_topic(broker, "t") == 0

    assert "t" not in broker.image.topics
    assert topic_id not in broker.image.topics_by_id
    assert not (config.data_dir / "t-0").exists()
    assert await delete_topic(broker, "t") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_topic_made_again_has_another_id_and_no_records(broker: Broker) -> None:
    first = await create_topic(broker, "t")
    append(broker.partitions.find("t", 0), 3)
    await delete_topic(broker, "t")

    second = await create_topic(broker, "t")

    assert first != second
    assert broker.partitions.find("t", 0).high_watermark == 0


async def test_no_topic_id_looks_like_an_option(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Kafka draws them: the text of an id is an argument of its tools."""
    drawn = iter([b"\xfb" + bytes(15), b"\x01" + bytes(15)])

    class Uuid:
        def __init__(self) -> None:
            self.bytes = next(drawn)

    monkeypatch.setattr("wirekafka.broker.cluster.uuid.uuid4", Uuid)
    topic_id = await create_topic(broker, "t")

    assert uuid_text(b"\xfb" + bytes(15)).startswith("-")
    assert topic_id == b"\x01" + bytes(15)


async def test_restart_finds_topics_ids_settings_records_and_groups(config: BrokerConfig) -> None:
    """All of it is in the logs."""
    async with open_broker(config) as first:
        topic_id = await create_topic(first, "t", 2, max_message_bytes="99")
        await create_topic(first, "gone")
        await delete_topic(first, "gone")
        append(first.partitions.find("t", 1), 3, size=1)
        await first.cluster.auto_create_topic(OFFSETS_TOPIC)
        await commit(first, "g", "t", 5)
        cluster_id = first.cluster_id

    async with open_broker(config) as again:
        assert again.cluster_id == cluster_id
        assert set(again.image.topics) == {"t", OFFSETS_TOPIC}
        assert again.image.topics["t"].topic_id == topic_id
        assert again.partitions.find("t", 1).high_watermark == 3
        assert again.partitions.find("t", 0).log.config.max_message_bytes == 99
        assert committed(again, "g") == {"t": 5}


async def test_changed_setting_of_a_topic_holds_in_the_answer(broker: Broker) -> None:
    """All of its logs, and no other's; together with what was changed beside it."""
    await create_topic(broker, "t", 2)
    await create_topic(broker, "u")

    await change_configs(broker, 2, "t", max_message_bytes="99", retention_ms="5")

    for partition in (0, 1):
        config = broker.partitions.find("t", partition).log.config
        assert (config.max_message_bytes, config.retention_ms) == (99, 5)
    assert broker.partitions.find("u", 0).log.config.retention_ms == 604_800_000


async def test_changed_setting_of_the_broker_holds_in_the_answer(broker: Broker) -> None:
    """In the logs of topics that have none of their own, and for whoever asks the broker."""
    await create_topic(broker, "t")
    await create_topic(broker, "u", retention_ms="7")

    await change_configs(broker, 4, "", log_retention_ms="5", producer_id_expiration_ms="9")
    await change_configs(broker, 4, "1", log_cleaner_backoff_ms="3")

    logs = [broker.partitions.find(topic, 0).log for topic in ("t", "u")]
    assert [log.config.retention_ms for log in logs] == [5, 7]
    assert [log.config.producer_id_expiration_ms for log in logs] == [9, 9]
    assert broker.settings["log.cleaner.backoff.ms"] == broker.cluster.settings["log.cleaner.backoff.ms"] == 3


async def test_topics_without_own_settings_share_what_holds(broker: Broker) -> None:
    """There may be ten thousand of them; a change of the broker's gives them another."""
    for topic in ("t", "u"):
        await create_topic(broker, topic)
    logs = [broker.partitions.find(topic, 0).log for topic in ("t", "u")]
    before = logs[0].config
    assert logs[1].config is before

    await change_configs(broker, 4, "", producer_id_expiration_ms="9")

    assert logs[0].config is logs[1].config is not before


async def test_restart_finds_changed_settings(config: BrokerConfig) -> None:
    """Of topics and of the broker: both are records of the metadata log."""
    async with open_broker(config) as first:
        await create_topic(first, "t", 1, segment_ms="8")
        await create_topic(first, "u")
        await change_configs(first, 2, "t", retention_ms="5")
        await change_configs(first, 4, "1", log_retention_ms="6")

    async with open_broker(config) as again:
        own, default = (again.partitions.find(topic, 0).log.config for topic in ("t", "u"))
        assert (own.retention_ms, own.segment_ms, default.retention_ms) == (5, 8, 6)
        assert again.settings["log.retention.ms"] == 6


async def test_groups_whose_log_cannot_be_read_are_left_out_and_the_rest_served(
    config: BrokerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    """One foreign record in `__consumer_offsets` keeps no broker from starting."""
    async with open_broker(config) as first:
        await first.cluster.auto_create_topic(OFFSETS_TOPIC)
        bad = build_batch([Record(key=b"\0\1\0", value=b"")], timestamp_ms=1)
        first.partitions.find(OFFSETS_TOPIC, 0).append(bad, now_ms=1, origin=Origin.COORDINATOR)
        served = len(list(first.coordination.shards))

    async with open_broker(config) as again:
        assert len(list(again.coordination.shards)) == served - 1
    assert "the groups of __consumer_offsets-0 cannot be served" in caplog.text


async def test_what_is_noted_of_a_deleted_topic_leaves_the_disk_in_a_thread(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before one of its name is made; others are served meanwhile."""
    await create_topic(broker, "t")
    directory = broker.partitions._directory
    directory.checkpoint()
    await delete_topic(broker, "t")
    real, threads = directory.checkpoints._replace, []

    def replace(name: str, offsets: Mapping[TopicPartition, int]) -> None:
        threads.append(threading.current_thread())
        real(name, offsets)

    monkeypatch.setattr(directory.checkpoints, "_replace", replace)
    await create_topic(broker, "t")

    assert threads
    assert threading.main_thread() not in threads


async def test_files_of_a_deleted_topic_are_removed_in_a_thread(
    broker: Broker, config: BrokerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer waits for the new name of its folder; to unlink gigabytes takes long."""
    await create_topic(broker, "t")
    real, threads = Files.unlink, []

    def unlink(files: Files, path: str) -> None:
        threads.append(threading.current_thread())
        real(files, path)

    monkeypatch.setattr(Files, "unlink", unlink)
    await delete_topic(broker, "t")
    with trio.fail_after(10):
        while any(path.name.endswith("-delete") for path in config.data_dir.iterdir()):
            await trio.sleep(0.01)

    assert threads
    assert threading.main_thread() not in threads


async def test_small_topic_does_not_wait_for_what_a_large_one_has_left(
    broker: Broker, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a setting, or a producer's id."""
    monkeypatch.setattr(cluster, "_MADE_A_PIECE", 0)
    nursery.start_soon(create_topic, broker, "large", 100)
    while not broker.partitions.is_online("large", 0):
        await trio.lowlevel.checkpoint()

    await create_topic(broker, "small")
    await broker.cluster.allocate_producer_ids()

    assert not broker.partitions.is_online("large", 99)
    monkeypatch.setattr(cluster, "_MADE_A_PIECE", 16)


async def test_two_large_topics_are_made_in_turns(
    broker: Broker, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_MADE_A_PIECE", 0)
    for name in ("first", "second"):
        nursery.start_soon(create_topic, broker, name, 200)
    while not (broker.partitions.is_online("first", 0) and broker.partitions.is_online("second", 0)):
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(cluster, "_MADE_A_PIECE", 1)
    while not (broker.partitions.is_online("first", 199) or broker.partitions.is_online("second", 199)):
        await trio.lowlevel.checkpoint()

    made = Counter(one.topic_partition.topic for one in broker.partitions.online())
    assert min(made["first"], made["second"]) >= 199


async def test_large_topic_is_made_whole_though_nobody_waits_for_the_answer(broker: Broker) -> None:
    async with trio.open_nursery() as impatient:
        impatient.start_soon(create_topic, broker, "t", 300)
        while not broker.partitions.is_online("t", 0):
            await trio.lowlevel.checkpoint()
        impatient.cancel_scope.cancel()

    while not broker.partitions.is_online("t", 299):
        await trio.lowlevel.checkpoint()

    assert len(broker.partitions.of_topic("t")) == 300


async def test_partition_whose_making_fails_costs_no_other(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a way nobody foresaw: what is foreseen is an offline partition."""
    open_one = broker.partitions.open_one

    def fail_at_some(topic: TopicImage, index: int) -> None:
        if index == 70:
            raise RuntimeError("nobody foresaw this")
        open_one(topic, index)

    monkeypatch.setattr(broker.partitions, "open_one", fail_at_some)
    await create_topic(broker, "t", 100)

    online = [one.topic_partition.partition for one in broker.partitions.online()]
    assert online == [index for index in range(100) if index != 70]


async def test_groups_are_taken_up_all_in_one_step(tmp_path: Path) -> None:
    """Which of them holds a group goes by their number: with some of them it would be another one."""
    config = broker_config(tmp_path, offsets_topic_num_partitions="100")
    async with open_broker(config) as broker, trio.open_nursery() as nursery:
        nursery.start_soon(broker.cluster.auto_create_topic, "__consumer_offsets")
        while "__consumer_offsets" not in broker.image.topics:
            await trio.lowlevel.checkpoint()

        assert len(list(broker.coordination.shards)) == 100


@pytest.mark.parametrize("is_killed", [False, True])
async def test_restart_makes_what_was_left(
    config: BrokerConfig, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    """A kill may come between a folder and the id in it, and in the middle of that."""
    monkeypatch.setattr(cluster, "_MADE_A_PIECE", 0)
    async with open_broker(config) as broker, trio.open_nursery() as nursery:
        nursery.start_soon(create_topic, broker, "t", 100)
        while not broker.partitions.is_online("t", 0):
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert not broker.partitions.is_online("t", 99)
    if is_killed:
        (config.data_dir / ".kafka_cleanshutdown").unlink()
        for index in (64, 65):
            (config.data_dir / f"t-{index}").mkdir()
        (config.data_dir / "t-65" / "partition.metadata").write_bytes(b"version: 0\ntop")

    async with open_broker(config) as broker:
        ends = [partition.high_watermark for partition in broker.partitions.of_topic("t")]
        append(broker.partitions.find("t", 65))
        assert (ends, len(broker.partitions.of_topic("t"))) == ([0] * 100, 100)
