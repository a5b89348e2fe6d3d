"""Clusters of one metadata machine, and topics to create in them."""

import pytest

from tests.metadata.support import Cluster, ClusterWith, MakeTopic, a_topic
from wirekafka.metadata import Settings


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(Settings.load())


@pytest.fixture
def cluster_with() -> ClusterWith:
    """Make a cluster of certain settings."""

    def make(profile: str = "dev", file_text: str = "", **settings: str) -> Cluster:
        overrides = {name.replace("_", "."): value for name, value in settings.items()}
        return Cluster(Settings.load(file_text, overrides, profile))

    return make


@pytest.fixture
def topic() -> MakeTopic:
    return a_topic
