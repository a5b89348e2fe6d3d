"""Kafka's small text files: what stands in them, as values and back.

Used by whatever reads or writes one of them. Offset checkpoints, the leader-epoch checkpoint,
partition.metadata and meta.properties. What cannot be read raises ValueError; the callers know what to do
without.

Source: Kafka's CheckpointFile, OffsetCheckpointFile, LeaderEpochCheckpointFile,
PartitionMetadataFile, MetaProperties.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirekafka.ids import TopicId, TopicPartition, uuid_from_text, uuid_text

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

_VERSION = "0"


def _encode(lines: list[str]) -> bytes:
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def _decode(data: bytes) -> list[list[str]]:
    lines = data.decode().splitlines()
    if len(lines) < 2:
        return []
    if lines[0] != _VERSION:
        raise ValueError(f"version {lines[0]!r} of a checkpoint file")
    if int(lines[1]) != len(lines) - 2:
        raise ValueError(f"a checkpoint file of {len(lines) - 2} entries announces {lines[1]}")
    return [line.split() for line in lines[2:]]


def encode_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    """Write an offset per partition."""
    return _encode([f"{tp.topic} {tp.partition} {offset}" for tp, offset in offsets.items()])


def decode_offsets(data: bytes) -> dict[TopicPartition, int]:
    """Read an offset per partition. Raises ValueError."""
    offsets = {TopicPartition(topic, int(n)): int(offset) for topic, n, offset in _decode(data)}
    if any(offset < 0 for offset in offsets.values()):
        raise ValueError("a checkpoint file with an offset below zero")
    return offsets


def encode_epochs(entries: Iterable[tuple[int, int]]) -> bytes:
    """Write the (epoch, start offset) pairs of one partition."""
    return _encode([f"{epoch} {start_offset}" for epoch, start_offset in entries])


def decode_epochs(data: bytes) -> list[tuple[int, int]]:
    """Read the (epoch, start offset) pairs of one partition. Raises ValueError."""
    return [(int(epoch), int(start_offset)) for epoch, start_offset in _decode(data)]


def encode_partition_metadata(topic_id: bytes) -> bytes:
    """Write the topic id that a partition's folder belongs to."""
    return f"version: 0\ntopic_id: {uuid_text(topic_id)}".encode()


def decode_partition_metadata(data: bytes) -> TopicId:
    """Read the topic id of a partition's folder. Raises ValueError."""
    values = dict(line.split(": ", 1) for line in data.decode().splitlines() if line)
    if values.get("version") != "0" or "topic_id" not in values:
        raise ValueError("not the contents of a partition.metadata file")
    return TopicId(uuid_from_text(values["topic_id"]))


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Whose data folder this is. The ids are text, as Kafka prints UUIDs."""

    cluster_id: str
    node_id: int
    directory_id: str


def encode_meta_properties(properties: MetaProperties) -> bytes:
    """Write meta.properties in the version of KRaft brokers."""
    return (
        f"version=1\ncluster.id={properties.cluster_id}\n"
        f"node.id={properties.node_id}\ndirectory.id={properties.directory_id}\n"
    ).encode()


def decode_meta_properties(data: bytes) -> dict[str, str]:
    """Read the properties by name; any that should be there may be missing."""
    lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#!")
    # The Java writer escapes these in values, and ids hold no other backslash.
    return {name.strip(): value.strip().replace("\\", "") for name, _, value in pairs}
