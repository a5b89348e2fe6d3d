"""Apache Kafka 4.4 and wirekafka compact the same folder: the same batches are left, with the same records.

Kafka writes a compacted topic with its cleaner off: plain, idempotent and transactional producers, all
codecs, tombstones. Then each compacts a copy. A second and a third round begin with what Kafka has left in
the one before: delete horizons that have passed, empty batches, markers without records.
Source: none.
"""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from compat_tests.apache_kafka.jars import NotAvailable
from compat_tests.apache_kafka.node import start_node
from compat_tests.interchange.folders import CODECS, wait_until
from wirekafka.protocol.records import Record, batches_in, decode_records

pytest.importorskip("confluent_kafka")

TOPIC, FOLDER = "compacted", "compacted-0"
CONFIGS = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "3000",
}
SETTINGS = {"transaction.state.log.num.partitions": "1", "log.cleaner.backoff.ms": "100"}
RESTING, CLEANING = {**SETTINGS, "log.cleaner.enable": "false"}, SETTINGS
CONTROL_FLAG, HORIZON_FLAG = 0x20, 0x40


class Left(NamedTuple):
    """What is left of a batch; of a delete horizon only that there is one, for it tells the time of day."""

    base_offset: int
    last_offset: int
    attributes: int
    producer: tuple[int, int, int]
    max_timestamp: int
    leader_epoch: int
    records: list[Record]

    @property
    def has_horizon(self) -> bool:
        return bool(self.attributes & HORIZON_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)


@dataclass(frozen=True, slots=True)
class Round:
    """A folder before its compaction, and what Kafka has left of it."""

    before: Path
    after: list[Left]


def batches(folder: Path) -> list[Left]:
    """Every batch of the compacted topic's segments, in order."""
    data = b"".join(path.read_bytes() for path in sorted((folder / FOLDER).glob("*.log")))
    walk = batches_in(data)
    found = [
        Left(
            batch.base_offset,
            batch.last_offset,
            batch.attributes,
            (batch.producer_id, batch.producer_epoch, batch.base_sequence),
            batch.max_timestamp,
            batch.partition_leader_epoch,
            decode_records(batch),
        )
        for batch in walk
    ]
    assert not walk.torn
    return found


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Round]]:
    """Give the rounds; all is left out, with the reason, where there is no Kafka."""
    try:
        yield _three_rounds(tmp_path_factory.mktemp("kafka"))
    except NotAvailable as reason:
        pytest.skip(str(reason))


def _three_rounds(scratch: Path) -> list[Round]:
    home = scratch / "node"
    home.mkdir()
    found = []
    for number in (1, 2, 3):
        node = start_node(home, RESTING)
        try:
            if number == 1:
                _make_topic(node.bootstrap)
            _write(node.bootstrap, number)
            node.stop()
            before = scratch / f"before-{number}"
            shutil.copytree(node.log_dir, before)
            node = start_node(home, CLEANING)
            _wait_for_compaction(node.log_dir)
            node.stop()
            found.append(Round(before, batches(node.log_dir)))
        finally:
            node.stop(signal.SIGKILL)
    return found


def _wait_for_compaction(data: Path) -> None:
    active = max(int(path.stem) for path in (data / FOLDER).glob("*.log"))
    checkpoint = data / "cleaner-offset-checkpoint"

    def is_done() -> bool:
        return checkpoint.exists() and f"{TOPIC} 0 {active}\n" in checkpoint.read_text()

    wait_until(is_done, "Kafka has not compacted it")


def _make_topic(bootstrap: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

    admin = AdminClient({"bootstrap.servers": bootstrap})
    [made] = admin.create_topics([NewTopic(TOPIC, 1, 1, config=CONFIGS)]).values()
    made.result()


def _write(bootstrap: str, number: int) -> None:
    """Write many segments; the last record of all is alone in the active one."""
    from confluent_kafka import Producer

    for turn in range(8):
        codec = CODECS[turn % len(CODECS)]
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "compression.type": codec,
                "linger.ms": 20,
                "enable.idempotence": turn % 2 == 0,
            }
        )
        for key in range(12):
            value = None if (key + turn) % 5 == 0 else f"{number}.{turn}.{codec}".encode() * 3
            producer.produce(TOPIC, key=f"k{key % 9}", value=value, headers=[("turn", str(turn).encode())])
        producer.produce(TOPIC, key=f"once-{number}-{turn}", value=b"x")
        assert producer.flush(30) == 0
        _transact(bootstrap, number, turn)
        time.sleep(0.15)
    last = Producer({"bootstrap.servers": bootstrap})
    last.produce(TOPIC, key=f"last-{number}", value=b"x")
    assert last.flush(30) == 0


def _transact(bootstrap: str, number: int, turn: int) -> None:
    """One transaction each turn; every third is aborted. One producer is used over and over, others once."""
    from confluent_kafka import Producer

    name = "steady" if turn % 2 else f"once-{number}-{turn}"
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": name})
    producer.init_transactions(60)
    producer.begin_transaction()
    for key in range(3):
        producer.produce(TOPIC, key=f"t{key}", value=None if turn == 5 else f"{number}.{turn}".encode())
    assert producer.flush(30) == 0
    end = producer.abort_transaction if turn % 3 == 0 else producer.commit_transaction
    end(30)


def _compacted_here(folder: Path) -> list[Left]:
    from wirekafka.testing import running_broker

    with running_broker(data_dir=folder, settings={"log.cleaner.enable": "false"}) as broker:
        broker.compact(TOPIC)
    return batches(folder)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_same_is_left(rounds: list[Round], tmp_path: Path, number: int) -> None:
    """Offsets, flags, codecs, producers, timestamps, records with their headers: batch by batch."""
    turn = rounds[number - 1]
    copy = tmp_path / "data"
    shutil.copytree(turn.before, copy)

    here = _compacted_here(copy)

    assert here == turn.after
    before = batches(turn.before)
    assert len(here) < len(before)
    assert any(left.has_horizon for left in here)


def test_the_rounds_have_what_makes_them_hard(rounds: list[Round]) -> None:
    """Aborted batches, markers, empty batches, tombstones: else the test above says little."""
    first, second, third = (batches(turn.before) for turn in rounds)

    assert any(left.is_control for left in first)
    assert any(not left.records for left in rounds[0].after)
    assert any(left.has_horizon for left in second)
    gone = {left.base_offset for left in third} - {left.base_offset for left in rounds[2].after}
    assert any(left.is_control and left.base_offset in gone for left in third)
    tombstones = {
        record.offset for left in rounds[0].after for record in left.records if record.value is None
    }
    kept = {record.offset for left in rounds[1].after for record in left.records}
    assert tombstones - kept
