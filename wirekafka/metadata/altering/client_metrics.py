"""Which settings a client metrics subscription may have.

Called by `planning`.

Source: KIP-714; Kafka's ClientMetricsConfigs.validate.
"""

import re
from collections.abc import Mapping

from wirekafka.metadata.configs.definition import ConfigError
from wirekafka.metadata.configs.group import CLIENT_METRICS_CONFIGS
from wirekafka.metadata.state import ClusterState
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

SHORTEST_INTERVAL_MS, LONGEST_INTERVAL_MS = 100, 3_600_000
_MATCHED = frozenset(
    {
        "client_id",
        "client_instance_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)


def check_client_metrics(name: str, configs: Mapping[str, str], _state: ClusterState) -> None:
    """Raise INVALID_REQUEST for a bad name or interval, INVALID_CONFIG for any other bad value."""
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    for config in configs:
        if config not in CLIENT_METRICS_CONFIGS:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {config}")
    try:
        values = {config: CLIENT_METRICS_CONFIGS[config].parse(text) for config, text in configs.items()}
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, error.message) from error
    interval_ms = values.get("interval.ms", SHORTEST_INTERVAL_MS)
    if not isinstance(interval_ms, int) or not SHORTEST_INTERVAL_MS <= interval_ms <= LONGEST_INTERVAL_MS:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {interval_ms} for interval.ms, interval must be between {SHORTEST_INTERVAL_MS}"
            f" and {LONGEST_INTERVAL_MS} (1 hour)",
        )
    patterns = values.get("match", ())
    for pattern in patterns if isinstance(patterns, tuple) else ():
        _check_pattern(pattern)


def _check_pattern(pattern: str) -> None:
    name, *values = pattern.split("=")
    if len(values) == 1 and values[0] and name.strip() in _MATCHED and _is_expression(values[0].strip()):
        return
    raise KafkaError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}")


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        # The latter two for an expression that is too deep, or counts too far.
        return False
    return True
