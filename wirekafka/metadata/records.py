"""The records of the metadata log, between typed values and bytes.

Used by the journal of the metadata log. A record has no key; its value is a frame version, the
record's own key and version (unsigned varints) and its fields.

Source: Kafka's MetadataRecordSerde, AbstractApiMessageSerde and MetadataRecordType.
"""

from wirekafka.machine import KeyValue
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.stored.cluster_metadata import (
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)

MetadataRecord = (
    TopicRecord
    | PartitionRecord
    | PartitionChangeRecord
    | ConfigRecord
    | RemoveTopicRecord
    | FeatureLevelRecord
    | ProducerIdsRecord
)

FRAME_VERSION = 1
_CLASSES: dict[int, type[MetadataRecord]] = {
    2: TopicRecord,
    3: PartitionRecord,
    4: ConfigRecord,
    5: PartitionChangeRecord,
    9: RemoveTopicRecord,
    12: FeatureLevelRecord,
    15: ProducerIdsRecord,
}
_KEYS: dict[type[MetadataRecord], int] = {cls: key for key, cls in _CLASSES.items()}
# Version 1 is the first with directories; 2 only adds what Kafka keeps for eligible leader replicas.
_VERSIONS: dict[type[MetadataRecord], int] = {PartitionRecord: 1}


class MetadataRecords:
    """How `MetadataMachine`'s records look in their log."""

    def encode(self, record: MetadataRecord, now_ms: int) -> KeyValue:
        """Give the record as bytes, stamped with `now_ms`."""
        cls = type(record)
        version = _VERSIONS.get(cls, 0)
        # Unsigned varints all three, and each too small to need a second byte.
        head = bytes((FRAME_VERSION, _KEYS[cls], version))
        return KeyValue(None, head + codec_for(cls, version).build(record), now_ms)

    def decode(self, item: KeyValue) -> MetadataRecord | None:
        """Read a record; None for a kind of record that wirekafka does not keep.

        Raises MalformedMessage for bytes that are no metadata record, and for a newer version of a kind
        that is kept: to pass over a topic would lose it.
        """
        if item.value is None:
            raise MalformedMessage("a metadata record has a value")
        frame_version, position = _read_uvarint(item.value, 0)
        if frame_version != FRAME_VERSION:
            raise MalformedMessage(
                f"metadata record of frame version {frame_version}, known is {FRAME_VERSION}"
            )
        key, position = _read_uvarint(item.value, position)
        version, position = _read_uvarint(item.value, position)
        cls = _CLASSES.get(key)
        return None if cls is None else codec_for(cls, version).parse(item.value[position:])


def _read_uvarint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data) and shift < 35:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise MalformedMessage("a metadata record ends in the middle of a number")
