"""What decisions about metadata are made from. Made once by `MetadataMachine`.

Source: ours.
"""

from dataclasses import dataclass

from wirekafka.metadata.broker_settings import BrokerSettings
from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.effective import TopicSettings
from wirekafka.metadata.image import MetadataImage


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The image, the one broker's id, and its settings."""

    node_id: int
    broker_settings: BrokerSettings
    image: MetadataImage

    @property
    def settings(self) -> Settings:
        """The broker's settings that hold now."""
        return self.broker_settings.current

    @property
    def topic_settings(self) -> TopicSettings:
        """What holds for topics under the broker's settings of now."""
        return self.broker_settings.topics

    @property
    def brokers(self) -> frozenset[int]:
        """The ids of the brokers there are."""
        return frozenset({self.node_id})
