"""Tests of testing/broker.py."""

import asyncio
import gc
import os
import socket
import tempfile
import threading
from pathlib import Path
from typing import cast

import pytest
import trio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from tests.support.raw_client import RawClient, request_frame
from tests.support.requests import (
    FETCH_VERSION,
    batch_of,
    create_topic,
    fetch,
    fetch_request,
    produce,
    values_in,
)
from wirekafka.broker import Broker, ListenerConfig
from wirekafka.metadata import ConfigError
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.server import Serving
from wirekafka.storage import DataDirectoryInUse
from wirekafka.testing import broker as testing_broker
from wirekafka.testing import running_broker


class Before:
    """The threads and open files of this process at one moment; other tests' own may end after it."""

    def __init__(self) -> None:
        gc.collect()
        self._threads = set(threading.enumerate())
        self._descriptors = len(os.listdir("/proc/self/fd"))

    def assert_nothing_new(self) -> None:
        gc.collect()

        assert set(threading.enumerate()) <= self._threads
        assert len(os.listdir("/proc/self/fd")) <= self._descriptors


def has_topic(raw: RawClient, name: str) -> bool:
    answer = raw.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), 12)
    return name in [topic.name for topic in answer.topics]


# kafka-python, when it is imported
@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_it_answers_a_synchronous_client_as_soon_as_the_block_begins() -> None:
    """Ready means ready: no retry, no wait."""
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition

    with running_broker() as broker:
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
        sent = producer.send("greetings", b"hello").get(timeout=10)
        producer.close()
        consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest")
        consumer.assign([TopicPartition("greetings", 0)])
        record = next(consumer)
        consumer.close()

    assert (sent.topic, sent.offset) == ("greetings", 0)
    assert record.value == b"hello"


def test_it_serves_an_asyncio_test() -> None:
    """The broker has a loop of its own in a thread of its own."""

    async def round_trip(bootstrap: str) -> bytes:
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            await producer.send_and_wait("greetings", b"hello")
        async with AIOKafkaConsumer(
            "greetings", bootstrap_servers=bootstrap, auto_offset_reset="earliest"
        ) as consumer:
            value: bytes = (await consumer.getone()).value
            return value

    with running_broker() as broker:
        assert asyncio.run(round_trip(broker.bootstrap)) == b"hello"


async def test_it_serves_a_trio_test() -> None:
    """Even a test that has a trio run already: one run a thread."""
    with running_broker() as broker:
        stream = await trio.open_tcp_stream(broker.host, broker.port)
        async with stream:
            await stream.send_all(request_frame(MetadataRequest(topics=[]), 12))
            answer = await stream.receive_some(1000)

    assert int.from_bytes(answer[:4], "big") == len(answer) - 4


def test_it_leaves_no_thread_no_descriptor_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with topics made and clients still connected."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with running_broker():
        pass
    before = Before()
    for _ in range(3):
        with running_broker() as broker, RawClient(broker.bootstrap) as raw:
            create_topic(raw, "t", partitions=3)
            produce(raw, "t", batch_of(b"x"))
            assert broker.data_dir.parent == tmp_path
            assert any(broker.data_dir.iterdir())

    before.assert_nothing_new()
    assert list(tmp_path.iterdir()) == []


def test_it_ends_and_cleans_up_when_the_block_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing test leaves no broker behind, and its own error is the one that is seen."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ZeroDivisionError), running_broker() as broker:
        raise ZeroDivisionError

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((broker.host, broker.port))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_given_is_kept_and_found_again(tmp_path: Path) -> None:
    """The second broker has the first one's cluster id, topics and records."""
    with running_broker(data_dir=tmp_path) as first, RawClient(first.bootstrap) as raw:
        create_topic(raw, "kept")
        produce(raw, "kept", batch_of(b"one"))
    with running_broker(data_dir=tmp_path) as second, RawClient(second.bootstrap) as raw:
        values = values_in(fetch(raw, "kept"))

    assert values == [b"one"]
    assert (first.data_dir, first.cluster_id) == (tmp_path, second.cluster_id)


def test_a_taken_port_is_raised_where_the_broker_was_started() -> None:
    """An OSError as of a bind of one's own; nothing is left running."""
    with running_broker():  # what is made once and kept, is
        pass
    before = Before()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listeners = f"PLAINTEXT://127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(OSError, match="cannot listen on"),
            running_broker(settings={"listeners": listeners}),
        ):
            raise AssertionError("it has started")

    before.assert_nothing_new()


def test_a_bad_setting_is_raised_before_anything_is_started() -> None:
    """ConfigError, as on the command line."""
    before = Before()
    with (
        pytest.raises(ConfigError, match=r"Did you mean num\.partitions"),
        running_broker(settings={"num.partition": "1"}),
    ):
        raise AssertionError("it has started")

    before.assert_nothing_new()


def test_a_folder_in_use_is_raised_where_the_broker_was_started(tmp_path: Path) -> None:
    """Two brokers of one test by mistake on one folder."""
    second = pytest.raises(DataDirectoryInUse)
    with running_broker(data_dir=tmp_path), second, running_broker(data_dir=tmp_path):
        raise AssertionError("it has started")


def test_settings_are_heeded() -> None:
    """By Kafka's names."""
    settings = {"num.partitions": "4", "auto.create.topics.enable": "false"}
    with running_broker(settings=settings) as broker, RawClient(broker.bootstrap) as raw:
        create_topic(raw, "t", partitions=-1)
        topics = raw.ask(MetadataRequest(topics=None), 12).topics

    assert [len(topic.partitions) for topic in topics] == [4]


def test_a_profile_is_heeded(tmp_path: Path) -> None:
    """Kafka's own defaults on request: its rebalance delay of three seconds among them."""
    with running_broker(profile="kafka"):
        pass
    with pytest.raises(ConfigError, match="must be one of dev, kafka"), running_broker(profile="prod"):
        raise AssertionError("it has started")


def test_the_folder_and_not_a_setting_says_where_data_is(tmp_path: Path) -> None:
    """A temporary folder stays temporary, whatever log.dirs says."""
    with running_broker(settings={"log.dirs": str(tmp_path / "elsewhere")}) as broker:
        assert any(broker.data_dir.iterdir())

    assert not (tmp_path / "elsewhere").exists()


def test_two_brokers_at_once_know_nothing_of_each_other() -> None:
    """Each has a port, a folder, a cluster id and topics of its own."""
    with running_broker() as one, running_broker() as other:
        with RawClient(one.bootstrap) as raw:
            create_topic(raw, "only-here")
            here = has_topic(raw, "only-here")
        with RawClient(other.bootstrap) as raw:
            there = has_topic(raw, "only-here")

    assert (here, there) == (True, False)
    assert one.port != other.port
    assert one.data_dir != other.data_dir
    assert one.cluster_id != other.cluster_id


def test_bootstrap_is_what_clients_take() -> None:
    """An IPv6 address stands in brackets."""

    def run(function: object) -> None:
        return

    four = testing_broker.RunningBroker("127.0.0.1", 9092, Path(), "c", run)
    six = testing_broker.RunningBroker("::1", 9092, Path(), "c", run)

    assert (four.bootstrap, six.bootstrap) == ("127.0.0.1:9092", "[::1]:9092")


def test_a_broker_that_dies_is_raised_at_the_end_of_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test must not pass over a broker that has failed beneath it."""

    async def die(config: object, *, task_status: "trio.TaskStatus[object]") -> None:
        stop = trio.Event()
        listener = ListenerConfig("PLAINTEXT", "127.0.0.1", 0)
        serving = Serving("c", ((listener, 1),), stop.set, cast(Broker, None))
        task_status.started(serving)
        await stop.wait()
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(testing_broker, "serve", die)

    with pytest.raises(ZeroDivisionError, match="a bug"), running_broker():
        pass


def test_a_client_that_still_polls_is_no_reason_to_wait_for_it() -> None:
    """A poll that is over soon is answered; the block's end needs no client to have closed."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        create_topic(raw, "t")
        raw.send(request_frame(fetch_request("t", max_wait_ms=50), FETCH_VERSION))
        broker_of_poll = broker.port

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", broker_of_poll))


def test_a_test_can_have_it_compact_and_drop_now() -> None:
    """From the test's own thread; what the broker says against it is raised there."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        create_topic(raw, "t")
        produce(raw, "t", batch_of(b"old"))

        broker.apply_retention("t")

        with pytest.raises(KafkaError, match="not compacted"):
            broker.compact("t")
        assert values_in(fetch(raw, "t", 1)) == []
