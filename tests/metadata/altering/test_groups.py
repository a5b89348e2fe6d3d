"""Settings of groups, within what the broker allows."""

import pytest

from tests.metadata.support import GROUP, SET, Cluster, ClusterWith
from wirekafka.protocol.error_codes import ErrorCode


@pytest.mark.parametrize(
    ("config", "value", "is_good"),
    [
        ("consumer.session.timeout.ms", "45000", True),
        ("consumer.session.timeout.ms", "44999", False),
        ("consumer.session.timeout.ms", "60001", False),
        ("consumer.heartbeat.interval.ms", "15000", True),
        ("consumer.heartbeat.interval.ms", "15001", False),
        ("consumer.assignment.interval.ms", "15001", False),
        ("consumer.assignor.offload.enable", "false", True),
        ("share.record.lock.duration.ms", "14999", False),
        ("share.delivery.count.limit", "11", False),
        ("share.partition.max.record.locks", "99", False),
        ("share.auto.offset.reset", "by_duration:P1D", True),
        ("share.isolation.level", "read_nothing", False),
        ("streams.num.standby.replicas", "2", True),
        ("streams.num.standby.replicas", "3", False),
        ("streams.num.warmup.replicas", "21", False),
        ("streams.task.offset.interval.ms", "14999", False),
        ("streams.assignor.name", "sticky", True),
        ("streams.assignor.name", "nope", False),
        ("streams.rack.aware.assignment.tags", "a,b", True),
        ("streams.rack.aware.assignment.tags", "", True),
        ("streams.rack.aware.assignment.tags", "a, a", False),
        ("errors.deadletterqueue.topic.name", "dead", True),
        ("errors.deadletterqueue.topic.name", "__dead", False),
        ("consumer.session.timeout.ms", "x", False),
        ("nope", "1", False),
    ],
)
def test_setting_is_checked(cluster: Cluster, config: str, value: str, is_good: bool) -> None:
    """GroupConfig.validate: every fault is an invalid config."""
    code = cluster.change(GROUP, "g", (config, SET, value))

    assert code == (ErrorCode.NONE if is_good else ErrorCode.INVALID_CONFIG)
    assert cluster.own(GROUP, "g") == ({config: value} if is_good else {})


def test_session_outlasts_the_heartbeat(cluster_with: ClusterWith) -> None:
    """Whichever of the two is the group's own, the other is the broker's."""
    cluster = cluster_with(group_consumer_min_session_timeout_ms="1")
    short = ("consumer.session.timeout.ms", SET, "5000")

    assert cluster.change(GROUP, "g", short) == ErrorCode.INVALID_CONFIG
    assert cluster.change(GROUP, "g", ("consumer.session.timeout.ms", SET, "5001")) == ErrorCode.NONE


def test_group_has_a_name(cluster: Cluster) -> None:
    """There is none for all."""
    code = cluster.change(GROUP, "", ("consumer.session.timeout.ms", SET, "45000"))

    assert code == ErrorCode.INVALID_REQUEST
