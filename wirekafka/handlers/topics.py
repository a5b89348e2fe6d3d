"""CreateTopics, DeleteTopics and CreatePartitions: asked of the metadata machine, topic by topic.

Source: KIP-4, KIP-195, KIP-464, KIP-516, KIP-525; Kafka's ControllerApis.
"""

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.apis.create_partitions import (
    CREATE_PARTITIONS,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from wirekafka.protocol.apis.create_topics import (
    CREATE_TOPICS,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from wirekafka.protocol.apis.delete_topics import (
    DELETE_TOPICS,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from wirekafka.protocol.error_codes import KafkaError

_DELETION_DISABLED_SINCE = 3


def _refuse_creation(request: CreateTopicsRequest, error: KafkaError) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        throttle_time_ms=0,
        topics=[
            CreatableTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
            for topic in request.topics
        ],
    )


@handles(CREATE_TOPICS, refusal=_refuse_creation)
async def create_topics(request: CreateTopicsRequest, context: RequestContext) -> CreateTopicsResponse:
    return await context.broker.cluster.create_topics(request)


def _refuse_deletion(request: DeleteTopicsRequest, error: KafkaError) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        throttle_time_ms=0,
        responses=[
            DeletableTopicResult(
                name=topic.name, topic_id=topic.topic_id, error_code=error.code, error_message=error.message
            )
            for topic in _states(request)
        ],
    )


@handles(DELETE_TOPICS, refusal=_refuse_deletion)
async def delete_topics(request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    return await context.broker.cluster.delete_topics(
        request, knows_deletion_disabled=context.version >= _DELETION_DISABLED_SINCE
    )


def _states(request: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """The topics to delete in the form of v6, which names or ids them."""
    return request.topics or [
        DeleteTopicState(name=name, topic_id=NO_TOPIC_ID) for name in request.topic_names
    ]


def _refuse_growth(request: CreatePartitionsRequest, error: KafkaError) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        throttle_time_ms=0,
        results=[
            CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
            for topic in request.topics
        ],
    )


@handles(CREATE_PARTITIONS, refusal=_refuse_growth)
async def create_partitions(
    request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    return await context.broker.cluster.create_partitions(request)
