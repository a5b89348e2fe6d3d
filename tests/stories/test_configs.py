"""Settings that change while the broker runs, told by stock clients: they hold at once, and after a restart.

Source: KIP-133, KIP-226, KIP-339; Kafka's documentation of dynamic broker configs.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it re-exports without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import RunningBroker, running_broker

WAIT_SECONDS = 10.0
SET, DELETE = AlterConfigOpType.SET, AlterConfigOpType.DELETE
APPEND, SUBTRACT = AlterConfigOpType.APPEND, AlterConfigOpType.SUBTRACT
TOPIC, BROKER = ResourceType.TOPIC, ResourceType.BROKER
OF_TOPIC, OF_BROKER, OF_DEFAULTS = 1, 2, 5
Resource = tuple[ResourceType, str]
Operation = tuple[str, AlterConfigOpType, str | None]


def admin(broker: RunningBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def make_topic(broker: RunningBroker, name: str = "t", **configs: str) -> Resource:
    given = {key.replace("_", "."): value for key, value in configs.items()}
    client = admin(broker)
    [made] = client.create_topics([NewTopic(name, 1, 1, config=given)]).values()
    made.result(WAIT_SECONDS)
    return TOPIC, name


def change(
    broker: RunningBroker, resource: Resource, *operations: Operation, validate_only: bool = False
) -> None:
    entries = [ConfigEntry(name, value, incremental_operation=kind) for name, kind, value in operations]
    asked = ConfigResource(*resource, incremental_configs=entries)
    client = admin(broker)
    [answer] = client.incremental_alter_configs([asked], validate_only=validate_only).values()
    answer.result(WAIT_SECONDS)


def refusal(broker: RunningBroker, resource: Resource, *operations: Operation) -> int:
    with pytest.raises(KafkaException) as caught:
        change(broker, resource, *operations)
    return int(caught.value.args[0].code())


def described(broker: RunningBroker, resource: Resource) -> Mapping[str, ConfigEntry]:
    client = admin(broker)
    [answer] = client.describe_configs([ConfigResource(*resource)]).values()
    found: Mapping[str, ConfigEntry] = answer.result(WAIT_SECONDS)
    return found


def told(broker: RunningBroker, resource: Resource, name: str) -> tuple[str | None, int]:
    """The value and its source."""
    entry = described(broker, resource)[name]
    # Typed as an enumeration, it is the protocol's number.
    return entry.value, int(str(entry.source))


def send(broker: RunningBroker, topic: Resource, size: int) -> int:
    """Produce a record of that size and give the error code."""
    codes = []
    producer = Producer({"bootstrap.servers": broker.bootstrap, "message.max.bytes": 10_000_000})
    producer.produce(
        topic[1], b"x" * size, on_delivery=lambda error, _: codes.append(error.code() if error else 0)
    )
    producer.flush(WAIT_SECONDS)
    [code] = codes
    return int(code)


def earliest(broker: RunningBroker, topic: Resource) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "reader"})
    low, _ = consumer.get_watermark_offsets(TopicPartition(topic[1], 0), WAIT_SECONDS)
    consumer.close()
    return low


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for what the broker does at an interval of a second."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.05)


def test_every_operation_of_the_incremental_request() -> None:
    """librdkafka sets, deletes, appends and subtracts; what is not named stays."""
    with running_broker() as broker:
        topic = make_topic(broker, retention_ms="5", segment_ms="6")

        change(broker, topic, ("retention.ms", DELETE, None), ("flush.ms", SET, "7"))
        change(broker, topic, ("cleanup.policy", APPEND, "compact"))
        assert told(broker, topic, "cleanup.policy") == ("delete,compact", OF_TOPIC)
        change(broker, topic, ("cleanup.policy", SUBTRACT, "delete"))

        assert told(broker, topic, "cleanup.policy") == ("compact", OF_TOPIC)
        assert told(broker, topic, "flush.ms") == ("7", OF_TOPIC)
        assert told(broker, topic, "segment.ms") == ("6", OF_TOPIC)
        assert told(broker, topic, "retention.ms") == ("604800000", OF_DEFAULTS)


def test_old_request_replaces_all() -> None:
    """AlterConfigs: what is not named goes."""
    with running_broker() as broker:
        topic = make_topic(broker, retention_ms="5", segment_ms="6")
        client = admin(broker)

        with pytest.warns(DeprecationWarning, match="alter_configs"):
            answers = client.alter_configs([ConfigResource(*topic, set_config={"segment.ms": "7"})])
        [answer] = answers.values()
        answer.result(WAIT_SECONDS)

        assert told(broker, topic, "segment.ms") == ("7", OF_TOPIC)
        assert told(broker, topic, "retention.ms") == ("604800000", OF_DEFAULTS)


def test_refusals_reach_the_client() -> None:
    """With Kafka's codes; nothing is changed, nor by what is only validated."""
    with running_broker() as broker:
        topic = make_topic(broker)

        assert refusal(broker, topic, ("nope", SET, "1")) == ErrorCode.INVALID_CONFIG
        assert refusal(broker, topic, ("retention.ms", APPEND, "1")) == ErrorCode.INVALID_CONFIG
        assert refusal(broker, (TOPIC, "u"), ("retention.ms", SET, "1")) == 3
        assert refusal(broker, (BROKER, "1"), ("num.partitions", SET, "1")) == ErrorCode.INVALID_REQUEST
        change(broker, topic, ("retention.ms", SET, "1"), validate_only=True)

        assert told(broker, topic, "retention.ms") == ("604800000", OF_DEFAULTS)


def test_changed_limit_holds_at_once() -> None:
    """For the topic alone; then for every topic that has none of its own."""
    with running_broker() as broker:
        topic, other = make_topic(broker), make_topic(broker, "u", max_message_bytes="5000")
        assert send(broker, topic, 2000) == 0

        change(broker, topic, ("max.message.bytes", SET, "1000"))
        assert send(broker, topic, 2000) == ErrorCode.MESSAGE_TOO_LARGE

        change(broker, topic, ("max.message.bytes", DELETE, None))
        change(broker, (BROKER, "1"), ("message.max.bytes", SET, "1000"))
        assert send(broker, topic, 2000) == ErrorCode.MESSAGE_TOO_LARGE
        assert send(broker, other, 2000) == 0


def test_retention_changed_at_run_time_is_seen_to_work() -> None:
    """A topic without a retention of its own loses its records when the broker's is made a second."""
    with running_broker() as broker:
        topic = make_topic(broker)
        send(broker, topic, 10)
        assert earliest(broker, topic) == 0

        change(broker, (BROKER, "1"), ("log.retention.ms", SET, "1000"))

        wait_until(lambda: earliest(broker, topic) == 1)


def test_changed_settings_survive_a_restart(tmp_path: Path) -> None:
    """Of a topic and of the broker."""
    with running_broker(data_dir=tmp_path) as broker:
        topic, other = make_topic(broker), make_topic(broker, "u")
        change(broker, topic, ("retention.ms", SET, "5"), ("cleanup.policy", APPEND, "compact"))
        change(
            broker, (BROKER, "1"), ("log.segment.bytes", SET, "2000000"), ("message.max.bytes", SET, "500")
        )

    with running_broker(data_dir=tmp_path) as broker:
        assert told(broker, topic, "retention.ms") == ("5", OF_TOPIC)
        assert told(broker, topic, "cleanup.policy") == ("delete,compact", OF_TOPIC)
        assert told(broker, other, "segment.bytes") == ("2000000", OF_BROKER)
        assert told(broker, (BROKER, "1"), "message.max.bytes") == ("500", OF_BROKER)
        assert send(broker, other, 1000) == ErrorCode.MESSAGE_TOO_LARGE
