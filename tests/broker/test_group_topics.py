"""group_topics: what groups may know of topics, over the metadata image."""

import pytest

from wirekafka.broker.group_topics import GroupTopics
from wirekafka.groups.topics import TopicFacts, Topics
from wirekafka.ids import TopicId
from wirekafka.metadata import MetadataImage
from wirekafka.protocol.stored.cluster_metadata import (
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)

ID = TopicId(b"\x05" * 16)


def partition(index: int, replicas: list[int]) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=ID,
        replicas=replicas,
        isr=replicas,
        removing_replicas=[],
        adding_replicas=[],
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
    )


@pytest.fixture
def image() -> MetadataImage:
    """One topic of two partitions, the second of which has a replica elsewhere."""
    made = MetadataImage()
    for record in (TopicRecord(name="t", topic_id=ID), partition(0, [1]), partition(1, [1, 2])):
        made.apply(record)
    return made


def test_topic_is_found_by_name_and_by_id(image: MetadataImage) -> None:
    topics: Topics = GroupTopics(image, 1, None)

    assert topics.named("t") == topics.with_id(ID) == TopicFacts("t", ID, 2, (frozenset(), frozenset()))
    assert topics.named("u") is topics.with_id(bytes(16)) is None
    assert list(topics.names()) == ["t"]


def test_racks_are_those_of_replicas_on_this_broker(image: MetadataImage) -> None:
    """Where other brokers stood is not known here."""
    facts = GroupTopics(image, 1, "r").named("t")
    elsewhere = GroupTopics(image, 2, "r").named("t")

    assert facts is not None
    assert elsewhere is not None
    assert facts.racks == (frozenset({"r"}), frozenset({"r"}))
    assert elsewhere.racks == (frozenset(), frozenset({"r"}))


def test_new_partition_and_deletion_are_seen(image: MetadataImage) -> None:
    """What was told before is not told again once it has changed."""
    topics = GroupTopics(image, 1, None)
    before = topics.named("t")
    image.apply(partition(2, [1]))
    grown = topics.named("t")
    image.apply(RemoveTopicRecord(topic_id=ID))

    assert before is not None
    assert grown is not None
    assert (before.partition_count, grown.partition_count) == (2, 3)
    assert topics.named("t") is None


def test_generation_grows_with_changes_of_topics_alone(image: MetadataImage) -> None:
    """So that groups look again only when there may be news for them."""
    topics = GroupTopics(image, 1, None)
    generations = [topics.generation]
    for record in (
        partition(2, [1]),
        ConfigRecord(resource_type=2, resource_name="t", name="retention.ms", value="1"),
        RemoveTopicRecord(topic_id=ID),
    ):
        image.apply(record)
        generations.append(topics.generation)

    first, grown, configured, removed = generations
    assert first < grown == configured < removed
