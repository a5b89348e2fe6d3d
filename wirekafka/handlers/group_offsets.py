"""OffsetCommit, OffsetFetch and OffsetDelete: how far groups have read.

OffsetFetch: v0-7 ask for one group, v8 and later for many. It and OffsetCommit: from v9 on an unknown
group is named as such, from v10 on topics go by id (KIP-848, KIP-1319). OffsetDelete: v0 only.

A fetch of stable offsets (OffsetFetch v7) is a fetch like any other: without transactions every offset is
stable from when it was committed.

Source: KIP-211, KIP-447, KIP-496, KIP-709; Kafka's KafkaApis.handleOffsetCommitRequest,
handleOffsetFetchRequest and handleOffsetDeleteRequest; the rules are in `groups`.
"""

from collections.abc import Sequence
from typing import cast

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.apis.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from wirekafka.protocol.apis.offset_delete import OFFSET_DELETE, OffsetDeleteRequest, OffsetDeleteResponse
from wirekafka.protocol.apis.offset_fetch import (
    OFFSET_FETCH,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_TOPIC_IDS_SINCE = 10
_UNKNOWN_GROUP_SINCE = 9
_MANY_GROUPS_SINCE = 8
_GROUP_ERROR_SINCE = 2
_NO_OFFSET = -1


def _refuse_commit(request: OffsetCommitRequest, error: KafkaError) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=p.partition_index, error_code=error.code)
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


@handles(OFFSET_COMMIT, refusal=_refuse_commit)
async def offset_commit(request: OffsetCommitRequest, context: RequestContext) -> OffsetCommitResponse:
    request.topics = [topic for topic in request.topics if topic.partitions]
    for topic in request.topics:
        if context.version >= _TOPIC_IDS_SINCE:
            topic.name = _name_of(topic.topic_id, context)
        else:
            topic.topic_id = _id_of(topic.name, context)
    reply = await context.broker.coordination.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.commit_offsets(
            request,
            ticket=ticket,
            now_ms=now_ms,
            group_id_not_found_known=context.version >= _UNKNOWN_GROUP_SINCE,
            by_topic_id=context.version >= _TOPIC_IDS_SINCE,
            partition_exists=context.broker.partitions.exists,
        ),
    )
    return cast(OffsetCommitResponse, reply)


def _refuse_fetch(request: OffsetFetchRequest, error: KafkaError) -> OffsetFetchResponse:
    """The error for each group; in v0-7 at the top, and in every partition for v1, which has no top."""
    return OffsetFetchResponse(
        error_code=error.code,
        topics=_failed_topics(request.topics, error.code),
        groups=[
            OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=error.code)
            for group in request.groups
        ],
    )


@handles(OFFSET_FETCH, refusal=_refuse_fetch)
async def offset_fetch(request: OffsetFetchRequest, context: RequestContext) -> OffsetFetchResponse:
    if context.version >= _MANY_GROUPS_SINCE:
        return OffsetFetchResponse(groups=[_fetch_group(group, context) for group in request.groups])
    asked = OffsetFetchRequestGroup(
        group_id=request.group_id,
        topics=None
        if request.topics is None
        else [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ],
    )
    return _as_one_group(_fetch_group(asked, context), asked, context)


def _fetch_group(group: OffsetFetchRequestGroup, context: RequestContext) -> OffsetFetchResponseGroup:
    by_id = context.version >= _TOPIC_IDS_SINCE
    if by_id:
        for topic in group.topics or ():
            topic.name = _name_of(topic.topic_id, context)
    try:
        answer = context.broker.coordination.look(group.group_id).fetch_offsets(group, by_topic_id=by_id)
    except KafkaError as error:
        return OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=error.code)
    if by_id and group.topics is None:
        for found in answer.topics:
            if found.topic_id == NO_TOPIC_ID:
                found.topic_id = _id_of(found.name, context)
        answer.topics = [topic for topic in answer.topics if topic.topic_id != NO_TOPIC_ID]
    return answer


def _as_one_group(
    group: OffsetFetchResponseGroup, asked: OffsetFetchRequestGroup, context: RequestContext
) -> OffsetFetchResponse:
    """The form of v0-7; v0 and v1 have no place for a group's error but in each partition."""
    response = OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=p.partition_index,
                        committed_offset=p.committed_offset,
                        committed_leader_epoch=p.committed_leader_epoch,
                        metadata=p.metadata,
                        error_code=p.error_code,
                    )
                    for p in topic.partitions
                ],
            )
            for topic in group.topics
        ],
    )
    if group.error_code and context.version < _GROUP_ERROR_SINCE:
        response.topics = _failed_topics(asked.topics, ErrorCode(group.error_code))
    return response


def _failed_topics(
    topics: Sequence[OffsetFetchRequestTopic | OffsetFetchRequestTopics] | None, code: ErrorCode
) -> list[OffsetFetchResponseTopic]:
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index, committed_offset=_NO_OFFSET, metadata="", error_code=code
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in topics or ()
    ]


def _refuse_delete(request: OffsetDeleteRequest, error: KafkaError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=error.code)


@handles(OFFSET_DELETE, refusal=_refuse_delete)
async def offset_delete(request: OffsetDeleteRequest, context: RequestContext) -> OffsetDeleteResponse:
    reply = await context.broker.coordination.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.delete_offsets(
            request, ticket=ticket, now_ms=now_ms, partition_exists=context.broker.partitions.exists
        ),
    )
    return cast(OffsetDeleteResponse, reply)


def _name_of(topic_id: bytes, context: RequestContext) -> str:
    """The topic's name; empty when there is no such topic."""
    topic = context.broker.image.topics_by_id.get(topic_id)
    return "" if topic is None else topic.name


def _id_of(name: str, context: RequestContext) -> bytes:
    """The topic's id; zero when there is no such topic."""
    topic = context.broker.image.topics.get(name)
    return NO_TOPIC_ID if topic is None else topic.topic_id
