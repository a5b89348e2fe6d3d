"""`Broker`: the services a handler may use, opened and closed as one context.

Called by `server.serve`. Opens the data folder, reads the metadata log, opens every partition, loads
every group; closes with everything flushed and the marker of a clean stop.

Source: Kafka's BrokerServer, in the order of its startup.
"""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import NoReturn

import trio

from wirekafka.broker.alarms import Alarms
from wirekafka.broker.claims import Claims
from wirekafka.broker.cleaning import Cleaning
from wirekafka.broker.clock import Clock
from wirekafka.broker.cluster import METADATA_PARTITION, METADATA_TOPIC_ID, Cluster
from wirekafka.broker.config import BrokerConfig
from wirekafka.broker.coordination import Coordination
from wirekafka.broker.fetch_sessions import FetchSessions
from wirekafka.broker.flushing import Flusher
from wirekafka.broker.group_settings import overrides_of
from wirekafka.broker.group_topics import GroupTopics
from wirekafka.broker.housekeeping import (
    checkpoint_at_intervals,
    checkpoint_start_offsets_at_intervals,
    expire_producers_at_intervals,
)
from wirekafka.broker.kept_answers import KeptAnswers
from wirekafka.broker.kept_pieces import KeptPieces
from wirekafka.broker.opening import Watch, log_progress, report_notices
from wirekafka.broker.partition import Partition
from wirekafka.broker.partitions import Partitions
from wirekafka.broker.producer_ids import ProducerIds
from wirekafka.broker.retention import Retention
from wirekafka.broker.timeouts import Timeouts
from wirekafka.broker.unlinking import Unlinking
from wirekafka.metadata import ConfigError, ConfigValue, MetadataImage, MetadataMachine, Settings
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import FSYNC, LogConfig, LogDirectory, flush_logs

_METADATA_LEADER_EPOCH = 1
_METADATA_LOG = LogConfig(max_message_bytes=8 * 1024 * 1024, durability=FSYNC)
"""As Kafka's metadata log: a batch may be that large, and what it says is flushed before it is told, whatever
holds for topics. Were a producer id given out twice, new records would pass for duplicates of old ones."""
_LARGEST_SESSION_ID = 2**31 - 1


class Broker:
    """One running broker."""

    def __init__(self, config: BrokerConfig, directory: LogDirectory) -> None:
        self.node_id = config.node_id
        rack = config.settings["broker.rack"]
        self.rack = None if rack is None else str(rack)
        self.cluster_id = directory.cluster_id
        self.clock = Clock()
        self.alarms = Alarms(self.clock)
        self.timeouts = Timeouts()
        self.health = directory.disk.health
        """Whether the data folder can still be written to."""
        self.flusher = Flusher(partial(flush_logs, directory.disk, directory.path), self.health)
        machine = MetadataMachine(config.node_id, config.settings)
        self._shared_log_config: tuple[Mapping[str, ConfigValue], LogConfig] = {}, LogConfig()
        self.image: MetadataImage = machine.image
        self.unlinking = Unlinking(directory.remove_set_aside)
        self.partitions = Partitions(
            directory,
            machine.image,
            log_config=lambda topic: self._log_config(machine, topic),
            now_ms=self.clock.wall_ms,
            flusher=self.flusher,
            remove_later=lambda paths: self.unlinking.later(paths, 0),
        )
        self.coordination = Coordination(
            config.settings,
            self.clock,
            self.alarms,
            topics=GroupTopics(machine.image, self.node_id, self.rack),
            overrides_of=overrides_of(machine.image, lambda: machine.settings),
            ask_again=self.partitions.ask_again,
        )
        self.cluster = Cluster(
            machine,
            self._metadata_partition(directory),
            self.partitions,
            self.coordination,
            clock=self.clock,
            alarms=self.alarms,
        )
        claims, wall_ms = Claims(), self.clock.wall_ms
        self.retention = Retention(directory, self.partitions, self.unlinking, claims, wall_ms=wall_ms)
        self.cleaning = Cleaning(
            directory,
            self.partitions,
            self.unlinking,
            claims,
            flusher=self.flusher,
            wall_ms=wall_ms,
            settings=lambda: self.settings,
        )
        self.producer_ids = ProducerIds(self.cluster)
        self.fetch_sessions = FetchSessions(
            config.settings.get_int("max.incremental.fetch.session.cache.slots"),
            draw_id=lambda: random.randint(1, _LARGEST_SESSION_ID),
        )
        self.kept_pieces = KeptPieces()
        self.kept_answers = KeptAnswers(lambda: (self.image.generation, self.partitions.generation))

    def refuse_transactions(self) -> NoReturn:
        """Say in the client's terms that this broker has no transaction coordinator."""
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "wirekafka does not serve transactions yet: use a producer without transactional.id.",
        )

    async def apply_retention(self, topic: str) -> None:
        """Drop what a topic's partitions keep no longer, now. Raises what `Retention.apply` does."""
        await self.retention.apply(topic)

    async def compact(self, topic: str) -> None:
        """Compact a topic's partitions, now. Raises what `Cleaning.compact` does."""
        await self.cleaning.compact(topic)

    @property
    def settings(self) -> Settings:
        """The settings as they hold now: what was changed at run time lies over what was given at start."""
        return self.cluster.settings

    def _metadata_partition(self, directory: LogDirectory) -> Partition:
        log = directory.open_log(
            METADATA_PARTITION, METADATA_TOPIC_ID, _METADATA_LOG, now_ms=self.clock.wall_ms()
        )
        if log.log_start_offset > 0:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The metadata log begins with offset {log.log_start_offset}: what was before it is in a "
                "snapshot of Apache Kafka's, which wirekafka does not read.",
            )
        # A log of Apache Kafka's may have seen later epochs.
        return Partition(log, max(_METADATA_LEADER_EPOCH, log.latest_epoch), self.flusher)

    def _log_config(self, machine: MetadataMachine, topic: str) -> LogConfig:
        """What storage needs of a topic's settings, and of the broker's where a topic has none.

        Topics without settings of their own share one: there may be very many.
        """
        values = machine.topic_config(topic)
        if values is not self._shared_log_config[0]:
            expiry_ms = self.settings.get_int("producer.id.expiration.ms")
            config = LogConfig.from_topic_configs({**values, "producer.id.expiration.ms": expiry_ms})
            self._shared_log_config = values, config
        return self._shared_log_config[1]


@asynccontextmanager
async def open_broker(config: BrokerConfig, watch: Watch = log_progress) -> AsyncIterator[Broker]:
    """Open the data folder and all it holds; close it in order, whatever ends the block.

    `watch` shows how far the opening has come, when there is much to check after an unclean stop.
    Raises DataDirectoryInUse when another broker has the folder, ConfigError when it is another node's.
    """
    settings = config.settings
    directory = LogDirectory.open(
        config.data_dir, node_id=config.node_id, open_files=settings.get_int("wirekafka.open.files.max")
    )
    try:
        _check_node_id(config, directory)
        broker = Broker(config, directory)
        await broker.cluster.load(watch)
        report_notices(directory)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.alarms.run)
            nursery.start_soon(broker.timeouts.run)
            nursery.start_soon(broker.flusher.run)
            nursery.start_soon(broker.cluster.reopen_when_asked)
            nursery.start_soon(broker.cluster.make_the_rest)
            nursery.start_soon(broker.unlinking.run)
            nursery.start_soon(broker.retention.run, lambda: broker.settings)
            nursery.start_soon(broker.cleaning.run)
            _keep_house(nursery, broker, directory, settings)
            yield broker
            nursery.cancel_scope.cancel()
    finally:
        try:
            directory.close(clean=True)
        finally:
            report_notices(directory)


def _keep_house(nursery: trio.Nursery, broker: Broker, directory: LogDirectory, settings: Settings) -> None:
    nursery.start_soon(
        checkpoint_at_intervals,
        directory,
        broker.flusher,
        settings.get_int("log.flush.offset.checkpoint.interval.ms"),
    )
    nursery.start_soon(
        checkpoint_start_offsets_at_intervals,
        directory,
        settings.get_int("log.flush.start.offset.checkpoint.interval.ms"),
    )
    nursery.start_soon(
        expire_producers_at_intervals,
        directory,
        broker.clock.wall_ms,
        settings.get_int("producer.id.expiration.check.interval.ms"),
    )


def _check_node_id(config: BrokerConfig, directory: LogDirectory) -> None:
    """Every partition in the folder is led by the node that made it: another would lead none."""
    if config.node_id != directory.node_id:
        raise ConfigError(
            "node.id",
            f"node.id={config.node_id}: the data folder is that of node {directory.node_id}. "
            f"Give --set node.id={directory.node_id}, or another --data-dir.",
        )
