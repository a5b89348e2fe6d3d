"""AlterConfigs and IncrementalAlterConfigs: which settings may become what is asked, and the records of it.

Called by `MetadataMachine`; changes nothing. Each resource has its own result: all of its settings change,
or none.

Source: Kafka's ConfigAdminManager.preprocess, ConfigurationControlManager, ControllerConfigurationValidator.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from wirekafka.metadata.altering.brokers import check_broker_change, check_logger_change
from wirekafka.metadata.altering.client_metrics import check_client_metrics
from wirekafka.metadata.altering.groups import check_group
from wirekafka.metadata.altering.operation import Alteration
from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.definition import ConfigDefinition, ConfigType
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS
from wirekafka.metadata.image import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from wirekafka.metadata.state import ClusterState
from wirekafka.metadata.topics import validate_name
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord

LONGEST_VALUE_BYTES = 32_767
"""What a record of the metadata log can hold."""

_NO_LISTS: Mapping[str, ConfigDefinition] = {}
_LISTS = {TOPIC_RESOURCE: TOPIC_CONFIGS, BROKER_RESOURCE: BROKER_CONFIGS}


def plan_alterations(
    alterations: Sequence[Alteration], state: ClusterState
) -> tuple[list[ConfigRecord], list[KafkaError | None]]:
    """Give the records of what may be changed, and for each alteration the error or None.

    A resource that stands twice is refused each time.
    """
    times = Counter(alteration.resource for alteration in alterations)
    records: list[ConfigRecord] = []
    errors: list[KafkaError | None] = []
    for alteration in alterations:
        try:
            if times[alteration.resource] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            records += _plan(alteration, state)
        except KafkaError as error:
            errors.append(error)
        else:
            errors.append(None)
    return records, errors


def _plan(alteration: Alteration, state: ClusterState) -> list[ConfigRecord]:
    alteration.check_form()
    if alteration.resource_type == BROKER_LOGGER_RESOURCE and not alteration.replaces:
        check_logger_change(alteration, state.node_id)
        return []
    check_result = _CHECKS.get(alteration.resource_type)
    if check_result is None and alteration.resource_type != BROKER_RESOURCE:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {alteration.resource_type}")
    alteration.check_operation_types()
    if alteration.resource_type == BROKER_RESOURCE:
        check_broker_change(alteration, state)
    present = state.image.configs(*alteration.resource)
    changes = _changes(alteration, present)
    if check_result is not None:
        after = {name: value for name, value in {**present, **changes}.items() if value is not None}
        check_result(alteration.resource_name, after, state)
    return [
        ConfigRecord(
            resource_type=alteration.resource_type,
            resource_name=alteration.resource_name,
            name=name,
            value=value,
        )
        for name, value in changes.items()
    ]


def _changes(alteration: Alteration, present: Mapping[str, str]) -> dict[str, str | None]:
    """The settings that get another value, or none, by name.

    What a broker is told again is recorded again, as in Kafka, where files are read anew for it.
    """
    changes: dict[str, str | None] = {}
    definitions = _LISTS.get(alteration.resource_type, _NO_LISTS)
    for operation in alteration.operations:
        definition = definitions.get(operation.name)
        default = None
        if operation.of_list:
            if definition is None or definition.type is not ConfigType.LIST:
                raise KafkaError(
                    ErrorCode.INVALID_CONFIG,
                    f"Can't append to or subtract from key {operation.name} because its type is not LIST.",
                )
            default = definition.format(definition.default)
        value = operation.result(present.get(operation.name), default)
        if value is not None and len(value.encode()) > LONGEST_VALUE_BYTES:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG,
                f"The value of {operation.name} is longer than {LONGEST_VALUE_BYTES} bytes.",
            )
        if value != present.get(operation.name) or alteration.resource_type == BROKER_RESOURCE:
            changes[operation.name] = value
    return changes | dict.fromkeys(alteration.deleted(present))


def _check_topic(name: str, configs: Mapping[str, str], state: ClusterState) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    validate_name(name)
    state.topic_settings.validate(configs)
    if name not in state.image.topics:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")


_CHECKS: dict[int, Callable[[str, Mapping[str, str], ClusterState], None]] = {
    TOPIC_RESOURCE: _check_topic,
    CLIENT_METRICS_RESOURCE: check_client_metrics,
    GROUP_RESOURCE: check_group,
}
