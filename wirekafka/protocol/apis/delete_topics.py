"""Key 20, DeleteTopics: remove topics and their data.

v1: the first that Kafka 4.4 serves.
v2: the same form.
v3: the same form.
v4: flexible.
v5: answer adds responses.error_message.
v6: adds topics; drops topic_names; answer responses.name may be null, adds responses.topic_id.

Source: KIP-4, KIP-516 (topic ids), KIP-599 (message).
"""

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, NULLABLE_STRING, STRING, UUID, array_of


class DeleteTopicState(Message):
    name: str | None = wire(NULLABLE_STRING, default=None)
    topic_id: bytes = wire(UUID)


class DeleteTopicsRequest(Message, versions="1-6", flexible="4+"):
    topics: list[DeleteTopicState] = wire(array_of(DeleteTopicState), "6+", factory=list)
    topic_names: list[str] = wire(array_of(STRING), "0-5", factory=list)
    timeout_ms: int = wire(INT32)


class DeletableTopicResult(Message):
    name: str | None = wire(NULLABLE_STRING, nullable="6+")
    topic_id: bytes = wire(UUID, "6+", default=NO_TOPIC_ID)
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING, "5+", default=None)


class DeleteTopicsResponse(Message, versions="1-6", flexible="4+"):
    throttle_time_ms: int = wire(INT32)
    responses: list[DeletableTopicResult] = wire(array_of(DeletableTopicResult))


DELETE_TOPICS = Api(20, DeleteTopicsRequest, DeleteTopicsResponse)
