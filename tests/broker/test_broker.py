"""broker: opened and closed as one context."""

import shutil
from pathlib import Path

import pytest

from tests.broker.support import append, broker_config, create_topic
from wirekafka.broker import Broker, BrokerConfig, open_broker
from wirekafka.metadata import ConfigError
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import DataDirectoryInUse, PartitionLog


async def test_folder_is_one_brokers_at_a_time(config: BrokerConfig) -> None:
    """And free again when the broker has closed."""
    async with open_broker(config):
        with pytest.raises(DataDirectoryInUse):
            async with open_broker(config):
                raise AssertionError("two brokers have the folder")

    async with open_broker(config) as again:
        assert again.node_id == 1


async def test_broker_that_ends_with_an_error_has_closed_its_logs(config: BrokerConfig) -> None:
    """Whatever ends the block, the stop is a clean one."""

    async def run_and_fail() -> None:
        async with open_broker(config) as broker:
            await create_topic(broker, "t")
            append(broker.partitions.find("t", 0), 2)
            raise ZeroDivisionError

    with pytest.raises(BaseException) as ended:  # noqa: PT011  # a nursery wraps it
        await run_and_fail()
    assert ended.group_contains(ZeroDivisionError)

    async with open_broker(config) as again:
        assert again.partitions.find("t", 0).high_watermark == 2


async def test_settings_of_the_broker_hold_for_its_topics(tmp_path_factory: pytest.TempPathFactory) -> None:
    config = broker_config(tmp_path_factory.mktemp("data"), message_max_bytes="123", broker_rack="r1")

    async with open_broker(config) as broker:
        await create_topic(broker, "t")

        assert broker.partitions.find("t", 0).log.config.max_message_bytes == 123
        assert broker.rack == "r1"


async def test_open_files_are_as_many_as_the_settings_say(tmp_path: Path) -> None:
    """wirekafka.open.files.max."""
    async with open_broker(broker_config(tmp_path, wirekafka_open_files_max="3")) as broker:
        for name in "abcde":
            await create_topic(broker, name)
            append(broker.partitions.find(name, 0))
        disk = broker.partitions.find("a", 0).log.disk

        assert len(disk.open_files) == 3
        assert broker.partitions.find("a", 0).read(0, 100, committed_only=False, at_least_one_batch=True)


async def test_metadata_lasts_when_it_is_told_and_groups_follow_the_broker(tmp_path: Path) -> None:
    """The metadata log is flushed in both modes; wirekafka.durability is the broker's for all topics."""
    async with open_broker(broker_config(tmp_path, wirekafka_durability="fsync")) as broker:
        await create_topic(broker, "as-the-broker")
        await create_topic(broker, "other", wirekafka_durability="os")
        metadata = metadata_log(broker)

        assert metadata.recovery_point == metadata.log_end_offset > 0
        durability = [
            broker.partitions.find(name, 0).log.config.durability for name in ("as-the-broker", "other")
        ]
        assert durability == ["fsync", "os"]


async def test_high_watermark_is_right_after_an_unclean_stop(tmp_path: Path) -> None:
    """In the mode fsync what is recovered is flushed before it is served: readers see no less than before."""
    before, after = tmp_path / "before", tmp_path / "after"
    async with open_broker(broker_config(before, wirekafka_durability="fsync")) as broker:
        await create_topic(broker, "t")
        append(broker.partitions.find("t", 0), 3)
        shutil.copytree(before, after)

    async with open_broker(broker_config(after, wirekafka_durability="fsync")) as broker:
        assert broker.partitions.find("t", 0).high_watermark == 3


def metadata_log(broker: Broker) -> PartitionLog:
    return broker.cluster._journal._partition.log


async def test_transactions_are_refused_in_the_clients_terms(broker: Broker) -> None:
    with pytest.raises(KafkaError, match=r"transactional\.id") as refusal:
        broker.refuse_transactions()
    assert refusal.value.code == ErrorCode.INVALID_REQUEST


async def test_folder_of_another_node_is_refused(tmp_path: Path) -> None:
    """Its partitions have a leader that this broker is not."""
    async with open_broker(broker_config(tmp_path)):
        pass

    with pytest.raises(ConfigError, match=r"--set node\.id=1"):
        async with open_broker(broker_config(tmp_path, node_id="7")):
            raise AssertionError("it has opened")


async def test_what_opening_found_amiss_is_logged_once(
    config: BrokerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    """After an unclean stop a torn batch is cut off, and somebody should know."""
    async with open_broker(config) as first:
        await create_topic(first, "t")
        append(first.partitions.find("t", 0), 2)
    log = config.data_dir / "t-0" / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-1])
    (config.data_dir / ".kafka_cleanshutdown").unlink()
    (config.data_dir / "recovery-point-offset-checkpoint").unlink()

    async with open_broker(config) as again:
        assert again.partitions.find("t", 0).high_watermark == 0

    assert len([line for line in caplog.messages if line.startswith("t-0: ")]) == 1
