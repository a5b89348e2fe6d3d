"""Tests of storage.disk.checkpoints: Kafka's small files, to the byte."""

import pytest

from wirekafka.ids import TopicPartition
from wirekafka.storage.disk.checkpoints import (
    MetaProperties,
    decode_epochs,
    decode_meta_properties,
    decode_offsets,
    decode_partition_metadata,
    encode_epochs,
    encode_meta_properties,
    encode_offsets,
    encode_partition_metadata,
)

OFFSETS = {TopicPartition("a.b_c-d", 0): 5, TopicPartition("x", 11): 1 << 40}
TOPIC_ID = bytes(range(16))


def test_offsets_have_kafkas_form() -> None:
    """Version, count, then topic, partition and offset a line (OffsetCheckpointFile)."""
    data = encode_offsets(OFFSETS)

    assert data == b"0\n2\na.b_c-d 0 5\nx 11 1099511627776\n"
    assert decode_offsets(data) == OFFSETS


def test_epochs_have_kafkas_form() -> None:
    """Version, count, then epoch and start offset a line (LeaderEpochCheckpointFile)."""
    data = encode_epochs([(0, 0), (3, 120)])

    assert data == b"0\n2\n0 0\n3 120\n"
    assert decode_epochs(data) == [(0, 0), (3, 120)]


def test_an_empty_file_has_no_entries() -> None:
    """Kafka makes checkpoint files empty before it first writes them."""
    assert decode_offsets(b"") == {}
    assert decode_epochs(b"0\n") == []
    assert encode_epochs([]) == b"0\n0\n"


@pytest.mark.parametrize(
    "data",
    [
        b"1\n0\n",
        b"0\n2\na 0 5\n",
        b"0\n0\na 0 5\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 x\n",
        b"0\nx\n",
        b"\xff\n1\n",
    ],
)
def test_a_damaged_checkpoint_is_a_value_error(data: bytes) -> None:
    """Wrong version, wrong count, a malformed line, no text at all."""
    with pytest.raises(ValueError, match=r".*"):
        decode_offsets(data)


def test_partition_metadata_has_kafkas_form() -> None:
    """No newline at the end (PartitionMetadata.encode)."""
    data = encode_partition_metadata(TOPIC_ID)

    assert data == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    assert decode_partition_metadata(data) == TOPIC_ID
    assert decode_partition_metadata(data + b"\n") == TOPIC_ID


@pytest.mark.parametrize(
    "data",
    [b"", b"version: 1\ntopic_id: AAECAwQFBgcICQoLDA0ODw", b"version: 0\ntopic_id: AAEC", b"version: 0"],
)
def test_damaged_partition_metadata_is_a_value_error(data: bytes) -> None:
    """As a crash may leave it."""
    with pytest.raises(ValueError, match=r".*"):
        decode_partition_metadata(data)


def test_meta_properties_have_kafkas_form() -> None:
    """Version 1, as KRaft brokers write it (MetaProperties)."""
    data = encode_meta_properties(MetaProperties("q1Sh-9_ISia_zwGINzRvyQ", 3, "AAECAwQFBgcICQoLDA0ODw"))

    assert data == (
        b"version=1\ncluster.id=q1Sh-9_ISia_zwGINzRvyQ\nnode.id=3\ndirectory.id=AAECAwQFBgcICQoLDA0ODw\n"
    )


def test_meta_properties_of_kafka_are_read() -> None:
    """Java writes comments, and escapes what it need not."""
    data = b"#\n#Mon Nov 30 12:00:00 UTC 2026\nversion=1\n\ncluster.id=a\\=b\nnode.id = 3\n"

    assert decode_meta_properties(data) == {"version": "1", "cluster.id": "a=b", "node.id": "3"}
