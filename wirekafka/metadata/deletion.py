"""DeleteTopics: which topics the request names, by name or id, and the records that remove them.

Called by `MetadataMachine.delete_topics`; changes nothing.

Source: Kafka's ControllerApis.deleteTopics and ReplicationControlManager (findTopicIds, findTopicNames).
"""

from collections import Counter

from wirekafka.ids import NO_TOPIC_ID, uuid_text
from wirekafka.metadata.image import TopicImage
from wirekafka.metadata.records import MetadataRecord
from wirekafka.metadata.state import ClusterState
from wirekafka.protocol.apis.delete_topics import DeletableTopicResult, DeleteTopicsRequest
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import RemoveTopicRecord


def plan_deletions(
    request: DeleteTopicsRequest, state: ClusterState, disabled: ErrorCode
) -> tuple[list[MetadataRecord], list[DeletableTopicResult]]:
    """Give the records that remove the topics asked for, and a result for every topic named.

    `disabled` is the code for delete.topic.enable=false.
    """
    if not state.settings.get_bool("delete.topic.enable"):
        return [], _refuse_all(request, disabled)
    results = _ill_named(request)
    names = Counter(
        request.topic_names
        + [topic.name for topic in request.topics if topic.name is not None and topic.topic_id == NO_TOPIC_ID]
    )
    ids = Counter(
        topic.topic_id for topic in request.topics if topic.name is None and topic.topic_id != NO_TOPIC_ID
    )
    found: dict[bytes, TopicImage] = {}
    for topic_id, times in ids.items():
        try:
            found[topic_id] = _by_id(topic_id, times, state)
        except KafkaError as error:
            results.append(_result(None, topic_id, error))
    for name, times in names.items():
        try:
            topic = _by_name(name, times, state)
        except KafkaError as error:
            results.append(_result(name, NO_TOPIC_ID, error))
            continue
        if topic.topic_id in ids:
            found.pop(topic.topic_id, None)
            results.append(_result(name, topic.topic_id, _NAMED_TWO_WAYS))
            continue
        found[topic.topic_id] = topic
    results += [_result(topic.name, topic.topic_id) for topic in found.values()]
    return [RemoveTopicRecord(topic_id=topic_id) for topic_id in found], results


_NAMED_TWO_WAYS = KafkaError(
    ErrorCode.INVALID_REQUEST, "The provided topic name maps to an ID that was already supplied."
)


def _ill_named(request: DeleteTopicsRequest) -> list[DeletableTopicResult]:
    results = []
    for topic in request.topics:
        if (topic.name is None) == (topic.topic_id == NO_TOPIC_ID):
            fault = (
                "Neither topic name nor id were specified."
                if topic.name is None
                else "You may not specify both topic name and topic id."
            )
            results.append(_result(topic.name, topic.topic_id, KafkaError(ErrorCode.INVALID_REQUEST, fault)))
    return results


def _by_id(topic_id: bytes, times: int, state: ClusterState) -> TopicImage:
    if times > 1:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic id.")
    topic = state.image.topics_by_id.get(topic_id)
    if topic is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_ID, f"This server does not host topic id {uuid_text(topic_id)}."
        )
    return topic


def _by_name(name: str, times: int, state: ClusterState) -> TopicImage:
    if times > 1:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    topic = state.image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"This server does not host topic '{name}'.")
    return topic


def _refuse_all(request: DeleteTopicsRequest, code: ErrorCode) -> list[DeletableTopicResult]:
    error = KafkaError(code, "Topic deletion is disabled: delete.topic.enable is false.")
    named = [(name, NO_TOPIC_ID) for name in request.topic_names]
    return [
        _result(name, topic_id, error)
        for name, topic_id in named + [(topic.name, topic.topic_id) for topic in request.topics]
    ]


def _result(name: str | None, topic_id: bytes, error: KafkaError | None = None) -> DeletableTopicResult:
    return DeletableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
    )
