"""Settings of client metrics subscriptions (KIP-714)."""

import pytest

from tests.metadata.support import METRICS, SET, Cluster
from wirekafka.protocol.error_codes import ErrorCode


@pytest.mark.parametrize(
    ("config", "value", "code"),
    [
        ("interval.ms", "100", ErrorCode.NONE),
        ("interval.ms", "3600000", ErrorCode.NONE),
        ("interval.ms", "99", ErrorCode.INVALID_REQUEST),
        ("interval.ms", "3600001", ErrorCode.INVALID_REQUEST),
        ("interval.ms", "x", ErrorCode.INVALID_CONFIG),
        ("metrics", "org.apache.kafka.consumer.,*", ErrorCode.NONE),
        ("metrics", "a,,b", ErrorCode.INVALID_CONFIG),
        ("match", "", ErrorCode.NONE),
        ("match", "client_id=a.*,client_software_name = Java", ErrorCode.NONE),
        ("match", "client_id", ErrorCode.INVALID_CONFIG),
        ("match", "client_id=", ErrorCode.INVALID_CONFIG),
        ("match", "client_id=a=b", ErrorCode.INVALID_CONFIG),
        ("match", "client=a", ErrorCode.INVALID_CONFIG),
        ("match", "client_id=(", ErrorCode.INVALID_CONFIG),
        ("match", f"client_id={'(' * 5000}{')' * 5000}", ErrorCode.INVALID_CONFIG),
        ("match", "client_id=a{99999999999}", ErrorCode.INVALID_CONFIG),
        ("nope", "1", ErrorCode.INVALID_REQUEST),
    ],
)
def test_setting_is_checked(cluster: Cluster, config: str, value: str, code: ErrorCode) -> None:
    """ClientMetricsConfigs.validate."""
    assert cluster.change(METRICS, "m", (config, SET, value)) == code
    assert cluster.own(METRICS, "m") == ({} if code else {config: value})


def test_subscription_has_a_name(cluster: Cluster) -> None:
    """There is none for all."""
    assert cluster.change(METRICS, "", ("interval.ms", SET, "100")) == ErrorCode.INVALID_REQUEST
