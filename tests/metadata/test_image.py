"""What the image makes of records."""

from wirekafka.metadata.image import MetadataImage, PartitionImage
from wirekafka.metadata.records import MetadataRecord
from wirekafka.metadata.topics import partition_record
from wirekafka.protocol.stored.cluster_metadata import (
    ConfigRecord,
    FeatureLevelRecord,
    PartitionChangeRecord,
    ProducerIdsRecord,
    RemoveTopicRecord,
    TopicRecord,
)

ID = b"\1" * 16


def image_of(*records: MetadataRecord) -> MetadataImage:
    image = MetadataImage()
    for record in records:
        image.apply(record)
    return image


def setting(
    value: str | None, name: str = "retention.ms", resource: tuple[int, str] = (2, "t")
) -> ConfigRecord:
    return ConfigRecord(resource_type=resource[0], resource_name=resource[1], name=name, value=value)


def test_topic_is_found_by_name_and_id() -> None:
    """Both lead to the same topic."""
    image = image_of(TopicRecord(name="t", topic_id=ID), partition_record(ID, 0, [1]))

    assert image.topics["t"] is image.topics_by_id[ID]
    assert image.topics["t"].partitions == {0: PartitionImage(1, 0, (1,), (1,))}


def test_partition_record_replaces_an_earlier_one() -> None:
    """The last word counts."""
    image = image_of(
        TopicRecord(name="t", topic_id=ID), partition_record(ID, 0, [1]), partition_record(ID, 0, [2])
    )

    assert image.topics["t"].partitions[0].leader == 2


def test_each_change_of_the_leader_is_an_epoch() -> None:
    """PartitionRegistration.merge: -2 is none; what is not there stays as it was."""
    image = image_of(
        TopicRecord(name="t", topic_id=ID),
        partition_record(ID, 0, [1]),
        PartitionChangeRecord(partition_id=0, topic_id=ID, leader=2, replicas=[1, 2], isr=[2]),
        PartitionChangeRecord(partition_id=0, topic_id=ID, isr=[1, 2]),
    )

    assert image.topics["t"].partitions[0] == PartitionImage(2, 1, (1, 2), (1, 2))


def test_a_partition_is_never_without_its_leader() -> None:
    """A Kafka that stops says that nobody leads any more; its folder's node does, in the next epoch."""
    image = image_of(
        TopicRecord(name="t", topic_id=ID),
        partition_record(ID, 0, [1]),
        PartitionChangeRecord(partition_id=0, topic_id=ID, leader=-1, isr=[]),
    )

    assert image.topics["t"].partitions[0] == PartitionImage(1, 1, (1,), (1,))


def test_partitions_that_are_alike_share_one_image() -> None:
    """Of ten thousand partitions led by the one broker there is one in memory; another leader is another."""
    image = image_of(
        TopicRecord(name="t", topic_id=ID),
        partition_record(ID, 0, [1]),
        partition_record(ID, 1, [1]),
        partition_record(ID, 2, [1]),
        PartitionChangeRecord(partition_id=2, topic_id=ID, leader=2, replicas=[2], isr=[2]),
    )
    partitions = image.topics["t"].partitions

    assert partitions[0] is partitions[1]
    assert partitions[2] == PartitionImage(2, 1, (2,), (2,))


def test_generation_grows_with_every_record() -> None:
    """Cached answers can be kept by it."""
    image = image_of()
    records: list[MetadataRecord] = [TopicRecord(name="t", topic_id=ID), RemoveTopicRecord(topic_id=ID)]

    for number, record in enumerate(records):
        assert image.generation == number
        image.apply(record)
    assert image.generation == 2


def test_topics_generation_grows_with_its_partitions_alone() -> None:
    """What another topic has does not matter to what is told of one."""
    other = b"\2" * 16
    image = image_of(TopicRecord(name="t", topic_id=ID), TopicRecord(name="u", topic_id=other))
    seen = []
    for record in (
        partition_record(ID, 0, [1]),
        partition_record(ID, 1, [1]),
        PartitionChangeRecord(partition_id=0, topic_id=ID, leader=2),
        partition_record(other, 0, [1]),
        setting("1"),
    ):
        image.apply(record)
        seen.append(image.topics["t"].generation)

    assert seen == [1, 2, 3, 3, 3]


def test_setting_without_value_is_taken_back() -> None:
    """ConfigRecord: null deletes."""
    image = image_of(setting("5"), setting("6"), setting("7", "segment.ms"))
    assert dict(image.topic_configs("t")) == {"retention.ms": "6", "segment.ms": "7"}

    image.apply(setting(None))
    assert dict(image.topic_configs("t")) == {"segment.ms": "7"}

    image.apply(setting(None, "segment.ms"))
    image.apply(setting(None, "never.set"))
    assert not image.topic_configs("t")


def test_removed_topic_takes_its_settings_along() -> None:
    """A new topic of the same name begins afresh; other resources of that name are untouched."""
    image = image_of(
        TopicRecord(name="t", topic_id=ID),
        setting("5"),
        setting("6", resource=(32, "t")),
        RemoveTopicRecord(topic_id=ID),
    )

    assert not image.topics
    assert not image.topic_configs("t")
    assert dict(image.configs(32, "t")) == {"retention.ms": "6"}


def test_colliding_name_is_known_until_its_topic_goes() -> None:
    """Names with neither '.' nor '_' collide with nothing."""
    image = image_of(TopicRecord(name="a.b", topic_id=ID), TopicRecord(name="ab", topic_id=b"\2" * 16))

    assert image.colliding_name("a_b") == "a.b"
    assert image.colliding_name("ab") is None
    image.apply(RemoveTopicRecord(topic_id=b"\2" * 16))
    image.apply(RemoveTopicRecord(topic_id=ID))
    assert image.colliding_name("a_b") is None


def test_features_and_producer_ids_are_kept() -> None:
    """A level of 0 takes a feature back."""
    image = image_of(
        FeatureLevelRecord(name="a", feature_level=2),
        FeatureLevelRecord(name="b", feature_level=1),
        FeatureLevelRecord(name="b", feature_level=0),
        ProducerIdsRecord(broker_id=1, broker_epoch=-1, next_producer_id=3000),
    )

    assert dict(image.features) == {"a": 2}
    assert image.next_producer_id == 3000


def test_brokers_settings_have_a_generation_of_their_own() -> None:
    """What is made of them is made anew only when they change."""
    image = image_of(setting("5"), setting("5", "metrics", (16, "m")))
    assert image.broker_configs_generation == 0

    image.apply(setting("5", "log.retention.ms", (4, "")))
    image.apply(setting(None, "log.retention.ms", (4, "1")))

    assert image.broker_configs_generation == 2
