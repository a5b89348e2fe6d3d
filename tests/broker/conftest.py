"""A data folder, and partitions in it, for the tests of the broker's parts."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.broker.support import TOPIC_ID, broker_config
from wirekafka.broker import Broker, BrokerConfig, open_broker
from wirekafka.broker.partition import Partition
from wirekafka.ids import TopicPartition
from wirekafka.storage import LogConfig, LogDirectory

MakePartition = Callable[..., Partition]


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[LogDirectory]:
    opened = LogDirectory.open(tmp_path, node_id=1)
    yield opened
    opened.close(clean=True)


@pytest.fixture
def make_partition(directory: LogDirectory) -> MakePartition:
    """Makes an empty partition, by topic, index and leader epoch."""

    def make(topic: str = "t", index: int = 0, *, leader_epoch: int = 0) -> Partition:
        log = directory.open_log(TopicPartition(topic, index), TOPIC_ID, LogConfig(), now_ms=0)
        return Partition(log, leader_epoch)

    return make


@pytest.fixture
def config(tmp_path: Path) -> BrokerConfig:
    """Of a broker in this test's own folder, with few offsets partitions so that it opens fast."""
    return broker_config(tmp_path)


@pytest.fixture
async def broker(config: BrokerConfig) -> AsyncIterator[Broker]:
    async with open_broker(config) as opened:
        yield opened
