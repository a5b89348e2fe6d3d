"""Key 32, DescribeConfigs: the settings of topics, brokers and groups, and where each comes from.

v1: the first that Kafka 4.4 serves.
v2: the same form.
v3: adds include_documentation; answer adds results.configs.config_type, adds
    results.configs.documentation.
v4: flexible.

Source: KIP-133, KIP-226 (synonyms), KIP-569 (types and documentation).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    NULLABLE_STRING,
    STRING,
    array_of,
    nullable_array_of,
)


class DescribeConfigsResource(Message):
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)
    configuration_keys: list[str] | None = wire(nullable_array_of(STRING))


class DescribeConfigsRequest(Message, versions="1-4", flexible="4+"):
    resources: list[DescribeConfigsResource] = wire(array_of(DescribeConfigsResource))
    include_synonyms: bool = wire(BOOLEAN, default=False)
    include_documentation: bool = wire(BOOLEAN, "3+", default=False)


class DescribeConfigsSynonym(Message):
    name: str = wire(STRING)
    value: str | None = wire(NULLABLE_STRING)
    source: int = wire(INT8)


class DescribeConfigsResourceResult(Message):
    name: str = wire(STRING)
    value: str | None = wire(NULLABLE_STRING)
    read_only: bool = wire(BOOLEAN)
    config_source: int = wire(INT8, default=-1)
    is_sensitive: bool = wire(BOOLEAN)
    synonyms: list[DescribeConfigsSynonym] = wire(array_of(DescribeConfigsSynonym))
    config_type: int = wire(INT8, "3+", default=0)
    documentation: str | None = wire(NULLABLE_STRING, "3+", default="")


class DescribeConfigsResult(Message):
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING)
    resource_type: int = wire(INT8)
    resource_name: str = wire(STRING)
    configs: list[DescribeConfigsResourceResult] = wire(array_of(DescribeConfigsResourceResult))


class DescribeConfigsResponse(Message, versions="1-4", flexible="4+"):
    throttle_time_ms: int = wire(INT32)
    results: list[DescribeConfigsResult] = wire(array_of(DescribeConfigsResult))


DESCRIBE_CONFIGS = Api(32, DescribeConfigsRequest, DescribeConfigsResponse)
