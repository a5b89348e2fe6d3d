"""Requests that alter settings, and what is told of the settings then.

Called by the scenarios `altering` and `altering_others`. Source: KIP-133, KIP-339.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from compat_tests.differential.side import Side
from compat_tests.differential.topics import create_topic
from wirekafka.protocol.apis.alter_configs import (
    AlterConfigsEntry,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
Operation = tuple[str, int, str | None]
DESCRIBED_AT = 4
OF_DEFAULTS = 5
OF_ALL_BROKERS = 3
MARKED, MARK = "marked", "file.delete.delay.ms"
_values = itertools.count(1)


def changed(
    resource_type: int, name: str, *operations: Operation, validate_only: bool = False
) -> IncrementalAlterConfigsRequest:
    """Change some settings of one resource."""
    return changed_together((resource_type, name, operations), validate_only=validate_only)


def changed_together(
    *changes: tuple[int, str, Sequence[Operation]], validate_only: bool = False
) -> IncrementalAlterConfigsRequest:
    """Change settings of several resources."""
    resources = [
        IncrementalAlterConfigsResource(
            resource_type=resource_type,
            resource_name=name,
            configs=[
                IncrementalAlterConfigsEntry(name=config, config_operation=operation, value=value)
                for config, operation, value in operations
            ],
        )
        for resource_type, name, operations in changes
    ]
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only)


def replaced(
    resource_type: int, name: str, configs: Mapping[str, str | None], *, validate_only: bool = False
) -> AlterConfigsRequest:
    """Replace all settings of one resource."""
    return replaced_together((resource_type, name, [*configs.items()]), validate_only=validate_only)


def replaced_together(
    *changes: tuple[int, str, Sequence[tuple[str, str | None]]], validate_only: bool = False
) -> AlterConfigsRequest:
    """Replace all settings of several resources."""
    resources = [
        AlterConfigsResource(
            resource_type=resource_type,
            resource_name=name,
            configs=[AlterConfigsEntry(name=config, value=value) for config, value in configs],
        )
        for resource_type, name, configs in changes
    ]
    return AlterConfigsRequest(resources=resources, validate_only=validate_only)


def only_set(refused: Mapping[str, tuple[Operation, ...]]) -> dict[str, dict[str, str | None]]:
    """Give those of the cases that AlterConfigs can ask too."""
    return {
        label: {name: value for name, _, value in operations}
        for label, operations in refused.items()
        if all(operation == SET for _, operation, _ in operations) and label != "name twice"
    }


def settings_of(side: Side, label: str, resource_type: int, name: str, version: int) -> None:
    """Write down the settings that are not defaults, once all that was altered before is told of."""
    settle(side)
    side.ask(f"{label} (after v{version})", _described(resource_type, name), DESCRIBED_AT, keep=_made)


def settle(side: Side) -> None:
    """Wait until the broker tells of what was altered last.

    Apache Kafka answers when its controller has the change, and its broker follows a moment later, in the
    order of the changes: so one more is made, of a topic that is there for it.
    """
    value = str(next(_values))
    if side.arrange(_described(TOPIC, MARKED), DESCRIBED_AT).results[0].error_code:
        create_topic(side, MARKED)
    side.arrange(changed(TOPIC, MARKED, (MARK, SET, value)), 1)
    side.arrange_until(
        _described(TOPIC, MARKED, [MARK]),
        DESCRIBED_AT,
        lambda answer: answer.results[0].configs[0].value == value,
    )


def _described(resource_type: int, name: str, keys: list[str] | None = None) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=resource_type, resource_name=name, configuration_keys=keys
    )
    return DescribeConfigsRequest(resources=[resource], include_synonyms=True)


# Any: a DescribeConfigsResponse.
def _made(answer: Any) -> None:
    """Leave out what nobody has made; min.insync.replicas a cluster of Kafka's makes for itself."""
    for result in answer.results:
        result.configs = [
            config for config in result.configs if config.config_source not in (OF_DEFAULTS, OF_ALL_BROKERS)
        ]
