"""Value types that every room speaks.

Source: Kafka's own nouns (TopicPartition, topic id of KIP-516).
"""

import base64
from typing import NamedTuple, NewType

TopicId = NewType("TopicId", bytes)
"""The 16 raw bytes of a topic's UUID, as they stand on the wire."""

NO_TOPIC_ID = TopicId(bytes(16))


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def topic_id_text(topic_id: bytes) -> str:
    """Write a topic id as Kafka prints it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def topic_id_from_text(text: str) -> TopicId:
    """Read back what `topic_id_text` wrote. Raises ValueError on anything else."""
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != 16:
        raise ValueError(f"a topic id has 16 bytes, {text!r} has {len(raw)}")
    return TopicId(raw)
