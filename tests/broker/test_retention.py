"""retention: where logs begin, by their settings and by DeleteRecords."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from tests.broker.conftest import MakePartition
from tests.broker.support import append, create_topic
from wirekafka.broker import Broker, BrokerConfig, open_broker
from wirekafka.broker.claims import Claims
from wirekafka.broker.partition import Partition
from wirekafka.broker.partitions import Partitions
from wirekafka.broker.retention import Retention
from wirekafka.broker.unlinking import Unlinking
from wirekafka.metadata import Settings
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory, PartitionLog

LONG_AFTER_MS = 10**12


class Some(Partitions):
    """The partitions that a test has made."""

    def __init__(self, *partitions: Partition) -> None:
        self.partitions = list(partitions)

    def online(self) -> list[Partition]:
        return self.partitions

    def of_topic(self, topic: str) -> list[Partition]:
        return self.partitions

    def find(self, topic: str, partition: int) -> Partition:
        return self.partitions[partition]


def retention(directory: LogDirectory, *partitions: Partition, claims: Claims | None = None) -> Retention:
    unlinking = Unlinking(directory.remove_set_aside)
    return Retention(
        directory, Some(*partitions), unlinking, claims or Claims(), wall_ms=lambda: LONG_AFTER_MS
    )


def start_offsets(directory: LogDirectory) -> str:
    file = Path(directory.path) / "log-start-offset-checkpoint"
    return file.read_text() if file.exists() else ""


def files_of(directory: LogDirectory, ending: str) -> list[str]:
    return sorted(path.name for path in Path(directory.path).glob(f"*/*{ending}"))


async def test_the_start_is_checkpointed_before_a_file_goes(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that no crash brings back what the log has done with."""
    partition = make_partition(retention_ms=1000)
    append(partition, 3)
    order: list[str] = []
    write, delete = directory.checkpoints.write_log_start_offsets, partition.log.delete_records_before

    def noting_write() -> None:
        order.append("checkpoint")
        write()

    def noting_delete(offset: int) -> list[str]:
        order.append("files")
        return delete(offset)

    monkeypatch.setattr(directory.checkpoints, "write_log_start_offsets", noting_write)
    monkeypatch.setattr(partition.log, "delete_records_before", noting_delete)

    await retention(directory, partition).apply("t")

    assert order == ["checkpoint", "files"]
    assert start_offsets(directory) == "0\n1\nt 0 3\n"
    assert files_of(directory, ".log") == [f"{3:020d}.log"]
    assert f"{0:020d}.log.deleted" in files_of(directory, ".deleted")


async def test_a_checkpoint_that_fails_keeps_no_file(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk this is what frees space. It is told all the same."""
    partition = make_partition(retention_ms=1000)
    append(partition, 3)

    def fail() -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")

    monkeypatch.setattr(directory.checkpoints, "write_log_start_offsets", fail)

    with pytest.raises(KafkaError, match="no space"):
        await retention(directory, partition).apply("t")

    assert files_of(directory, ".log") == [f"{3:020d}.log"]


async def test_one_log_that_cannot_be_shortened_keeps_no_other(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is tried; the first failure is told."""
    partitions = [make_partition(index=index, retention_ms=1000) for index in range(3)]
    for partition in partitions:
        append(partition, 2)

    def fail(offset: int) -> list[str]:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "not this one.")

    monkeypatch.setattr(partitions[1].log, "delete_records_before", fail)

    with pytest.raises(KafkaError, match="not this one"):
        await retention(directory, *partitions).apply("t")

    assert [len(partition.log.segments.all()) for partition in partitions] == [1, 1, 1]
    assert [partition.log.size_bytes > 0 for partition in partitions] == [False, True, False]


async def test_logs_that_take_nothing_are_passed_over(
    directory: LogDirectory, make_partition: MakePartition
) -> None:
    """A closed log, and all of a folder that has failed."""
    closed, other = make_partition(index=0, retention_ms=1000), make_partition(index=1, retention_ms=1000)
    append(closed), append(other)
    closed.log.abandon()
    directory.disk.health.fail("a sync failed.")

    await retention(directory, closed, other).apply("t")

    assert other.log.log_start_offset == 0


async def test_at_intervals_a_log_that_is_compacted_is_left_for_the_next_time(
    directory: LogDirectory, make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: object
) -> None:
    """Nobody shortens what somebody rewrites."""
    claimed, free = (make_partition(index=index, retention_ms=1000) for index in range(2))
    append(claimed), append(free)
    claims = Claims()
    settings = Settings.load(None, {"log.retention.check.interval.ms": "1000"}, "dev")
    dropping = retention(directory, claimed, free, claims=claims)

    async with claims.hold(claimed.topic_partition):
        nursery.start_soon(dropping.run, lambda: settings)
        while free.log.size_bytes:
            await trio.sleep(1)
        await trio.sleep(3)
        assert claimed.log.size_bytes
    while claimed.log.size_bytes:
        await trio.sleep(1)


async def test_logs_that_keep_records_for_long_are_looked_at_as_kafka_does(
    directory: LogDirectory, make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: object
) -> None:
    """Every five minutes: a record with a time long past is not gone before a test has read it."""
    week_ms = 7 * 24 * 3600 * 1000
    long, short, small = (
        make_partition(index=0, retention_ms=week_ms),
        make_partition(index=1, retention_ms=1000),
        make_partition(index=2, retention_ms=week_ms, retention_bytes=0),
    )
    for partition in (long, short, small):
        append(partition)
    settings = Settings.load(None, {}, "dev")

    nursery.start_soon(retention(directory, long, short, small).run, lambda: settings)
    await trio.sleep(10)
    while short.log.size_bytes or small.log.size_bytes:
        await trio.lowlevel.checkpoint()  # time stands still until the thread has written its checkpoint
    before = trio.current_time()
    kept = long.log.size_bytes
    while long.log.size_bytes:
        await trio.sleep(1)

    assert kept
    assert trio.current_time() - before > 200


async def test_an_interval_that_was_set_is_obeyed_for_all(
    directory: LogDirectory, make_partition: MakePartition, nursery: trio.Nursery, autojump_clock: object
) -> None:
    """Only what the profile says by itself is for logs that keep their records for short."""
    long = make_partition(retention_ms=7 * 24 * 3600 * 1000)
    append(long)
    settings = Settings.load(None, {"log.retention.check.interval.ms": "1000"}, "dev")

    nursery.start_soon(retention(directory, long).run, lambda: settings)
    await trio.sleep(5)
    while long.log.size_bytes:
        await trio.lowlevel.checkpoint()  # time stands still until the thread has written its checkpoint

    assert trio.current_time() < 10


# --- DeleteRecords


async def test_deleted_records_are_checkpointed_when_it_answers(
    directory: LogDirectory, make_partition: MakePartition
) -> None:
    """A kill behind the answer does not bring them back."""
    partition = make_partition()
    append(partition, 5)

    assert await retention(directory, partition).delete_records("t", 0, 2) == 2
    assert start_offsets(directory) == "0\n1\nt 0 2\n"
    assert await retention(directory, partition).delete_records("t", 0, 1) == 2
    assert await retention(directory, partition).delete_records("t", 0, -1) == 5
    assert start_offsets(directory) == "0\n1\nt 0 5\n"


@pytest.mark.parametrize("offset", [-2, 6])
async def test_offsets_that_are_not_there(
    directory: LogDirectory, make_partition: MakePartition, offset: int
) -> None:
    """Before the first, or behind what readers may see."""
    partition = make_partition()
    append(partition, 5)

    with pytest.raises(KafkaError) as caught:
        await retention(directory, partition).delete_records("t", 0, offset)

    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("policy", "refused"), [(("compact",), True), (("compact", "delete"), False), ((), False)]
)
async def test_compacted_logs_have_no_records_deleted(
    directory: LogDirectory, make_partition: MakePartition, policy: tuple[str, ...], refused: bool
) -> None:
    """Unless they are to be shortened as well."""
    partition = make_partition()
    append(partition, 5)
    partition.log.config = LogConfig(cleanup_policy=policy)
    dropping = retention(directory, partition)

    if refused:
        with pytest.raises(KafkaError) as caught:
            await dropping.delete_records("t", 0, 2)
        assert caught.value.code is ErrorCode.POLICY_VIOLATION
    else:
        assert await dropping.delete_records("t", 0, 2) == 2


async def test_a_folder_that_has_failed_promises_nothing(
    directory: LogDirectory, make_partition: MakePartition
) -> None:
    """KAFKA_STORAGE_ERROR, and the log begins where it did."""
    partition = make_partition()
    append(partition, 5)
    directory.disk.health.fail("a sync failed.")

    with pytest.raises(KafkaError) as caught:
        await retention(directory, partition).delete_records("t", 0, 2)

    assert (caught.value.code, partition.log.log_start_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, 0)


async def test_a_broker_drops_by_itself_and_when_asked(config: BrokerConfig) -> None:
    """`Broker.apply_retention`; a kill behind DeleteRecords' answer keeps the start."""
    async with open_broker(config) as broker:
        partition = await _topic(broker)
        await broker.retention.delete_records("t", 0, 3)
        await broker.apply_retention("t")
        assert partition.log.log_start_offset == 3

    async with open_broker(config) as broker:
        assert broker.partitions.find("t", 0).log.log_start_offset == 3
        with pytest.raises(KafkaError):
            await broker.apply_retention("nowhere")


async def _topic(broker: Broker) -> Partition:
    await create_topic(broker, "t", retention_ms="-1")
    partition = broker.partitions.find("t", 0)
    append(partition, 5)
    return partition


async def test_many_are_answered_by_one_checkpoint(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a line for every partition of the broker; what is refused is refused alone."""
    partitions = [make_partition(index=index) for index in range(20)]
    for partition in partitions:
        append(partition, 5)
    written: list[str] = []
    write = directory.checkpoints.write_log_start_offsets

    def noting_write() -> None:
        write()
        written.append(start_offsets(directory))

    monkeypatch.setattr(directory.checkpoints, "write_log_start_offsets", noting_write)

    answers = await retention(directory, *partitions).delete_all_records(
        [("t", index, 6 if index == 7 else 3) for index in range(20)]
    )

    assert len(written) == 1
    assert written[0].splitlines()[2:] == [f"t {index} 3" for index in range(20) if index != 7]
    refused = answers.pop(7)
    assert isinstance(refused, KafkaError)
    assert refused.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert answers == [3] * 19


async def test_on_a_full_disk_the_files_go_first(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever deletes records because the disk is full is not refused because the disk is full."""
    partition = make_partition()
    append(partition, 5)
    partition.log.roll(0)
    append(partition, 5)
    order: list[str] = []
    write = directory.checkpoints.write_log_start_offsets

    def full_until_a_file_is_gone() -> None:
        left = files_of(directory, ".log") + files_of(directory, ".deleted")
        order.append("checkpoint" if f"{0:020d}.log" not in "".join(left) else "full")
        if order[-1] == "full":
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")
        write()

    monkeypatch.setattr(directory.checkpoints, "write_log_start_offsets", full_until_a_file_is_gone)

    assert await retention(directory, partition).delete_records("t", 0, 7) == 7
    assert order == ["full", "checkpoint"]
    assert start_offsets(directory) == "0\n1\nt 0 7\n"


async def test_a_start_that_cannot_be_kept_is_not_promised(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one log its epochs cannot be written; the others are answered."""
    partitions = [make_partition(index=index) for index in range(3)]
    for partition in partitions:
        append(partition, 5)
    note = directory.checkpoints.note

    def failing_note(log: PartitionLog) -> None:
        if log is partitions[1].log:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")
        note(log)

    monkeypatch.setattr(directory.checkpoints, "note", failing_note)

    answers = await retention(directory, *partitions).delete_all_records([("t", i, 2) for i in range(3)])

    assert [getattr(answer, "code", answer) for answer in answers] == [2, ErrorCode.KAFKA_STORAGE_ERROR, 2]
    assert start_offsets(directory) == "0\n1\nt 0 2\nt 2 2\n".replace("1\nt 0", "2\nt 0")


async def test_the_loop_is_let_go_while_many_logs_are_looked_at(
    directory: LogDirectory,
    make_partition: MakePartition,
    nursery: trio.Nursery,
    mock_clock: trio.testing.MockClock,
) -> None:
    """Those that are not to be shortened soon as well: ten thousand partitions are looked at every second."""
    partition = make_partition(retention_ms=-1)
    seen: list[int] = []

    class Counting(list[Partition]):
        def __iter__(self) -> Iterator[Partition]:
            for count in range(1000):
                seen.append(count)
                yield partition

    dropping = retention(directory, partition)
    monkey: Any = dropping._partitions
    monkey.partitions = Counting()
    settings = Settings.load(None, {}, "dev")
    nursery.start_soon(dropping.run, lambda: settings)
    for _ in range(2):
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(1.1)

    turns: set[int] = set()
    while len(seen) < 1000:
        turns.add(len(seen))
        await trio.lowlevel.checkpoint()

    assert turns - {0}


async def test_what_nobody_foresaw_keeps_no_other_log(
    directory: LogDirectory, make_partition: MakePartition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log that it happened to is left alone until the next start."""
    partitions = [make_partition(index=index, retention_ms=1000) for index in range(3)]
    for partition in partitions:
        append(partition, 2)
    tried: list[int] = []

    def fail(offset: int) -> list[str]:
        tried.append(offset)
        raise ZeroDivisionError("who would have thought")

    monkeypatch.setattr(partitions[1].log, "delete_records_before", fail)
    dropping = retention(directory, *partitions)

    await dropping.apply("t")
    await dropping.apply("t")

    assert [partition.log.size_bytes > 0 for partition in partitions] == [False, True, False]
    assert tried == [2]
