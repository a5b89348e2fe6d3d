"""Tests of groups/classic/subscriptions.py."""

import pytest

from wirekafka.groups.classic.subscriptions import subscribed_topics
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.stored.consumer_protocol import ConsumerProtocolSubscription


def metadata(version: int, *topics: str) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics), user_data=b"u")
    return version.to_bytes(2, "big") + codec_for(ConsumerProtocolSubscription, version).build(body)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_topics_of_all_members_and_versions_are_gathered(version: int) -> None:
    """Version 0 begins every version, so the rest need not be known."""
    gathered = subscribed_topics([metadata(version, "a", "b"), metadata(0, "b", "c")])

    assert gathered == frozenset({"a", "b", "c"})
    assert subscribed_topics([metadata(version, "a") + b"of a later version"]) == frozenset({"a"})


@pytest.mark.parametrize("broken", [b"", b"\0", b"\0\0\0\0\0\5", metadata(0, "a")[:-6]])
def test_unreadable_metadata_leaves_the_topics_unknown(broken: bytes) -> None:
    """Kafka then takes the group to be subscribed to anything."""
    assert subscribed_topics([metadata(0, "a"), broken]) is None
