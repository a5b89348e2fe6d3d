"""What decisions are made from."""

from wirekafka.metadata.configs import Settings
from wirekafka.metadata.effective import TopicSettings
from wirekafka.metadata.image import MetadataImage
from wirekafka.metadata.state import ClusterState


def test_cluster_has_this_broker_alone() -> None:
    """One node; its id is whatever it was given."""
    settings = Settings.load()

    assert ClusterState(4, settings, TopicSettings(settings), MetadataImage()).brokers == {4}
