"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs: settings, and where each value comes from.

Source: KIP-133, KIP-226 (synonyms), KIP-339, KIP-569 (types, documentation); Kafka's ConfigHelper.
"""

from typing import TypeVar

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.protocol.apis.alter_configs import (
    ALTER_CONFIGS,
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from wirekafka.protocol.apis.describe_configs import (
    DESCRIBE_CONFIGS,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from wirekafka.protocol.apis.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from wirekafka.protocol.error_codes import KafkaError

Refusal = TypeVar("Refusal", AlterConfigsResourceResponse, IncrementalAlterConfigsResourceResponse)


def _refuse_description(request: DescribeConfigsRequest, error: KafkaError) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            DescribeConfigsResult(
                error_code=error.code,
                error_message=error.message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                configs=[],
            )
            for resource in request.resources
        ],
    )


@handles(DESCRIBE_CONFIGS, refusal=_refuse_description)
async def describe_configs(
    request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResponse:
    return context.broker.cluster.describe_configs(request)


def _refusals(
    kind: type[Refusal], request: AlterConfigsRequest | IncrementalAlterConfigsRequest, error: KafkaError
) -> list[Refusal]:
    return [
        kind(
            error_code=error.code,
            error_message=error.message,
            resource_type=resource.resource_type,
            resource_name=resource.resource_name,
        )
        for resource in request.resources
    ]


def _refuse_replacement(request: AlterConfigsRequest, error: KafkaError) -> AlterConfigsResponse:
    return AlterConfigsResponse(
        throttle_time_ms=0, responses=_refusals(AlterConfigsResourceResponse, request, error)
    )


@handles(ALTER_CONFIGS, refusal=_refuse_replacement)
async def alter_configs(request: AlterConfigsRequest, context: RequestContext) -> AlterConfigsResponse:
    return await context.broker.cluster.alter_configs(request)


def _refuse_change(
    request: IncrementalAlterConfigsRequest, error: KafkaError
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(
        throttle_time_ms=0, responses=_refusals(IncrementalAlterConfigsResourceResponse, request, error)
    )


@handles(INCREMENTAL_ALTER_CONFIGS, refusal=_refuse_change)
async def incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    return await context.broker.cluster.incremental_alter_configs(request)
