"""Tests of groups/consumer/metadata.py: topics are made, deleted and given partitions."""

from tests.support.consumer_playbook import ConsumerPlaybook
from wirekafka.groups.consumer import stored
from wirekafka.groups.records import ConsumerGroupPartitionMetadata
from wirekafka.groups.topics import metadata_hash
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_groups import ConsumerGroupPartitionMetadataValue


def test_hash_of_the_topics_that_exist_is_stored_with_the_epoch() -> None:
    """KIP-1101: by it the group sees that its topics changed."""
    play = ConsumerPlaybook(t=2)
    play.consumer("a", "t", "missing").join()
    topic = play.topics.named("t")
    assert topic is not None

    assert play.group.metadata_hash == metadata_hash([topic])


def test_new_partitions_are_taken_up_by_the_next_heartbeat() -> None:
    """The epoch is counted up by whoever comes first."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    play.create("t", 3)
    play.pass_ms(1_000)
    consumer.beat()

    assert consumer.has == {"t": [0, 1, 2]}
    assert play.group.group_epoch == 3


def test_deleted_topic_is_given_up() -> None:
    """And its place is taken by a new one of the same name."""
    play = ConsumerPlaybook(t=2, u=1)
    consumer = play.consumer("a", "t", "u")
    consumer.join()
    play.pass_ms(1_000)
    play.delete("t")
    play.settle(consumer)
    assert consumer.has == {"u": [0]}

    play.create("t", 1)
    play.settle(consumer)
    assert consumer.has == {"t": [0], "u": [0]}


def test_topics_of_other_groups_are_none_of_the_groups_business() -> None:
    """No epoch, no record."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    length = len(play.log)
    play.create("other", 1)
    consumer.beat()

    assert play.written_since(length) == []


def test_topics_are_looked_at_again_after_a_restart() -> None:
    """They may have changed while nobody listened."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    play.topics.put("t", 4)
    play.restart(after_ms=1_000)
    consumer.beat()

    assert consumer.has == {"t": [0, 1, 2, 3]}


def test_change_that_could_not_be_written_is_found_again() -> None:
    """The epoch that was noted is beyond that of the group."""
    play = ConsumerPlaybook(t=2)
    (consumer,) = play.settled("a")
    play.create("t", 3)
    play.pass_ms(1_000)
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no")
    assert consumer.beat().error_code == ErrorCode.NOT_COORDINATOR
    play.append_error = None
    consumer.beat()

    assert consumer.has == {"t": [0, 1, 2]}


def test_partition_metadata_of_an_older_kafka_is_deleted() -> None:
    """When the topics are looked at next."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    value = ConsumerGroupPartitionMetadataValue(topics=[])
    stored.apply(play.shard.durable.consumer_groups, ConsumerGroupPartitionMetadata("g", value))
    play.create("t", 2)
    consumer.beat()

    assert not play.group.has_partition_metadata


def test_groups_are_told_apart_by_what_they_read() -> None:
    """Only the group that reads the topic looks at it again."""
    play = ConsumerPlaybook(t=1, u=1)
    play.settled("a", topic="t")
    checked = dict(play.shard.volatile.metadata_checks)
    play.create("u", 2)
    assert play.shard.volatile.metadata_checks == checked
    play.create("t", 2)

    assert play.shard.volatile.metadata_checks == {}


def test_group_that_was_not_made_leaves_nothing_behind() -> None:
    """Neither one that was refused nor one that could not be written: names may be many."""
    play = ConsumerPlaybook(t=2)
    refused = play.consumer("a", "t", regex="(")
    assert refused.join().error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    play.append_error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "full")
    assert play.consumer("b", "t").join().error_code != ErrorCode.NONE

    assert play.shard.volatile.metadata_checks == {}
