"""What most Produce requests are: batches for partitions that are there, any of which may be plain.

Called by `produce`, before anything is written: what is out of the ordinary, so that all of the request has
to be looked at first or is refused, is seen here and goes the usual way.

Source: ours.
"""

from typing import NamedTuple

from wirekafka.broker import Partition
from wirekafka.handlers.context import RequestContext
from wirekafka.metadata import is_internal
from wirekafka.protocol.apis.produce import ProduceRequest, TopicProduceData
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.plain_produce import NEWEST, OLDEST
from wirekafka.protocol.records import HEADER_BYTES
from wirekafka.protocol.records.batch import TRANSACTIONAL_FLAG

_ACKS = (-1, 0, 1)
_TOPIC_IDS_SINCE = 13
_ATTRIBUTES_LOW_BYTE = 22


class PlainTopic(NamedTuple):
    """A topic that may be written to, and a partition for each of its `partition_data`."""

    topic: TopicProduceData
    name: str
    partitions: list[Partition]


def plain_topics(request: ProduceRequest, context: RequestContext) -> list[PlainTopic] | None:
    """What a request writes to; None where the usual way has to be gone. Nothing has been changed."""
    if not OLDEST <= context.version <= NEWEST:
        return None
    if request.transactional_id is not None or request.acks not in _ACKS:
        return None
    try:
        topics = [_plain_topic(topic, context) for topic in request.topic_data]
    except KafkaError:
        return None
    return None if None in topics else topics  # type: ignore[return-value]  # None is in no such list


def _plain_topic(topic: TopicProduceData, context: RequestContext) -> PlainTopic | None:
    """Raises KafkaError for what is not there."""
    partitions = context.broker.partitions
    name = partitions.name_of(topic.topic_id) if context.version >= _TOPIC_IDS_SINCE else topic.name
    if not topic.partition_data or is_internal(name):
        return None
    find, found = partitions.find, []
    for data in topic.partition_data:
        partition, records = find(name, data.index), data.records
        if partition.prepares or records is None or len(records) < HEADER_BYTES:
            return None
        if records[_ATTRIBUTES_LOW_BYTE] & TRANSACTIONAL_FLAG:
            return None
        found.append(partition)
    return PlainTopic(topic, name, found)
