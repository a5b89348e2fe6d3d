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


def uuid_text(uuid: bytes) -> str:
    """Write a UUID, of a topic or anything else, as Kafka prints it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(uuid).rstrip(b"=").decode()


def uuid_from_text(text: str) -> bytes:
    """Read back what `uuid_text` wrote. Raises ValueError on anything else."""
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != 16:
        raise ValueError(f"a UUID has 16 bytes, {text!r} has {len(raw)}")
    return raw
