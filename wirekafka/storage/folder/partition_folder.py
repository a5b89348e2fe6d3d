"""The folder of a partition: its name, the topic it belongs to, and the names it takes when it goes.

Called by `directory`, and by the tools for a stopped broker.

Source: Kafka's UnifiedLog.parseTopicPartitionName, LocalLog.logDeleteDirName and PartitionMetadataFile.
"""

import re

from wirekafka.ids import NO_TOPIC_ID, TopicId, TopicPartition, uuid_text
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.disk.checkpoints import (
    PARTITION_METADATA,
    decode_partition_metadata,
    encode_partition_metadata,
)
from wirekafka.storage.disk.files import Files, read_file, write_file

DELETED_ENDING = "-delete"
STRAY_ENDING = "-stray"
_DELETED = re.compile(r"\.[0-9a-f]{32}-delete$")
_PARTITION = re.compile(r"^([a-zA-Z0-9._-]{1,249})-(0|[1-9][0-9]{0,9})$")
_LONGEST_NAME = 255
_MOST_WRONG_BYTES = 2


def topic_partition_of(name: str) -> TopicPartition | None:
    """The partition that a folder of this name holds; None for any other folder."""
    match = _PARTITION.match(name)
    return None if match is None else TopicPartition(match[1], int(match[2]))


def is_deleted(name: str) -> bool:
    """Whether a folder is one that `renamed` has set aside for its deletion."""
    return _DELETED.search(name) is not None


def renamed(topic_partition: TopicPartition, unique: bytes, ending: str) -> str:
    """A name for a folder that goes, which no other has: `unique` are 16 random bytes."""
    suffix = f"-{topic_partition.partition}.{unique.hex()}{ending}"
    return topic_partition.topic[: _LONGEST_NAME - len(suffix)] + suffix


def topic_id_in(files: Files, folder: str) -> TopicId:
    """The id of the topic that a folder belongs to; all zero when none can be read."""
    data = read_file(files, f"{folder}/{PARTITION_METADATA}")
    if data is None:
        return NO_TOPIC_ID
    try:
        return decode_partition_metadata(data)
    except ValueError:
        return NO_TOPIC_ID


def belongs(written: bytes, topic_id: bytes) -> bool:
    """Whether a folder in which the id `written` was found is the topic's.

    A folder without an id is. So is one whose id differs in a byte or two: ids that were drawn are never
    that alike, but one is what a flipped bit leaves.
    """
    if written == NO_TOPIC_ID:
        return True
    wrong = sum(there != asked_for for there, asked_for in zip(written, topic_id, strict=True))
    return wrong <= _MOST_WRONG_BYTES


def claim(
    files: Files, folder: str, topic_partition: TopicPartition, topic_id: bytes, notices: list[str]
) -> None:
    """See that a folder is the topic's, and that it says so.

    Raises INCONSISTENT_TOPIC_ID for another topic's, OSError.
    """
    written = topic_id_in(files, folder)
    if not belongs(written, topic_id):
        raise KafkaError(
            ErrorCode.INCONSISTENT_TOPIC_ID,
            f"The log of {topic_partition} belongs to the topic with the id {uuid_text(written)}, not "
            f"{uuid_text(topic_id)}.",
        )
    if written == topic_id:
        return
    if files.list_folder(folder):
        notices.append(f"{topic_partition}: {PARTITION_METADATA} was missing or damaged and is written anew")
    write_file(files, f"{folder}/{PARTITION_METADATA}", encode_partition_metadata(topic_id))
