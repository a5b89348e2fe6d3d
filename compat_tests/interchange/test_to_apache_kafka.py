"""Every file of a partition folder of ours is read by Kafka's own kafka-dump-log, and nothing is found wrong.

After rolls, retention, DeleteRecords, compaction, and transactions that were committed and aborted; with the
indexes held against their logs (--verify-index-only, --index-sanity-check).
Source: DumpLogSegments of Apache Kafka 4.4; the issue's "Kafka's dump tool reads all of ours".
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from compat_tests.apache_kafka.jars import NotAvailable, class_path
from compat_tests.interchange.folders import CODECS, SMALL_SEGMENT_BYTES
from compat_tests.tools import java_tools

pytest.importorskip("confluent_kafka")
TOOL = "kafka-dump-log"
COMPACTED_KEYS = 5


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a stopped folder of wirekafka's; all is left out, with the reason, where there is no Kafka."""
    try:
        class_path()
    except NotAvailable as reason:
        pytest.skip(str(reason))
    path = tmp_path_factory.mktemp("ours") / "data"
    _fill(path)
    _add_transactions(path)
    return path


def _fill(path: Path) -> None:
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    from wirekafka.testing import running_broker

    settings = {"log.retention.check.interval.ms": "100", "log.cleaner.backoff.ms": "100"}
    with running_broker(data_dir=path, settings=settings) as broker:
        small = {"segment.bytes": str(SMALL_SEGMENT_BYTES)}
        admin = AdminClient({"bootstrap.servers": broker.bootstrap})
        topics = [
            NewTopic("rolled", 1, 1, config=small),
            NewTopic("deleted", 1, 1, config={**small, "retention.bytes": str(SMALL_SEGMENT_BYTES)}),
            NewTopic("compacted", 1, 1, config={"cleanup.policy": "compact"}),
            NewTopic("transactions", 1, 1, config={"segment.bytes": str(SMALL_SEGMENT_BYTES)}),
        ]
        for future in admin.create_topics(topics).values():
            future.result()
        noise = random.Random(4)
        for codec in CODECS:
            producer = Producer(
                {
                    "bootstrap.servers": broker.bootstrap,
                    "compression.type": codec,
                    "enable.idempotence": True,
                    "linger.ms": 0,
                }
            )
            for number in range(8):
                for topic in ("rolled", "deleted", "transactions"):
                    producer.produce(topic, noise.randbytes(100_000), headers=[("h", b"v")])
                producer.produce("compacted", codec.encode(), key=f"k{number % COMPACTED_KEYS}".encode())
                assert producer.flush(30) == 0
        broker.apply_retention("deleted")
        broker.compact("compacted")


def _add_transactions(path: Path) -> None:
    """Write the markers of transactions, which only a coordinator may, into a folder that is stopped."""
    from wirekafka.ids import TopicPartition
    from wirekafka.protocol.records import (
        ControlRecordType,
        EndTxnMarker,
        Record,
        build_batch,
        build_marker_batch,
    )
    from wirekafka.storage import LogConfig, LogDirectory, Origin

    directory = LogDirectory.open(path, node_id=1)
    for topic_partition, topic_id in directory.partitions():
        log = directory.open_log(topic_partition, topic_id, LogConfig(), now_ms=1)
        if topic_partition != TopicPartition("transactions", 0):
            continue
        for number in range(6):
            now_ms = 1_800_000_000_000 + number
            records = [Record(b"k", b"v", now_ms)] * 3
            batch = build_batch(
                records, producer_id=77, producer_epoch=0, base_sequence=3 * number, attributes=0x10
            )
            log.append(batch, leader_epoch=0, now_ms=now_ms)
            kind = ControlRecordType.ABORT if number % 2 else ControlRecordType.COMMIT
            marker = build_marker_batch(
                EndTxnMarker(kind, 0), timestamp_ms=now_ms, producer_id=77, producer_epoch=0
            )
            log.append(marker, leader_epoch=0, now_ms=now_ms, origin=Origin.COORDINATOR)
    directory.close(clean=True)


def _dump(files: list[Path], *options: str) -> java_tools.Outcome:
    return java_tools.run(TOOL, ["--files", ",".join(map(str, files)), *options])


def _files(folder: Path, suffix: str) -> list[Path]:
    topics = ("rolled", "deleted", "compacted", "transactions", "__cluster_metadata")
    found = [file for topic in topics for file in sorted(folder.glob(f"{topic}-0/*{suffix}"))]
    return [file for file in found if file.stat().st_size]


def test_the_logs_are_valid(ours: Path) -> None:
    """Every batch, record by record; what retention, compaction and rolls have left."""
    logs = _files(ours, ".log")
    dumped = _dump(logs, "--deep-iteration", "--print-data-log")
    # 4.4.0 takes every segment to begin at offset 0, and a compacted one to miss none.
    complaints = re.sub(r"Non-consecutive offsets in \S*\n(  -?\d+ is followed by \d+\n?)+", "", dumped.err)

    assert (dumped.status, complaints.strip()) == (0, "")
    assert set(re.findall(r" isvalid: (\w+)", dumped.out)) == {"true"}
    assert "invalid bytes at the end" not in dumped.out
    assert len([file for file in logs if file.parent.name == "rolled-0"]) > 2
    assert not (ours / "deleted-0" / f"{0:020d}.log").exists()
    assert len(re.findall(r"key: k\d payload: ", dumped.out)) == COMPACTED_KEYS
    assert len(re.findall(r"endTxnMarker: ABORT", dumped.out)) == 3


@pytest.mark.parametrize("option", ["", "--verify-index-only", "--index-sanity-check"])
def test_the_indexes_agree_with_their_logs(ours: Path, option: str) -> None:
    """Offset and time index of every segment."""
    indexes = [*_files(ours, ".index"), *_files(ours, ".timeindex")]
    dumped = _dump(indexes, *([option] if option else []))

    assert (dumped.status, dumped.err) == (0, "")
    assert len(indexes) > 8
    if option == "--index-sanity-check":
        assert dumped.out.count(" passed sanity check.") == len(indexes)


def test_aborted_transactions_and_producers_are_read(ours: Path) -> None:
    """.txnindex and .snapshot."""
    aborted = _dump(_files(ours, ".txnindex"))
    producers = _dump(_files(ours, ".snapshot"))

    assert (aborted.status, aborted.err, producers.status, producers.err) == (0, "", 0, "")
    assert len(re.findall(r"producerId: 77 firstOffset: \d+ lastOffset: \d+", aborted.out)) == 3
    assert re.search(r"^producerId: 77 producerEpoch: 0 ", producers.out, re.MULTILINE)


def test_the_small_files_have_kafkas_form(ours: Path) -> None:
    """Checkpoints: version, number of lines, lines; partition.metadata; meta.properties; the clean marker."""
    checkpoint = re.compile(r"0\n(\d+)\n((?:[\w.-]+ \d+ \d+\n)*)")
    for name in (
        "recovery-point-offset-checkpoint",
        "replication-offset-checkpoint",
        "log-start-offset-checkpoint",
        "cleaner-offset-checkpoint",
    ):
        match = checkpoint.fullmatch((ours / name).read_text())
        assert match is not None, name
        assert match[2].count("\n") == int(match[1]) > 0
    for topic in ("rolled", "compacted", "transactions"):
        assert re.fullmatch(r"0\n1\n0 \d+\n", (ours / f"{topic}-0/leader-epoch-checkpoint").read_text())
        assert re.fullmatch(
            r"version: 0\ntopic_id: [\w-]{22}", (ours / f"{topic}-0/partition.metadata").read_text()
        )
    assert (ours / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":-1}'
