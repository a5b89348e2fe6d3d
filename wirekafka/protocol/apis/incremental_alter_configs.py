"""Key 44, IncrementalAlterConfigs: set, delete, append to or subtract from single settings of a resource.

v0: the first.
v1: flexible.

Source: KIP-339, KIP-412 (loggers), KIP-482.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BOOLEAN, INT8, INT16, INT32, NULLABLE_STRING, STRING, array_of


class IncrementalAlterConfigsEntry(Message):
    name: str = wire(STRING)
    config_operation: int = wire(INT8)
    value: str | None = wire(NULLABLE_STRING)


class IncrementalAlterConfigsResource(Message):
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)
    configs: list[IncrementalAlterConfigsEntry] = wire(array_of(IncrementalAlterConfigsEntry))


class IncrementalAlterConfigsRequest(Message, versions="0-1", flexible="1+"):
    resources: list[IncrementalAlterConfigsResource] = wire(array_of(IncrementalAlterConfigsResource))
    validate_only: bool = wire(BOOLEAN)


class IncrementalAlterConfigsResourceResponse(Message):
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING)
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)


class IncrementalAlterConfigsResponse(Message, versions="0-1", flexible="1+"):
    throttle_time_ms: int = wire(INT32)
    responses: list[IncrementalAlterConfigsResourceResponse] = wire(
        array_of(IncrementalAlterConfigsResourceResponse)
    )


INCREMENTAL_ALTER_CONFIGS = Api(44, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse)
