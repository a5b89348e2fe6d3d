"""`Broker`: the services a handler may use, opened and closed as one context.

Called by `server.serve`. Opens the data folder, reads the metadata log, opens every partition, loads
every group; closes with everything flushed and the marker of a clean stop.

Source: Kafka's BrokerServer, in the order of its startup.
"""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import trio

from wirekafka.broker.alarms import Alarms
from wirekafka.broker.clock import Clock
from wirekafka.broker.cluster import METADATA_PARTITION, METADATA_TOPIC_ID, Cluster
from wirekafka.broker.config import BrokerConfig
from wirekafka.broker.coordination import Coordination
from wirekafka.broker.fetch_sessions import FetchSessions
from wirekafka.broker.housekeeping import checkpoint_at_intervals, report_notices
from wirekafka.broker.partition import Partition
from wirekafka.broker.partitions import Partitions
from wirekafka.broker.producer_ids import ProducerIds
from wirekafka.metadata import ConfigError, MetadataImage, MetadataMachine
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory

_METADATA_LEADER_EPOCH = 1
_METADATA_LOG = LogConfig(max_message_bytes=8 * 1024 * 1024)
"""As Kafka's metadata log, a batch of which may be that large."""
_LARGEST_SESSION_ID = 2**31 - 1


class Broker:
    """One running broker."""

    def __init__(self, config: BrokerConfig, directory: LogDirectory) -> None:
        self.settings = config.settings
        self.node_id = config.node_id
        rack = config.settings["broker.rack"]
        self.rack = None if rack is None else str(rack)
        self.cluster_id = directory.cluster_id
        self.clock = Clock()
        self.alarms = Alarms(self.clock)
        machine = MetadataMachine(config.node_id, config.settings)
        self.image: MetadataImage = machine.image
        self.partitions = Partitions(
            directory,
            machine.image,
            log_config=lambda topic: self._log_config(machine, topic),
            now_ms=self.clock.wall_ms,
        )
        self.coordination = Coordination(config.settings, self.clock, self.alarms)
        log = directory.open_log(
            METADATA_PARTITION, METADATA_TOPIC_ID, _METADATA_LOG, now_ms=self.clock.wall_ms()
        )
        self.cluster = Cluster(
            machine,
            Partition(log, _METADATA_LEADER_EPOCH),
            self.partitions,
            self.coordination,
            clock=self.clock,
            alarms=self.alarms,
        )
        self.producer_ids = ProducerIds(self.cluster)
        self.fetch_sessions = FetchSessions(
            config.settings.get_int("max.incremental.fetch.session.cache.slots"),
            draw_id=lambda: random.randint(1, _LARGEST_SESSION_ID),
        )

    def refuse_transactions(self) -> NoReturn:
        """Say in the client's terms that this broker has no transaction coordinator."""
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "wirekafka does not serve transactions yet: use a producer without transactional.id.",
        )

    def _log_config(self, machine: MetadataMachine, topic: str) -> LogConfig:
        """What storage needs of a topic's settings, and of the broker's where a topic has none."""
        expiry_ms = self.settings.get_int("producer.id.expiration.ms")
        return LogConfig.from_topic_configs(
            {**machine.topic_config(topic), "producer.id.expiration.ms": expiry_ms}
        )


@asynccontextmanager
async def open_broker(config: BrokerConfig) -> AsyncIterator[Broker]:
    """Open the data folder and all it holds; close it in order, whatever ends the block.

    Raises DataDirectoryInUse when another broker has the folder, ConfigError when it is another node's.
    """
    directory = LogDirectory.open(config.data_dir, node_id=config.node_id)
    try:
        _check_node_id(config, directory)
        broker = Broker(config, directory)
        broker.cluster.load()
        report_notices(directory)
        interval_ms = config.settings.get_int("log.flush.offset.checkpoint.interval.ms")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.alarms.run)
            nursery.start_soon(checkpoint_at_intervals, directory, interval_ms)
            yield broker
            nursery.cancel_scope.cancel()
    finally:
        directory.close(clean=True)
        report_notices(directory)


def _check_node_id(config: BrokerConfig, directory: LogDirectory) -> None:
    """Every partition in the folder is led by the node that made it: another would lead none."""
    if config.node_id != directory.node_id:
        raise ConfigError(
            "node.id",
            f"node.id={config.node_id}: the data folder is that of node {directory.node_id}. "
            f"Give --set node.id={directory.node_id}, or another --data-dir.",
        )
