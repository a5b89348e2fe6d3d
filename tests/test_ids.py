"""Tests of ids.py."""

import pytest

from wirekafka.ids import NO_TOPIC_ID, TopicPartition, uuid_from_text, uuid_text

KAFKA_S_ID = bytes.fromhex("4ce8e1d0f2f34a5d9e3b6d3e7fbfff3e")


def test_a_topic_partition_is_written_as_its_folder_is() -> None:
    """Kafka's TopicPartition.toString."""
    assert str(TopicPartition("a-b.c", 3)) == "a-b.c-3"


def test_a_uuid_is_written_as_kafka_prints_it() -> None:
    """Uuid.toString: URL-safe base64 of the sixteen bytes, without padding."""
    assert uuid_text(KAFKA_S_ID) == "TOjh0PLzSl2eO20-f7__Pg"
    assert uuid_text(NO_TOPIC_ID) == "A" * 22


def test_a_uuid_is_read_back_from_its_text() -> None:
    """partition.metadata holds the text."""
    assert uuid_from_text(uuid_text(KAFKA_S_ID)) == KAFKA_S_ID


@pytest.mark.parametrize("text", ["", "AAAA", "A" * 23, "A" * 24])
def test_a_text_of_another_length_is_no_uuid(text: str) -> None:
    """Sixteen bytes or nothing."""
    with pytest.raises(ValueError):  # noqa: PT011 - base64's own message for some of these
        uuid_from_text(text)
