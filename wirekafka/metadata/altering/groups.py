"""Which settings a group may have of its own, within the bounds that the broker's settings give.

Called by `planning`.

Source: KIP-848, KIP-932, KIP-1071; Kafka's GroupConfig.validate.
"""

from collections.abc import Mapping

from wirekafka.metadata.configs.definition import ConfigError, ConfigValue
from wirekafka.metadata.configs.group import GROUP_CONFIGS, GROUP_TYPES, bounds_of
from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.state import ClusterState
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_TAGS = "streams.rack.aware.assignment.tags"


def check_group(name: str, configs: Mapping[str, str], state: ClusterState) -> None:
    """Raise INVALID_REQUEST for no name, INVALID_CONFIG for settings that a group may not have."""
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
    for config in configs:
        if config not in GROUP_CONFIGS:
            raise _invalid(f"Unknown group config name: {config}")
    tags = [tag.strip() for tag in configs.get(_TAGS, "").split(",")]
    if len(set(tags)) < len(tags):
        raise _invalid(f"{_TAGS} must not contain duplicate tag keys.")
    try:
        values = {config: GROUP_CONFIGS[config].parse(text) for config, text in configs.items()}
    except ConfigError as error:
        raise _invalid(error.message) from error
    _check_bounds(values, state.settings)
    _check_sessions(values, state.settings)
    assignor = values.get("streams.assignor.name")
    if assignor is not None and assignor not in state.settings.get_list("group.streams.assignors"):
        raise _invalid(f"streams.assignor.name '{assignor}' is not a registered task assignor.")
    if str(values.get("errors.deadletterqueue.topic.name", "")).startswith("__"):
        raise _invalid("errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'")


def _check_bounds(values: Mapping[str, ConfigValue], settings: Settings) -> None:
    for name, value in values.items():
        bounds = bounds_of(name)
        if bounds is None or not isinstance(value, int):
            continue
        for broker_name, is_outside in zip(bounds, (int.__lt__, int.__gt__), strict=True):
            if broker_name in settings and is_outside(value, settings.get_int(broker_name)):
                raise _invalid(f"{name} ({value}) must be within {broker_name} ({settings[broker_name]}).")


def _check_sessions(values: Mapping[str, ConfigValue], settings: Settings) -> None:
    for group_type in GROUP_TYPES:
        session, heartbeat = f"{group_type}.session.timeout.ms", f"{group_type}.heartbeat.interval.ms"
        if session not in values and heartbeat not in values:
            continue
        lasts_ms, beats_ms = (values.get(name, settings[f"group.{name}"]) for name in (session, heartbeat))
        assert isinstance(lasts_ms, int)
        assert isinstance(beats_ms, int)
        if lasts_ms <= beats_ms:
            raise _invalid(f"{session} must be greater than {heartbeat}")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_CONFIG, message)
