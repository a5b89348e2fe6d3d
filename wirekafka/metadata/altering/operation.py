"""What a request asks of one resource: its settings changed one by one, or all of them replaced.

Made by `MetadataMachine` from the two requests; `planning` and `brokers` work the new values out.

Source: KIP-339, KIP-248; Kafka's AlterConfigOp, ConfigurationControlManager (append, subtract).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from wirekafka.protocol.error_codes import ErrorCode, KafkaError


class OperationType(IntEnum):
    """What is done to a setting, by the code that IncrementalAlterConfigs gives it."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Operation:
    """One setting to be changed; `value` is null for a deletion."""

    name: str
    value: str | None
    operation_type: int = OperationType.SET

    @property
    def of_list(self) -> bool:
        """Whether it adds to a list or takes from it."""
        return self.operation_type in (OperationType.APPEND, OperationType.SUBTRACT)

    def result(self, present: str | None, default: str | None) -> str | None:
        """Give the value the setting has afterwards; None when it has none of its own any more.

        `present` is its own value before, None without one; `default` is what a list begins with then.
        """
        if self.operation_type == OperationType.SET:
            return self.value
        if self.operation_type == OperationType.DELETE:
            return None
        entries = _entries(default or "") if present is None else _entries(present)
        for entry in _cut(self.value or ""):
            if self.operation_type == OperationType.APPEND and entry not in entries:
                entries.append(entry)
            elif self.operation_type == OperationType.SUBTRACT and entry in entries:
                entries.remove(entry)
        return ",".join(entries)


@dataclass(frozen=True, slots=True)
class Alteration:
    """All that a request asks of one resource; `replaces`: what is not named is deleted (AlterConfigs)."""

    resource_type: int
    resource_name: str
    operations: tuple[Operation, ...]
    replaces: bool = False

    @property
    def resource(self) -> tuple[int, str]:
        return self.resource_type, self.resource_name

    def check_form(self) -> None:
        """Raise INVALID_REQUEST for a setting named twice, and for null where it is no deletion."""
        names = [operation.name for operation in self.operations]
        if len(set(names)) < len(names):
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
        nulls = [
            operation.name
            for operation in self.operations
            if operation.value is None and operation.operation_type != OperationType.DELETE
        ]
        if nulls:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")

    def check_operation_types(self) -> None:
        """Raise INVALID_REQUEST for an operation that nobody knows."""
        for operation in self.operations:
            if operation.operation_type not in tuple(OperationType):
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation.operation_type}"
                )

    def deleted(self, present: Mapping[str, str]) -> list[str]:
        """Name the settings that go because nobody named them."""
        named = {operation.name for operation in self.operations}
        return [name for name in present if name not in named] if self.replaces else []


def _entries(text: str) -> list[str]:
    return [entry for entry in text.split(",") if entry]


def _cut(text: str) -> list[str]:
    """Split as Java does, which drops empty entries at the end, but gives one for no text at all."""
    entries = text.split(",")
    while len(entries) > 1 and not entries[-1]:
        entries.pop()
    return [] if entries == [""] and text else entries
