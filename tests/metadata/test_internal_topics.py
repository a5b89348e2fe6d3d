"""Topics created because they are needed, the broker's own among them."""

import pytest

from tests.metadata.support import Cluster, ClusterWith
from wirekafka.machine import Ticket
from wirekafka.metadata.configs import Settings
from wirekafka.metadata.internal_topics import topic_on_demand
from wirekafka.protocol.apis.create_topics import CreatableTopicResult
from wirekafka.protocol.error_codes import ErrorCode

INTERNAL = {
    "__consumer_offsets": {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    },
    "__transaction_state": {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "unclean.leader.election.enable": "false",
        "segment.bytes": "104857600",
        "min.insync.replicas": "1",
    },
    "__share_group_state": {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "retention.ms": "-1",
        "segment.bytes": "104857600",
        "min.insync.replicas": "1",
    },
}


def auto_create(cluster: Cluster, name: str) -> CreatableTopicResult:
    result: CreatableTopicResult = cluster.carry_out(
        cluster.machine.auto_create(name, new_topic_id=cluster.new_topic_id, ticket=Ticket(7))
    )
    return result


@pytest.mark.parametrize(("name", "configs"), INTERNAL.items())
def test_internal_topic_is_made_as_its_coordinator_wants(
    cluster: Cluster, name: str, configs: dict[str, str]
) -> None:
    """GroupCoordinatorService, TransactionCoordinator and ShareCoordinatorService say how."""
    result = auto_create(cluster, name)

    assert (result.error_code, result.num_partitions) == (ErrorCode.NONE, 50)
    assert dict(cluster.image.topic_configs(name)) == configs
    assert len(cluster.image.topics[name].partitions) == 50


def test_internal_topic_follows_its_settings(cluster_with: ClusterWith) -> None:
    """offsets.topic.num.partitions and offsets.topic.segment.bytes are read at creation."""
    cluster = cluster_with(offsets_topic_num_partitions="4", offsets_topic_segment_bytes="2000000")

    result = auto_create(cluster, "__consumer_offsets")

    assert result.num_partitions == 4
    assert cluster.machine.topic_config("__consumer_offsets")["segment.bytes"] == 2_000_000


def test_kafkas_three_replicas_cannot_be_had(cluster_with: ClusterWith) -> None:
    """With Kafka's default of three replicas creation fails, as in a Kafka cluster of one."""
    cluster = cluster_with("kafka")

    result = auto_create(cluster, "__consumer_offsets")

    assert result.error_code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert result.error_message is not None
    assert "replication factor of 3" in result.error_message
    assert not cluster.records


def test_other_topic_gets_the_brokers_defaults(cluster_with: ClusterWith) -> None:
    """num.partitions holds for a topic that a client needs."""
    cluster = cluster_with(num_partitions="3")

    result = auto_create(cluster, "t")

    assert (result.name, result.num_partitions) == ("t", 3)
    assert not cluster.image.topic_configs("t")


def test_topic_that_is_there_is_a_success_without_records(cluster: Cluster) -> None:
    """Two clients may need the same topic at once; the second gets what the first made."""
    first = auto_create(cluster, "t")
    generation = cluster.image.generation

    second = auto_create(cluster, "t")

    assert (second.error_code, second.topic_id, second.num_partitions) == (0, first.topic_id, 1)
    assert cluster.image.generation == generation


def test_bad_name_is_not_created(cluster: Cluster) -> None:
    """A name is checked however it comes."""
    assert auto_create(cluster, "a b").error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_ordinary_topic_has_no_settings_of_its_own() -> None:
    """Only internal topics come with settings."""
    wanted = topic_on_demand("t", Settings.load())

    assert (wanted.num_partitions, wanted.replication_factor, wanted.configs) == (-1, -1, [])
