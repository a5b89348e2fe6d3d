"""housekeeping: data lasts and is known to last, while the broker runs."""

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.broker.conftest import MakePartition
from tests.broker.support import FlushAtWill, append, batch
from wirekafka.broker.flushing import Flusher
from wirekafka.broker.housekeeping import (
    checkpoint_at_intervals,
    checkpoint_start_offsets_at_intervals,
    expire_producers_at_intervals,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogDirectory, PartitionLog


async def test_written_data_is_flushed_and_checkpointed_at_intervals(
    directory: LogDirectory,
    make_partition: MakePartition,
    flusher: Flusher,
    disk: FlushAtWill,
    nursery: trio.Nursery,
    mock_clock: MockClock,
) -> None:
    """So that a start after a kill looks only at what is newer. All logs share a flush."""
    partitions = [make_partition(index=index) for index in range(3)]
    for partition in partitions[:2]:
        append(partition, 3)
    nursery.start_soon(checkpoint_at_intervals, directory, flusher, 60_000)
    await wait_all_tasks_blocked()
    before = partitions[0].log.recovery_point

    mock_clock.jump(60)
    while not (checkpoint := recovery_points(directory)):
        await trio.lowlevel.checkpoint()

    assert (before, disk.flushed) == (0, [{"t-0", "t-1"}])
    assert checkpoint == "0\n3\nt 0 3\nt 1 3\nt 2 0\n"


def recovery_points(directory: LogDirectory) -> str:
    file = Path(directory.path) / "recovery-point-offset-checkpoint"
    return file.read_text() if file.exists() else ""


async def test_failed_checkpoint_is_logged_once_and_tried_again(
    directory: LogDirectory,
    flusher: Flusher,
    nursery: trio.Nursery,
    mock_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Housekeeping goes on through a full disk, and fills no log with it."""
    tried: list[int] = []

    def write() -> None:
        tried.append(1)
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")

    monkeypatch.setattr(directory.checkpoints, "write", write)
    nursery.start_soon(checkpoint_at_intervals, directory, flusher, 1000)
    while len(tried) < 3:  # the clock goes on until then: a try is made in a thread, which takes its time
        await wait_all_tasks_blocked()
        mock_clock.jump(1.1)
    nursery.cancel_scope.cancel()

    assert caplog.text.count("no space.") == 1


@pytest.mark.parametrize("name", ["recovery-point-offset-checkpoint", "log-start-offset-checkpoint"])
async def test_housekeeping_outlives_a_start_that_cannot_be_told_yet(
    directory: LogDirectory,
    make_partition: MakePartition,
    flusher: Flusher,
    nursery: trio.Nursery,
    mock_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    """Retention moves starts when the disk is full; it may not end the broker, and the rest is written."""
    moved, other = make_partition(index=0), make_partition(index=1)
    for partition in (moved, other):
        append(partition, 3)
    moved.log.move_start(2)
    other.log.move_start(1)
    real = directory.checkpoints._write_epochs_first

    def write_epochs_first(log: PartitionLog) -> None:
        if log is moved.log:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "could not be written: no space.")
        real(log)

    monkeypatch.setattr(directory.checkpoints, "_write_epochs_first", write_epochs_first)
    if name == "recovery-point-offset-checkpoint":
        nursery.start_soon(checkpoint_at_intervals, directory, flusher, 1000)
    else:
        nursery.start_soon(checkpoint_start_offsets_at_intervals, directory, 1000)
    await wait_all_tasks_blocked()
    mock_clock.jump(1)
    while "no space" not in caplog.text:
        await trio.lowlevel.checkpoint()

    assert "t 1 " in (Path(directory.path) / name).read_text()
    assert (Path(directory.path) / "log-start-offset-checkpoint").read_text() == "0\n1\nt 1 1\n"


async def test_start_offsets_have_an_interval_of_their_own(
    directory: LogDirectory, make_partition: MakePartition, nursery: trio.Nursery, mock_clock: MockClock
) -> None:
    """log.flush.start.offset.checkpoint.interval.ms."""
    partition = make_partition()
    append(partition, 3)
    partition.log.move_start(2)
    file = Path(directory.path) / "log-start-offset-checkpoint"
    nursery.start_soon(checkpoint_start_offsets_at_intervals, directory, 2000)
    await wait_all_tasks_blocked()

    mock_clock.jump(2)
    while not file.exists():
        await trio.lowlevel.checkpoint()

    assert file.read_text() == "0\n1\nt 0 2\n"


async def test_producers_not_heard_of_are_forgotten_at_intervals(
    directory: LogDirectory, make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    """producer.id.expiration.ms since its last batch, looked at every check interval."""
    partition = make_partition(producer_id_expiration_ms=5000)
    partition.append(batch(producer_id=7, producer_epoch=0, base_sequence=0), now_ms=1)

    def wall_ms() -> int:
        return 1 + int(trio.current_time() * 1000)

    nursery.start_soon(expire_producers_at_intervals, directory, wall_ms, 2000)
    known = []
    for at_second in (3, 5, 7):
        await trio.sleep_until(at_second)
        known.append(7 in partition.log.producers.producers)

    assert known == [True, True, False]


async def test_interval_of_nothing_does_not_spin(
    directory: LogDirectory, nursery: trio.Nursery, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka allows 0 for the intervals of checkpoints."""
    times: list[float] = []

    def logs() -> list[PartitionLog]:
        times.append(trio.current_time())
        return []

    monkeypatch.setattr(directory, "logs", logs)
    nursery.start_soon(expire_producers_at_intervals, directory, lambda: 0, 0)

    await trio.sleep(1.05)

    assert len(times) == 10
