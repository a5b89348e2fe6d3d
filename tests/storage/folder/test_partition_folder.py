"""Tests of storage.folder.partition_folder: names, and whose folder it is."""

from pathlib import Path

import pytest

from tests.storage.support import TOPIC_ID, TOPIC_PARTITION, UnsyncedFiles
from wirekafka.ids import NO_TOPIC_ID, TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.disk.checkpoints import encode_partition_metadata
from wirekafka.storage.folder.partition_folder import (
    DELETED_ENDING,
    belongs,
    claim,
    is_deleted,
    renamed,
    topic_id_in,
    topic_partition_of,
)

FILES = UnsyncedFiles()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("t-0", TopicPartition("t", 0)),
        ("a-1-12", TopicPartition("a-1", 12)),
        ("t-01", None),
        ("t", None),
        ("t-0.0123456789abcdef0123456789abcdef-delete", None),
        ("-3", None),
    ],
)
def test_partitions_are_told_by_their_folders(name: str, found: TopicPartition | None) -> None:
    """UnifiedLog.parseTopicPartitionName."""
    assert topic_partition_of(name) == found


def test_a_deleted_folder_has_a_name_that_fits(tmp_path: Path) -> None:
    """A topic's name may be as long as a name can be."""
    name = renamed(TopicPartition("t" * 249, 3), bytes(16), DELETED_ENDING)

    assert (len(name), is_deleted(name), topic_partition_of(name)) == (255, True, None)
    assert not is_deleted("t-0")


def flipped(position: int) -> bytes:
    data = bytearray(TOPIC_ID)
    data[position // 8] ^= 1 << position % 8
    return bytes(data)


def test_an_id_with_a_flipped_bit_is_the_topics() -> None:
    """Two ids that were drawn differ in nearly every byte; taken for another's, the folder would go aside."""
    assert all(belongs(flipped(position), TOPIC_ID) for position in range(128))
    assert belongs(NO_TOPIC_ID, TOPIC_ID)
    assert not belongs(TOPIC_ID[:13] + b"\xff\xff\xff", TOPIC_ID)


@pytest.mark.parametrize("damage", [b"", b"version: 0\n", b"\xff\xfe", b"version: 1\ntopic_id: x"])
def test_a_damaged_id_is_written_anew(tmp_path: Path, damage: bytes) -> None:
    """And said, once."""
    (tmp_path / "partition.metadata").write_bytes(damage)
    notices: list[str] = []

    claim(FILES, str(tmp_path), TOPIC_PARTITION, TOPIC_ID, notices)
    claim(FILES, str(tmp_path), TOPIC_PARTITION, TOPIC_ID, notices)

    assert topic_id_in(FILES, str(tmp_path)) == TOPIC_ID
    assert notices == ["t-0: partition.metadata was missing or damaged and is written anew"]


def test_an_empty_folder_is_taken_without_a_word(tmp_path: Path) -> None:
    """It is new."""
    notices: list[str] = []
    claim(FILES, str(tmp_path), TOPIC_PARTITION, TOPIC_ID, notices)

    assert (topic_id_in(FILES, str(tmp_path)), notices) == (TOPIC_ID, [])


def test_another_topics_folder_is_refused(tmp_path: Path) -> None:
    """INCONSISTENT_TOPIC_ID; nothing is written."""
    other = encode_partition_metadata(b"\x99" * 16)
    (tmp_path / "partition.metadata").write_bytes(other)

    with pytest.raises(KafkaError) as caught:
        claim(FILES, str(tmp_path), TOPIC_PARTITION, TOPIC_ID, [])

    assert caught.value.code is ErrorCode.INCONSISTENT_TOPIC_ID
    assert (tmp_path / "partition.metadata").read_bytes() == other
