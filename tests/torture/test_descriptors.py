"""Too few descriptors: ten thousand partitions under a limit of four thousand, and none left at all."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path

from tests.support.raw_client import RawClient
from tests.support.requests import PRODUCE_VERSION, batch_of, fetch, produce, values_in
from tests.torture import topics
from tests.torture.patience import allowed
from tests.torture.process import BrokerProcess
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData

PARTITIONS = 10_000
DESCRIPTORS = 4_000
FEW_DESCRIPTORS = 200
AT_A_TIME = 500
FETCH_VERSION = 12


def limited(descriptors: int) -> list[str]:
    """What runs a command with so many descriptors and no more."""
    return ["prlimit", f"--nofile={descriptors}:{descriptors}"]


def produce_to_all(raw: RawClient, topic: str) -> set[int]:
    """Append a batch to every partition; the error codes that came."""
    codes: set[int] = set()
    for first in range(0, PARTITIONS, AT_A_TIME):
        data = [
            PartitionProduceData(index=n, records=memoryview(batch_of(b"%d" % n)))
            for n in range(first, first + AT_A_TIME)
        ]
        request = ProduceRequest(
            acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=data)]
        )
        answer = raw.ask(request, PRODUCE_VERSION)
        codes |= {each.error_code for each in answer.responses[0].partition_responses}
    return codes


def fetch_from_all(raw: RawClient, topic: str) -> list[tuple[int, bytes | None]]:
    """The values of every partition, which has one."""
    found: list[tuple[int, bytes | None]] = []
    for first in range(0, PARTITIONS, AT_A_TIME):
        wanted = [
            FetchPartition(partition=n, fetch_offset=0, partition_max_bytes=1000)
            for n in range(first, first + AT_A_TIME)
        ]
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=2**31 - 1,
            topics=[FetchTopic(topic=topic, partitions=wanted)],
        )
        answer = raw.ask(request, FETCH_VERSION)
        for data in answer.responses[0].partitions:
            assert data.error_code == 0
            found += [(data.partition_index, value) for value in values_in(bytes(data.records))]
    return found


def test_ten_thousand_partitions_do_with_four_thousand_descriptors(tmp_path: Path) -> None:
    """All are produced to and fetched from, before and after a restart."""
    wanted = [(n, b"%d" % n) for n in range(PARTITIONS)]
    broker = BrokerProcess(tmp_path / "data", tmp_path / "broker.log", prefix=limited(DESCRIPTORS))
    with broker:
        broker.start()
        with RawClient(broker.bootstrap) as raw:
            raw.socket.settimeout(120)
            topics.create(broker.bootstrap, "wide", PARTITIONS, topics.FOR_EVER, seconds=100)
            codes = produce_to_all(raw, "wide")
            found = fetch_from_all(raw, "wide")
            most = broker.open_descriptors()
        status = broker.stop()
        broker.start()
        with RawClient(broker.bootstrap) as raw:
            raw.socket.settimeout(120)
            found_again = fetch_from_all(raw, "wide")

    assert (codes, status) == ({0}, 0)
    assert found == wanted
    assert found_again == wanted
    assert most < DESCRIPTORS
    assert "Traceback" not in broker.log()


def test_a_broker_without_a_descriptor_left_serves_whom_it_has_and_does_not_spin(tmp_path: Path) -> None:
    """Who comes too many waits; the ones before are served, and when some leave, the rest get in."""
    broker = BrokerProcess(tmp_path / "data", tmp_path / "broker.log", prefix=limited(FEW_DESCRIPTORS))
    with broker, contextlib.ExitStack() as crowd:
        broker.start()
        raw = crowd.enter_context(RawClient(broker.bootstrap))
        topics.create(broker.bootstrap, "t", 1, topics.FOR_EVER)
        assert produce(raw, "t", batch_of(b"before")) == 0
        with contextlib.ExitStack() as guests:
            for _ in range(2 * FEW_DESCRIPTORS):
                guests.enter_context(socket.create_connection(("127.0.0.1", broker.port), timeout=10))
            time.sleep(0.5)
            begun = broker.cpu_seconds()
            time.sleep(2.0)
            used = broker.cpu_seconds() - begun
            codes = [produce(raw, "t", batch_of(b"%d" % n)) for n in range(20)]
            served = values_in(fetch(raw, "t"))
        recovered = time.monotonic()
        while True:
            with contextlib.suppress(OSError), RawClient(broker.bootstrap) as late:
                late.socket.settimeout(1)
                assert values_in(fetch(late, "t")) == served
                break
        recovered = time.monotonic() - recovered

    assert codes == [0] * 20
    assert served == [b"before", *(b"%d" % n for n in range(20))]
    assert used < 0.5
    assert recovered < allowed(5.0)
    assert "Traceback" not in broker.log()


def test_the_limit_is_in_force(tmp_path: Path) -> None:
    """Else the others would prove nothing."""
    command = [*limited(100), "sh", "-c", "ulimit -n"]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "100"
