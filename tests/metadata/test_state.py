"""What decisions are made from."""

from wirekafka.metadata.broker_settings import BrokerSettings
from wirekafka.metadata.configs import Settings
from wirekafka.metadata.image import MetadataImage
from wirekafka.metadata.state import ClusterState


def test_cluster_has_this_broker_alone() -> None:
    """One node; its id is whatever it was given."""
    image = MetadataImage()

    assert ClusterState(4, BrokerSettings(4, Settings.load(), image), image).brokers == {4}
