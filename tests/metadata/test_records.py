"""The bytes of metadata records."""

import pytest

from wirekafka.machine import KeyValue
from wirekafka.metadata.records import MetadataRecord, MetadataRecords
from wirekafka.metadata.topics import partition_record
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.stored.cluster_metadata import (
    ConfigRecord,
    FeatureLevelRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)

ID = bytes(range(16))
CODEC = MetadataRecords()
RECORDS: list[MetadataRecord] = [
    TopicRecord(name="t", topic_id=ID),
    partition_record(ID, 5, [1]),
    ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="5"),
    ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value=None),
    RemoveTopicRecord(topic_id=ID),
    FeatureLevelRecord(name="metadata.version", feature_level=33),
    ProducerIdsRecord(broker_id=1, broker_epoch=-1, next_producer_id=1000),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_record_survives_its_bytes(record: MetadataRecord) -> None:
    """What was encoded is decoded; there is no key, and the time is that given."""
    item = CODEC.encode(record, 77)

    assert (item.key, item.timestamp_ms) == (None, 77)
    assert CODEC.decode(item) == record


def test_topic_record_is_framed_as_in_kafka() -> None:
    """MetadataRecordSerde: frame version 1, record key 2, version 0, then the fields."""
    value = CODEC.encode(RECORDS[0], 0).value

    assert value == b"\x01\x02\x00" + b"\x02t" + ID + b"\x00"


def test_unknown_kind_is_passed_over() -> None:
    """Key 20 is Kafka's NoOpRecord; 300 takes two bytes."""
    assert CODEC.decode(KeyValue(None, b"\x01\x14\x00\x00")) is None
    assert CODEC.decode(KeyValue(None, b"\x01\xac\x02\x00\x00")) is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\x01",
        b"\x01\x02",
        b"\x00\x02\x00",
        b"\x02\x02\x00",
        b"\x01\x02\x09\x02t" + ID + b"\x00",
        b"\x01\x02\x00\x02t" + ID,
        b"\x01\x02\x00\x02t" + ID + b"\x00\x00",
        b"\xff\xff\xff\xff\xff\xff",
    ],
)
def test_bytes_that_are_no_record_are_refused(value: bytes | None) -> None:
    """No value, a torn one, another frame version, a newer version of a kept kind, bytes too many."""
    with pytest.raises(MalformedMessage):
        CODEC.decode(KeyValue(None, value))
