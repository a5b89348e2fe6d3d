"""The metadata machine: producer ids, failures, and replay of what it wrote."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.metadata.support import BROKER, DELETE, SET, TOPIC, Cluster, MakeTopic
from wirekafka.ids import NO_TOPIC_ID, TopicId
from wirekafka.machine import Decision, KeyValue, Machine, Records, Reply, Ticket
from wirekafka.metadata import MetadataMachine, MetadataRecord, MetadataRecords, ProducerIdBlock, Settings
from wirekafka.protocol.apis.alter_configs import (
    AlterConfigsEntry,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from wirekafka.protocol.apis.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from wirekafka.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import ProducerIdsRecord

TICKET = Ticket(7)
SETTINGS = Settings.load()


def test_producer_ids_come_in_blocks_of_a_thousand(cluster: Cluster) -> None:
    """ProducerIdControlManager: each block begins where the last ended, across restarts."""
    blocks = [cluster.carry_out(cluster.machine.allocate_producer_ids(ticket=TICKET)) for _ in range(2)]

    assert blocks == [ProducerIdBlock(0, 1000), ProducerIdBlock(1000, 1000)]
    assert cluster.image.next_producer_id == 2000


def test_producer_ids_run_out(cluster: Cluster) -> None:
    """The last whole block of 64 bits is given; then there is an error, not a wrong id."""
    cluster.machine.apply(ProducerIdsRecord(broker_id=1, broker_epoch=-1, next_producer_id=2**63 - 1000))

    with pytest.raises(KafkaError, match="given away"):
        cluster.machine.allocate_producer_ids(ticket=TICKET)


def test_deciding_alone_changes_nothing(cluster: Cluster) -> None:
    """Only applied records count."""
    decision = cluster.machine.auto_create("t", new_topic_id=cluster.new_topic_id, ticket=TICKET)

    assert len(decision.records) == 2
    assert not cluster.image.topics


def test_failed_append_answers_with_the_error(cluster: Cluster) -> None:
    """The decision that comes back has no records."""
    decision = cluster.machine.allocate_producer_ids(ticket=TICKET)
    error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    undone = cluster.machine.on_append_failed(decision, error, now_ms=5)

    assert (undone.records, undone.replies) == ([], [Reply(TICKET, error)])


def test_nothing_waits_for_time(cluster: Cluster) -> None:
    """Metadata has no deadlines."""
    assert cluster.machine.wake_at_ms() is None
    assert not cluster.machine.on_time(5).records


def test_machine_and_codec_keep_the_contract(cluster: Cluster) -> None:
    """What the journal is typed by."""
    machine: Machine[MetadataRecord] = cluster.machine
    records: Records[MetadataRecord] = MetadataRecords()

    assert machine.wake_at_ms() is None
    assert records.decode(records.encode(ProducerIdsRecord(broker_id=1, next_producer_id=5), 0)) is not None


def test_effective_setting_of_a_topic(cluster: Cluster, topic: MakeTopic) -> None:
    """The topic's own, else the broker's; an unknown topic has none."""
    cluster.create(topic("t", retention_ms="5"))

    assert cluster.machine.topic_config("t")["retention.ms"] == 5
    assert cluster.machine.topic_config("t")["cleanup.policy"] == ("delete",)
    with pytest.raises(KafkaError, match="does not host topic 'u'") as caught:
        cluster.machine.topic_config("u")
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_every_resource_is_answered_for(cluster: Cluster, topic: MakeTopic) -> None:
    """By either request: the error and why, or none."""
    cluster.create(topic("t"))

    assert cluster.set(TOPIC, "t", retention_ms="5") == ErrorCode.NONE
    assert cluster.set(TOPIC, "u", retention_ms="5") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert cluster.replace(TOPIC, "t", {}) == ErrorCode.NONE
    assert cluster.replace(TOPIC, "u", {}) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_settings_follow_the_log(cluster: Cluster) -> None:
    """What is changed at run time holds as soon as it is applied."""
    cluster.set(BROKER, "", log_retention_ms="5")

    assert cluster.machine.settings["log.retention.ms"] == 5


Step = tuple[str, str, int]

NAMES = st.sampled_from(["a", "a.b", "a_b", "b", "__consumer_offsets"])
STEPS = st.one_of(
    st.tuples(st.just("create"), NAMES, st.integers(-1, 4)),
    st.tuples(st.just("need"), NAMES, st.just(0)),
    st.tuples(st.just("delete"), NAMES, st.just(0)),
    st.tuples(st.just("grow"), NAMES, st.integers(0, 6)),
    st.tuples(st.just("change"), NAMES, st.integers(-2, 3)),
    st.tuples(st.just("change the broker"), NAMES, st.integers(-1, 3)),
    st.tuples(st.just("replace"), NAMES, st.integers(-2, 3)),
    st.tuples(st.just("producer ids"), NAMES, st.just(0)),
)


def decide(
    machine: MetadataMachine, step: Step, new_topic_id: Callable[[], TopicId]
) -> Decision[MetadataRecord]:
    what, name, count = step
    match what:
        case "create":
            configs = [CreatableTopicConfig(name="retention.ms", value=str(count))]
            topic = CreatableTopic(
                name=name, num_partitions=count, replication_factor=1, assignments=[], configs=configs
            )
            created = CreateTopicsRequest(topics=[topic])
            return machine.create_topics(created, new_topic_id=new_topic_id, ticket=TICKET)
        case "need":
            return machine.auto_create(name, new_topic_id=new_topic_id, ticket=TICKET)
        case "delete":
            state = DeleteTopicState(name=name, topic_id=NO_TOPIC_ID)
            return machine.delete_topics(DeleteTopicsRequest(topics=[state], timeout_ms=1), ticket=TICKET)
        case "grow":
            grown = CreatePartitionsTopic(name=name, count=count, assignments=None)
            request = CreatePartitionsRequest(topics=[grown], timeout_ms=1, validate_only=False)
            return machine.create_partitions(request, ticket=TICKET)
        case "change":
            return change(machine, TOPIC, name, "retention.ms", count)
        case "change the broker":
            return change(machine, BROKER, "", "log.retention.ms", count)
        case "replace":
            entry = AlterConfigsEntry(name="segment.ms", value=str(count))
            resource = AlterConfigsResource(resource_type=TOPIC, resource_name=name, configs=[entry])
            replaced = AlterConfigsRequest(resources=[resource], validate_only=False)
            return machine.alter_configs(replaced, ticket=TICKET)
        case _:
            return machine.allocate_producer_ids(ticket=TICKET)


def change(
    machine: MetadataMachine, kind: int, name: str, config: str, value: int
) -> Decision[MetadataRecord]:
    """Set a setting, or with 0 delete it."""
    entry = IncrementalAlterConfigsEntry(
        name=config, config_operation=SET if value else DELETE, value=str(value)
    )
    resource = IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=[entry])
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    return machine.incremental_alter_configs(request, ticket=TICKET)


@given(st.lists(STEPS, max_size=25))
def test_replay_of_the_log_gives_the_same_image(steps: list[Step]) -> None:
    """After a restart `apply` over the bytes of the log finds what was there before."""
    machine, replayed, codec = MetadataMachine(1, SETTINGS), MetadataMachine(1, SETTINGS), MetadataRecords()
    numbers = iter(range(1, 1000))
    log: list[KeyValue] = []
    sizes: dict[TopicId, int] = {}
    for step in steps:
        decision = decide(machine, step, lambda: TopicId(next(numbers).to_bytes(16, "big")))
        for record in decision.records:
            log.append(codec.encode(record, 5))
            machine.apply(record)
        for name, topic in machine.image.topics.items():
            assert len(topic.partitions) >= sizes.get(topic.topic_id, 1), f"{name} has shrunk"
            sizes[topic.topic_id] = len(topic.partitions)

    for item in log:
        kept = codec.decode(item)
        assert kept is not None
        replayed.apply(kept)

    one, other = machine.image, replayed.image
    assert one.topics == other.topics
    assert one.topics_by_id == other.topics_by_id
    assert {name: one.topic_configs(name) for name in one.topics} == {
        name: other.topic_configs(name) for name in other.topics
    }
    assert [one.configs(BROKER, name) for name in ("", "1")] == [
        other.configs(BROKER, name) for name in ("", "1")
    ]
    assert machine.settings["log.retention.ms"] == replayed.settings["log.retention.ms"]
    assert one.next_producer_id == other.next_producer_id
    assert one.generation == other.generation == len(log)
    assert one.colliding_name("a.b") == other.colliding_name("a.b")
    assert not {"a.b", "a_b"} <= set(one.topics)
