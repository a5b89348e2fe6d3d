"""What settings must satisfy together, beyond each by itself.

Called by `settings` once all values are known.

Source: the checks of Kafka's KafkaConfig, GroupCoordinatorConfig and LogConfig.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from wirekafka.metadata.configs.broker_groups import ASSIGNOR_NAMES
from wirekafka.metadata.configs.definition import ConfigError, ConfigValue
from wirekafka.metadata.configs.group import GROUP_TYPES, bounds_of
from wirekafka.metadata.configs.topic import HOUR_MS, MINUTE_MS

Values = Mapping[str, ConfigValue]

_NOT_ABOVE = (
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
    ("log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"),
    ("replica.fetch.wait.max.ms", "replica.socket.timeout.ms"),
    ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
    ("group.streams.num.standby.replicas", "group.streams.max.standby.replicas"),
    ("group.streams.num.warmup.replicas", "group.streams.max.warmup.replicas"),
    ("group.streams.min.task.offset.interval.ms", "group.streams.task.offset.interval.ms"),
)
_MEBIBYTE = 1 << 20
_GROUP_TIMES = ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms")


def check_consistency(values: Values) -> None:
    """Raise ConfigError for the first pair of settings that contradict each other."""
    _check_log_times(values)
    for smaller, larger in (*_NOT_ABOVE, *_group_bounds()):
        if _number(values, smaller) > _number(values, larger):
            raise _contradiction(values, smaller, "must not be above", larger)
    for group_type in GROUP_TYPES:
        heartbeat, session = (f"group.{group_type}.{time}" for time in _GROUP_TIMES[:2])
        if _number(values, heartbeat) >= _number(values, session):
            raise _contradiction(values, heartbeat, "must be below", session)
    _check_assignors(values)
    _check_connections(values)
    _check_cleaner(values)


def _group_bounds() -> Iterator[tuple[str, str]]:
    for name in (f"{group_type}.{time}" for group_type in GROUP_TYPES for time in _GROUP_TIMES):
        bounds = bounds_of(name)
        assert bounds is not None
        minimum, maximum = bounds
        yield minimum, maximum
        yield minimum, f"group.{name}"
        yield f"group.{name}", maximum


def _check_assignors(values: Values) -> None:
    """Kafka would load any class that is named; here there are its own two, each at most once."""
    setting, known = "group.consumer.assignors", set(ASSIGNOR_NAMES.values())
    for given in cast(tuple[str, ...], values[setting]):
        name = ASSIGNOR_NAMES.get(given, given)
        if name not in known:
            raise ConfigError(setting, f"{setting} names {given}: it may name uniform and range, each once.")
        known.remove(name)


def _check_log_times(values: Values) -> None:
    for name, minimum in (("log.roll.ms", 1), ("log.roll.jitter.ms", 0)):
        value = values[name]
        if value is not None and _number(values, name) < minimum:
            raise ConfigError(
                name, f"Invalid value {value} for configuration {name}: must be at least {minimum}."
            )
    for name, factor in (
        ("log.retention.ms", 1),
        ("log.retention.minutes", MINUTE_MS),
        ("log.retention.hours", HOUR_MS),
    ):
        if values[name] is None:
            continue
        if _number(values, name) * factor == 0:
            raise ConfigError(
                name, f"Invalid value 0 for configuration {name}: must be at least 1, or -1 for ever."
            )
        return


def _check_connections(values: Values) -> None:
    queued, request = "queued.max.request.bytes", "socket.request.max.bytes"
    if 0 < _number(values, queued) < _number(values, request):
        raise _contradiction(values, queued, "must not be below", request)
    delay, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    if 0 < _number(values, idle) <= _number(values, delay):
        raise _contradiction(values, delay, "must be below", idle)


def _check_cleaner(values: Values) -> None:
    buffer, threads = "log.cleaner.dedupe.buffer.size", "log.cleaner.threads"
    if _number(values, buffer) // max(_number(values, threads), 1) <= _MEBIBYTE:
        raise ConfigError(
            buffer, f"{buffer} ({values[buffer]}) must be more than 1 MiB for each cleaner thread."
        )


def _number(values: Values, name: str) -> int:
    return cast(int, values[name])


def _contradiction(values: Values, name: str, relation: str, other: str) -> ConfigError:
    return ConfigError(name, f"{name} ({values[name]}) {relation} {other} ({values[other]}).")
