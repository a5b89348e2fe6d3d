"""Stories of kafka-dump-log and kafka-storage, which read a data folder without any broker.

wirekafka's folder is one of a broker that has stopped; Apache Kafka's is read under the running node,
whose rolled segments are complete, so that no second node need be started.
Source: DumpLogSegments and StorageTool of Apache Kafka 4.4.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import Capability, Client, ConsumerSettings, Record
from compat_tests.stories.waiting import codecs_of, poll_until
from compat_tests.tools import java_tools
from compat_tests.tools.brokers import APACHE_KAFKA, BrokerUnderTest

TOOL = "kafka-dump-log"
pytestmark = pytest.mark.tool(TOOL)
TOPIC = "stored"
GROUP = "stored-group"
SMALLEST_SEGMENT_BYTES = 1_048_576
LARGE_RECORDS = 24


@dataclass(frozen=True, slots=True)
class Stored:
    """A data folder, and what went into it."""

    folder: Path
    record_count: int
    codecs: frozenset[str]
    stopped: bool

    def files(self, partition: str, suffix: str) -> list[Path]:
        """Give the files of a partition with that suffix, by offset."""
        return sorted((self.folder / partition).glob(f"*{suffix}"))

    def indexes(self, partition: str) -> list[Path]:
        """Give the finished indexes; under a broker that runs, the last ones are open and padded."""
        end = None if self.stopped else -1
        return [file for suffix in (".index", ".timeindex") for file in self.files(partition, suffix)[:end]]

    def consumer_offsets(self) -> list[Path]:
        """Give the segments of the offsets topic that hold anything."""
        found = sorted(self.folder.glob("__consumer_offsets-*/*.log"))
        return [file for file in found if file.stat().st_size]


@pytest.fixture(scope="session")
def stored(broker: BrokerUnderTest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    """Give a data folder with several segments of a topic, and a group's commit."""
    if broker.name == APACHE_KAFKA:
        yield _filled(broker.bootstrap, broker.log_dir, stopped=False)
        return
    from wirekafka.testing import running_broker

    folder = tmp_path_factory.mktemp("stopped")
    with running_broker(data_dir=folder) as stopping:
        filled = _filled(stopping.bootstrap, folder, stopped=True)
    yield filled


def _filled(bootstrap: str, folder: Path, *, stopped: bool) -> Stored:
    client = next(
        client for client in installed_clients() if Capability.TOPIC_ADMIN not in client.not_supported
    )(bootstrap)
    client.admin().create_topic(TOPIC, 1, {"segment.bytes": str(SMALLEST_SEGMENT_BYTES)})
    codecs = codecs_of(client)
    count = 0
    for codec in codecs:
        records = [
            Record(f"{codec} {number}".encode(), key=b"key", headers=(("h", b"v"),)) for number in range(5)
        ]
        count += len(client.produce(TOPIC, records, codec=codec, partition=0))
    count += len(client.produce(TOPIC, [Record(None, key=b"tombstone")], partition=0))
    noise = random.Random(4)
    for _ in range(LARGE_RECORDS):
        large = [Record(noise.randbytes(100_000), key=b"large")]
        count += len(client.produce(TOPIC, large, partition=0, idempotent=True))
    _commit(client)
    client.close()
    return Stored(folder, count, frozenset(codecs), stopped)


def _commit(client: Client) -> None:
    consumer = client.consumer(ConsumerSettings(group=GROUP))
    consumer.subscribe([TOPIC])
    poll_until([consumer], lambda: bool(consumer.assignment()))
    consumer.commit({(TOPIC, 0): 7})
    consumer.close()


def _dump(files: list[Path], *options: str) -> java_tools.Outcome:
    return java_tools.run(TOOL, ["--files", ",".join(map(str, files)), *options])


def _complaints(text: str) -> list[str]:
    """Give what the tool finds wrong with segments.

    4.4.0 takes every segment to begin at offset 0 and calls one that does not "Non-consecutive"; that is left
    out where no offset but the segment's own first is named.
    """
    opening = r"Non-consecutive offsets in \S*/0*(\d+)\.log\n  -1 is followed by \1(?:\n|$)"
    return [line for line in re.sub(opening, "", text).splitlines() if line]


def test_segments_are_dumped_with_their_records(stored: Stored) -> None:
    """.log: every batch is valid, every record is there once, in every codec, with key, header and value."""
    segments = stored.files(f"{TOPIC}-0", ".log")
    dumped = _dump(segments, "--deep-iteration", "--print-data-log")
    offsets = [int(offset) for offset in re.findall(r"^\| offset: (\d+) ", dumped.out, re.MULTILINE)]

    assert (dumped.status, _complaints(dumped.err)) == (0, [])
    assert len(segments) > 2
    assert offsets == list(range(stored.record_count))
    assert set(re.findall(r" isvalid: (\w+)", dumped.out)) == {"true"}
    assert set(re.findall(r" compresscodec: (\w+)", dumped.out)) == stored.codecs
    assert dumped.out.count("headerKeys: [h] key: key payload: ") == 5 * len(stored.codecs)
    assert re.search(r"valueSize: -1 .*key: tombstone$", dumped.out, re.MULTILINE)
    assert "invalid bytes at the end" not in dumped.out


@pytest.mark.parametrize("options", [[], ["--index-sanity-check"]], ids=["entries", "sanity"])
def test_indexes_agree_with_their_segments(stored: Stored, options: list[str]) -> None:
    """.index and .timeindex: no mismatch is found, and the sanity check passes."""
    indexes = stored.indexes(f"{TOPIC}-0")
    dumped = _dump(indexes, *options)

    assert (dumped.status, dumped.err) == (0, "")
    assert len(indexes) >= 4
    if options:
        assert dumped.out.count(" passed sanity check.") == len(indexes)
    else:
        assert re.search(r"^offset: [1-9]\d* position: [1-9]\d*$", dumped.out, re.MULTILINE)
        assert re.search(r"^timestamp: [1-9]\d{12} offset: \d+$", dumped.out, re.MULTILINE)


def test_producer_snapshots_are_dumped(stored: Stored) -> None:
    """.snapshot: the idempotent producer is named with its epoch and last sequence."""
    snapshots = stored.files(f"{TOPIC}-0", ".snapshot")
    dumped = _dump(snapshots)

    assert (dumped.status, dumped.err) == (0, "")
    assert len(snapshots) >= 2
    assert re.search(r"^producerId: \d+ producerEpoch: 0 .*lastOffset: \d+", dumped.out, re.MULTILINE)


def test_offsets_topic_is_decoded(stored: Stored) -> None:
    """--offsets-decoder prints the group's commit and its metadata."""
    dumped = _dump(stored.consumer_offsets(), "--offsets-decoder")

    assert (dumped.status, dumped.err) == (0, "")
    assert f'"group":"{GROUP}","topic":"{TOPIC}","partition":0' in dumped.out
    assert '"offset":7' in dumped.out
    assert '"protocolType":"consumer"' in dumped.out
    assert "isvalid: false" not in dumped.out


def test_cluster_metadata_is_decoded(stored: Stored) -> None:
    """--cluster-metadata-decoder prints the topic, its config and its partition."""
    dumped = _dump(stored.files("__cluster_metadata-0", ".log"), "--cluster-metadata-decoder")

    assert (dumped.status, dumped.err) == (0, "")
    assert re.search(rf'"type":"TOPIC_RECORD","version":0,"data":{{"name":"{TOPIC}"', dumped.out)
    assert f'"resourceName":"{TOPIC}","name":"segment.bytes","value":"{SMALLEST_SEGMENT_BYTES}"' in dumped.out
    assert '"type":"PARTITION_RECORD"' in dumped.out
    assert "isvalid: false" not in dumped.out


@pytest.mark.tool(java_tools.STORAGE_TOOL)
def test_folder_is_known_as_formatted(stored: Stored, tmp_path: Path) -> None:
    """`kafka-storage info` finds the folder's metadata and no problem with it."""
    properties = tmp_path / "server.properties"
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
        "controller.quorum.voters": "1@127.0.0.1:9093",
        "log.dirs": str(stored.folder),
    }
    properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    told = java_tools.run(java_tools.STORAGE_TOOL, ["info", "-c", str(properties)])

    assert (told.status, told.err) == (0, "")
    assert "Found log directory:" in told.out
    assert "node.id=1" in told.out
    assert "Found problem" not in told.out
