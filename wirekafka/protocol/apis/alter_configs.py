"""Key 33, AlterConfigs: replace all settings that a topic, a broker or another resource has of its own.

v0: the first.
v1: the same form.
v2: flexible.

Source: KIP-133, KIP-248, KIP-482.
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BOOLEAN, INT8, INT16, INT32, NULLABLE_STRING, STRING, array_of


class AlterConfigsEntry(Message):
    name: str = wire(STRING)
    value: str | None = wire(NULLABLE_STRING)


class AlterConfigsResource(Message):
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)
    configs: list[AlterConfigsEntry] = wire(array_of(AlterConfigsEntry))


class AlterConfigsRequest(Message, versions="0-2", flexible="2+"):
    resources: list[AlterConfigsResource] = wire(array_of(AlterConfigsResource))
    validate_only: bool = wire(BOOLEAN)


class AlterConfigsResourceResponse(Message):
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING)
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)


class AlterConfigsResponse(Message, versions="0-2", flexible="2+"):
    throttle_time_ms: int = wire(INT32)
    responses: list[AlterConfigsResourceResponse] = wire(array_of(AlterConfigsResourceResponse))


ALTER_CONFIGS = Api(33, AlterConfigsRequest, AlterConfigsResponse)
