"""Metadata and DescribeCluster: which broker there is, which topics, and who leads them.

Metadata: v0 takes no topics to mean all, later versions null. From v4 on the client says whether
asking for a topic may make it; from v12 on topics may be asked for by id.

Source: KIP-204, KIP-516, KIP-700; Kafka's KafkaApis.handleTopicMetadataRequest and
AutoTopicCreationManager. Unlike Kafka, the answer that creates a topic has it, with its leader.
"""

from wirekafka.handlers.authorized import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import NOT_AT_ONCE, NotAtOnce, handles
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.metadata import TopicImage, is_internal, validate_name
from wirekafka.protocol.apis.describe_cluster import (
    DESCRIBE_CLUSTER,
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from wirekafka.protocol.apis.metadata import (
    METADATA,
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from wirekafka.protocol.connection import Built
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.metadata_pieces import piece_of, with_topics

_TOPIC_IDS_SINCE = 12
_BROKERS, _CONTROLLERS = 1, 2


def _refuse(request: MetadataRequest, error: KafkaError) -> MetadataResponse:
    topics = [_failed(topic.name or "", topic.topic_id, error.code) for topic in request.topics or ()]
    return MetadataResponse(brokers=[], topics=topics, error_code=error.code)


def _kept_metadata(request: MetadataRequest, context: RequestContext) -> Built | NotAtOnce:
    """Answer with the bytes of the last time, or make them, where all that is asked for is there."""
    asked = request.topics
    key = (
        METADATA.key,
        context.version,
        context.endpoint,
        None if asked is None else tuple((topic.name, topic.topic_id) for topic in asked),
        request.include_topic_authorized_operations,
        request.include_cluster_authorized_operations,
    )
    kept = context.broker.kept_answers
    found = kept.find(key)
    if found is not None:
        return found
    _check_topics(request, context.version)
    topics = _topics_there(request, context)
    if topics is None:
        return NOT_AT_ONCE
    pieces = [_piece(topic, request, context) for topic in topics]
    return kept.keep(key, with_topics(_response([], request, context), pieces, context.version))


def _piece(topic: TopicImage, request: MetadataRequest, context: RequestContext) -> bytes:
    """What the answer says of a topic; the bytes of the last time while that has not changed."""
    broker, with_operations = context.broker, request.include_topic_authorized_operations
    key = (context.version, with_operations, topic.topic_id)
    mark = (topic.generation, broker.partitions.generation_of(topic.name))
    found = broker.kept_pieces.find(key, mark)
    if found is not None:
        return found
    described = _described(topic, context)
    if with_operations:
        described.topic_authorized_operations = TOPIC_OPERATIONS
    return broker.kept_pieces.keep(key, mark, piece_of(described, context.version))


@handles(METADATA, refusal=_refuse, at_once=_kept_metadata)
async def metadata(request: MetadataRequest, context: RequestContext) -> MetadataResponse:
    _check_topics(request, context.version)
    return _response(await _topics(request, context), request, context)


def _response(
    topics: list[MetadataResponseTopic], request: MetadataRequest, context: RequestContext
) -> MetadataResponse:
    if request.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = TOPIC_OPERATIONS
    broker, endpoint = context.broker, context.endpoint
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(
                node_id=broker.node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
        ],
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        topics=topics,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return response


def _check_topics(request: MetadataRequest, version: int) -> None:
    """A topic is asked for by name, or from v12 on by id; Kafka fails at neither without saying why."""
    by_id = version >= _TOPIC_IDS_SINCE
    for topic in request.topics or ():
        if topic.name is None and (not by_id or topic.topic_id == NO_TOPIC_ID):
            raise KafkaError(ErrorCode.INVALID_REQUEST, "A topic without a name or an id was asked for.")
        if topic.topic_id != NO_TOPIC_ID and not by_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Metadata v{version} knows no topic ids.")


def _topics_there(request: MetadataRequest, context: RequestContext) -> list[TopicImage] | None:
    """What is asked for, in order; None if one of it is not there."""
    image = context.broker.image
    if request.topics is None or (context.version == 0 and not request.topics):
        return list(image.topics.values())
    ids = dict.fromkeys(topic.topic_id for topic in request.topics if topic.topic_id != NO_TOPIC_ID)
    names = dict.fromkeys(topic.name for topic in request.topics if topic.name is not None)
    if ids:
        wanted = [image.topics_by_id.get(topic_id) for topic_id in ids]
    else:
        wanted = [image.topics.get(name) for name in names]
    there = [topic for topic in wanted if topic is not None]
    return there if len(there) == len(wanted) else None


async def _topics(request: MetadataRequest, context: RequestContext) -> list[MetadataResponseTopic]:
    there = _topics_there(request, context)
    if there is not None:
        return [_described(topic, context) for topic in there]
    assert request.topics is not None
    ids = dict.fromkeys(topic.topic_id for topic in request.topics if topic.topic_id != NO_TOPIC_ID)
    if ids:
        return [_by_id(topic_id, context) for topic_id in ids]
    names = dict.fromkeys(topic.name for topic in request.topics if topic.name is not None)
    return [await _by_name(name, context, may_create=request.allow_auto_topic_creation) for name in names]


def _by_id(topic_id: bytes, context: RequestContext) -> MetadataResponseTopic:
    topic = context.broker.image.topics_by_id.get(topic_id)
    if topic is None:
        return _failed(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    return _described(topic, context)


async def _by_name(name: str, context: RequestContext, *, may_create: bool) -> MetadataResponseTopic:
    broker = context.broker
    try:
        if name not in broker.image.topics:
            validate_name(name)
            if not may_create or not broker.settings.get_bool("auto.create.topics.enable"):
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            await broker.cluster.auto_create_topic(name)
        return _described(broker.image.topics[name], context)
    except KafkaError as error:
        return _failed(name, NO_TOPIC_ID, error.code)


def _described(topic: TopicImage, context: RequestContext) -> MetadataResponseTopic:
    partitions = context.broker.partitions
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=is_internal(topic.name),
        partitions=[
            MetadataResponsePartition(
                error_code=ErrorCode.NONE,
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.isr),
                offline_replicas=[] if partitions.is_online(topic.name, index) else list(partition.replicas),
            )
            for index, partition in topic.partitions.items()
        ],
    )


def _failed(name: str | None, topic_id: bytes, code: ErrorCode) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=name is not None and is_internal(name),
        partitions=[],
    )


def _refuse_cluster(request: DescribeClusterRequest, error: KafkaError) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        throttle_time_ms=0, error_code=error.code, error_message=error.message, cluster_id="", brokers=[]
    )


@handles(DESCRIBE_CLUSTER, refusal=_refuse_cluster)
async def describe_cluster(
    request: DescribeClusterRequest, context: RequestContext
) -> DescribeClusterResponse:
    if request.endpoint_type == _CONTROLLERS:
        raise KafkaError(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "This is a broker's endpoint, and describes brokers.",
        )
    if request.endpoint_type != _BROKERS:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"There is no endpoint type {request.endpoint_type}."
        )
    broker, endpoint = context.broker, context.endpoint
    response = DescribeClusterResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = CLUSTER_OPERATIONS
    return response
