"""Tests of groups/consumer_protocol.py: the bytes inside JoinGroup and SyncGroup."""

import pytest

from tests.support.consumer_playbook import KnownTopics
from tests.support.consumer_protocol import subscription_bytes
from wirekafka.groups.consumer_protocol import (
    assignment_bytes,
    owned_topics,
    subscribed_topics,
    subscription_of,
)
from wirekafka.protocol.apis.join_group import JoinGroupRequestProtocol
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_protocol import ConsumerProtocolSubscription


def offered(*metadata: bytes) -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(name=f"p{n}", metadata=data) for n, data in enumerate(metadata)]


@pytest.fixture
def topics() -> KnownTopics:
    known = KnownTopics()
    known.put("t", 3)
    known.put("u", 1)
    return known


def test_first_protocol_is_the_one_that_is_read() -> None:
    """The others say the same, in the words of other assignors."""
    read = subscription_of(offered(subscription_bytes(["t"], {"t": [1]}, rack_id="r"), b"whatever"))

    assert (read.topics, read.rack_id, read.generation_id) == (["t"], "r", -1)
    assert [(one.topic, one.partitions) for one in read.owned_partitions] == [("t", [1])]


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\xff\xff\0\0\0\0", b"\0\0\0\0\0\1", b"\0\1\0\0\0\0"])
def test_bytes_that_are_no_subscription_are_refused(metadata: bytes) -> None:
    with pytest.raises(KafkaError, match="malformed") as refusal:
        subscription_of(offered(metadata))

    assert refusal.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_owned_partitions_have_topic_ids(topics: KnownTopics) -> None:
    """A topic that was deleted is nobody's."""
    subscription = subscription_of(offered(subscription_bytes(["t"], {"t": [2, 0], "gone": [0]})))
    owned = owned_topics(subscription, topics)

    known = topics.named("t")
    assert known is not None
    assert [(one.topic_id, one.partitions) for one in owned] == [(known.topic_id, [2, 0])]


@pytest.mark.parametrize(("said", "written"), [(0, 0), (2, 2), (3, 3), (9, 3)])
def test_assignment_has_the_version_of_the_subscription(topics: KnownTopics, said: int, written: int) -> None:
    """At most the newest that is known here; topics in the order of their ids, and none that is gone."""
    t, u = topics.named("t"), topics.named("u")
    assert t is not None
    assert u is not None
    assigned = {u.topic_id: {0: 5}, t.topic_id: {2: 5, 0: 5}, b"\xff" * 16: {1: 5}}
    data = assignment_bytes(assigned, topics, bytes([0, said]))

    assert data == (
        bytes([0, written])
        + b"\0\0\0\2"
        + (b"\0\1t" + b"\0\0\0\2" + b"\0\0\0\0" + b"\0\0\0\2")
        + (b"\0\1u" + b"\0\0\0\1" + b"\0\0\0\0")
        + b"\xff\xff\xff\xff"
    )


def written(version: int, *topics: str) -> bytes:
    body = ConsumerProtocolSubscription(topics=list(topics), user_data=b"u")
    return version.to_bytes(2, "big") + codec_for(ConsumerProtocolSubscription, version).build(body)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_topics_of_all_members_and_versions_are_gathered(version: int) -> None:
    """Version 0 begins every version, so the rest need not be known."""
    gathered = subscribed_topics([written(version, "a", "b"), written(0, "b", "c")])

    assert gathered == frozenset({"a", "b", "c"})
    assert subscribed_topics([written(version, "a") + b"of a later version"]) == frozenset({"a"})


@pytest.mark.parametrize("broken", [b"", b"\0", b"\0\0\0\0\0\5", written(0, "a")[:-6]])
def test_unreadable_metadata_leaves_the_topics_unknown(broken: bytes) -> None:
    """Kafka then takes the group to be subscribed to anything."""
    assert subscribed_topics([written(0, "a"), broken]) is None
