"""A data folder, and partitions in it, for the tests of the broker's parts."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.broker.support import TOPIC_ID, FlushAtWill, broker_config
from wirekafka.broker import Broker, BrokerConfig, open_broker
from wirekafka.broker.flushing import Flusher
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
    """Makes an empty partition, by topic, index, leader epoch, flusher and settings of its log."""

    def make(
        topic: str = "t",
        index: int = 0,
        *,
        leader_epoch: int = 0,
        flusher: Flusher | None = None,
        **settings: Any,
    ) -> Partition:
        config = LogConfig(**settings)
        log = directory.open_log(TopicPartition(topic, index), TOPIC_ID, config, now_ms=0)
        return Partition(log, leader_epoch, flusher)

    return make


@pytest.fixture
def disk() -> Iterator[FlushAtWill]:
    """A disk that flushes when it is let, and fails when it is told."""
    at_will = FlushAtWill()
    yield at_will
    at_will.let_go()


@pytest.fixture
async def flusher(disk: FlushAtWill, nursery: trio.Nursery) -> Flusher:
    """A flusher that runs, over that disk."""
    running = Flusher(disk.flush, disk.health)
    nursery.start_soon(running.run)
    return running


@pytest.fixture
def config(tmp_path: Path) -> BrokerConfig:
    """Of a broker in this test's own folder, with few offsets partitions so that it opens fast."""
    return broker_config(tmp_path)


@pytest.fixture
async def broker(config: BrokerConfig) -> AsyncIterator[Broker]:
    async with open_broker(config) as opened:
        yield opened
