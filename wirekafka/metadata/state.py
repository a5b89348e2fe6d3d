"""What decisions about metadata are made from. Made once by `MetadataMachine`.

Source: ours.
"""

from dataclasses import dataclass

from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.effective import TopicSettings
from wirekafka.metadata.image import MetadataImage


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The image, the one broker's id, and its settings."""

    node_id: int
    settings: Settings
    topic_settings: TopicSettings
    image: MetadataImage

    @property
    def brokers(self) -> frozenset[int]:
        """The ids of the brokers there are."""
        return frozenset({self.node_id})
