"""The settings that hold for this broker: those it was started with, and over them those changed since.

Part of `ClusterState`; asked by every decision, and through `Cluster.settings` by whatever in the broker
goes by a setting that may change. Follows the image by itself.

Source: Kafka's DynamicBrokerConfig (updateCurrentConfig).
"""

from collections.abc import Mapping

from wirekafka.metadata.configs.definition import ConfigError
from wirekafka.metadata.configs.dynamic import updatable_part
from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.effective import TopicSettings
from wirekafka.metadata.image import BROKER_RESOURCE, MetadataImage
from wirekafka.observability import get_logger

logger = get_logger("metadata")

ALL_BROKERS = ""
"""The name of the resource whose settings are every broker's."""


class BrokerSettings:
    """What holds at present, made anew when the image has other settings of a broker."""

    def __init__(self, node_id: int, static: Settings, image: MetadataImage) -> None:
        self.static = static
        """What the broker was started with."""
        self._name = str(node_id)
        self._image = image
        self._current = static
        self._topics = TopicSettings(static)
        self._all_brokers: Mapping[str, str] = {}
        self._this_broker: Mapping[str, str] = {}
        self._generation = 0

    @property
    def current(self) -> Settings:
        """Every setting with the value that holds now."""
        self._catch_up()
        return self._current

    @property
    def topics(self) -> TopicSettings:
        """What holds for topics under these settings."""
        self._catch_up()
        return self._topics

    @property
    def this_broker(self) -> Mapping[str, str]:
        """What was changed at run time for this broker, as text."""
        self._catch_up()
        return self._this_broker

    @property
    def all_brokers(self) -> Mapping[str, str]:
        """What was changed at run time for all brokers, as text."""
        self._catch_up()
        return self._all_brokers

    def _catch_up(self) -> None:
        if self._generation == self._image.broker_configs_generation:
            return
        self._generation = self._image.broker_configs_generation
        common = self._image.configs(BROKER_RESOURCE, ALL_BROKERS)
        self._all_brokers = updatable_part(common, per_broker=False)
        own = self._image.configs(BROKER_RESOURCE, self._name)
        self._this_broker = updatable_part(own, per_broker=True)
        self._current = self._changed()
        self._topics = TopicSettings(self._current)

    def _changed(self) -> Settings:
        """Lay as much of the changes over the settings of the start as agrees with them.

        Each was checked when it was made, but against the settings of then.
        """
        common, own = self._all_brokers, self._this_broker
        for all_brokers, this_broker in ((common, own), (common, {}), ({}, own)):
            try:
                return self.static.changed(all_brokers, this_broker)
            except ConfigError as error:
                logger.error("some settings that were changed at run time do not hold: %s", error)
        return self.static
