"""Which settings of a broker may become what is asked while it runs.

Called by `planning` for brokers and their loggers.

Source: Kafka's ConfigAdminManager, DynamicBrokerConfig (validate), DynamicThreadPool, LogCleaner,
DynamicLogConfig, RuntimeLoggerManager.
"""

import re

from wirekafka.metadata.altering.operation import Alteration, OperationType
from wirekafka.metadata.broker_settings import ALL_BROKERS
from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.definition import ConfigError, ConfigType
from wirekafka.metadata.configs.dynamic import check_updatable
from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.state import ClusterState
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_THREADS = (
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
    "remote.log.reader.threads",
)
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_READ_AT_START = ("listener.security.protocol.map", "listeners")


def check_broker_change(alteration: Alteration, state: ClusterState) -> None:
    """Raise INVALID_REQUEST for a setting that may not change, or not to this.

    Also for a name that is not this broker's, and INVALID_CONFIG where a list is meant that is none.
    """
    per_broker = alteration.resource_name != ALL_BROKERS
    if per_broker:
        _check_node_id(alteration.resource_name, state.node_id)
    given = _given_after(alteration, state)
    own = state.broker_settings
    try:
        check_updatable(given, per_broker=per_broker)
        all_brokers, this_broker = (own.all_brokers, given) if per_broker else (given, own.this_broker)
        _check_change(state.settings, own.static.changed(all_brokers, this_broker))
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, error.message) from error


def check_logger_change(alteration: Alteration, node_id: int) -> None:
    """Raise for any change of a logger: wirekafka has none whose level could be set from outside."""
    _check_node_id(alteration.resource_name, node_id)
    for operation in alteration.operations:
        if operation.operation_type not in (OperationType.SET, OperationType.DELETE):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Operation type {operation.operation_type} is not allowed for the BROKER_LOGGER resource",
            )
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Logger {operation.name} does not exist!")


def _check_node_id(name: str, node_id: int) -> None:
    if not _INTEGER.fullmatch(name):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Node id must be an integer, but it is: {name}")
    if int(name) != node_id:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Unexpected broker id, expected {node_id}, but received {name}"
        )


def _given_after(alteration: Alteration, state: ClusterState) -> dict[str, str]:
    """What the broker, or all of them, will have been given at run time."""
    own = state.broker_settings
    present = own.all_brokers if alteration.resource_name == ALL_BROKERS else own.this_broker
    after: dict[str, str | None] = {} if alteration.replaces else dict(present)
    for operation in alteration.operations:
        default = _list_default(operation.name) if operation.of_list else None
        after[operation.name] = operation.result(after.get(operation.name), default)
    return {name: value for name, value in after.items() if value is not None}


def _list_default(name: str) -> str | None:
    definition = BROKER_CONFIGS.get(name)
    if definition is None:
        raise KafkaError(ErrorCode.INVALID_CONFIG, f"Unknown config name: {name}")
    if definition.type is not ConfigType.LIST:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"Config value append or subtract is not allowed for config key: {name}"
        )
    return definition.format(definition.default)


def _check_change(before: Settings, after: Settings) -> None:
    """Raise ConfigError for a step that is too large, and for what would need a restart."""
    for name in _THREADS:
        _check_step(name, before.get_int(name), after.get_int(name))
    for name in _READ_AT_START:
        if before[name] != after[name]:
            raise ConfigError(name, f"wirekafka reads {name} at its start only: it cannot change before.")
    strange = set(after.get_list("cordoned.log.dirs")) - set(after.log_dirs)
    if strange:
        raise ConfigError(
            "cordoned.log.dirs", f"cordoned.log.dirs has {strange.pop()}, which is no folder of log.dirs."
        )


def _check_step(name: str, before: int, after: int) -> None:
    if before != after and not max(before // 2, 1) <= after <= before * 2:
        raise ConfigError(
            name,
            f"Dynamic thread count update validation failed for {name}={after}: it must be at least 1, at"
            f" least half and at most double the current value {before}.",
        )
