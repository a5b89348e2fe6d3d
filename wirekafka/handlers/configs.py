"""DescribeConfigs: settings of topics and of the broker, and where each value comes from.

Source: KIP-133, KIP-226 (synonyms), KIP-569 (types, documentation); Kafka's ConfigHelper.
"""

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.protocol.apis.describe_configs import (
    DESCRIBE_CONFIGS,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from wirekafka.protocol.error_codes import KafkaError


def _refuse(request: DescribeConfigsRequest, error: KafkaError) -> DescribeConfigsResponse:
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


@handles(DESCRIBE_CONFIGS, refusal=_refuse)
async def describe_configs(
    request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResponse:
    return context.broker.cluster.describe_configs(request)
