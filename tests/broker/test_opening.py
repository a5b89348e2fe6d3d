"""Tests of broker.opening: many logs opened in threads, while somebody looks on."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from tests.storage.support import NOW_MS, TOPIC_ID, FaultyFiles, UnsyncedFiles, simple_batch
from wirekafka.broker.opening import Opened, Wanted, log_progress, open_logs, report_notices
from wirekafka.ids import TopicId, TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, LogDirectory, OpeningProgress, PartitionLog

COUNT = 40


def wanted(config: LogConfig | None = None) -> list[Wanted]:
    return [
        Wanted(TopicPartition("t", index), TopicId(TOPIC_ID), config or LogConfig()) for index in range(COUNT)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of partitions that was left by a kill."""
    directory = LogDirectory.open(tmp_path, node_id=1, files=UnsyncedFiles())
    for each in wanted():
        log = directory.open_log(each.topic_partition, each.topic_id, each.config, now_ms=NOW_MS)
        log.append(simple_batch(2), leader_epoch=0, now_ms=NOW_MS)
    directory.close(clean=False)
    return tmp_path


@pytest.fixture
def directory(folder: Path) -> Iterator[LogDirectory]:
    """That folder, locked again."""
    directory = LogDirectory.open(folder, node_id=1, files=UnsyncedFiles())
    yield directory
    directory.close(clean=False)


async def nobody(progress: OpeningProgress) -> None:
    """Looks at nothing."""


async def opened(
    directory: LogDirectory, logs: list[Wanted], threads: int = 3
) -> dict[TopicPartition, object]:
    found: list[Opened] = await open_logs(directory, logs, threads=threads, watch=nobody, now_ms=NOW_MS)
    return {each.topic_partition: log for each, log in found}


@pytest.mark.parametrize("threads", [1, 4])
async def test_every_log_is_opened_once(directory: LogDirectory, threads: int) -> None:
    """Whatever the number of threads."""
    found = await opened(directory, wanted(), threads)

    assert found.keys() == {each.topic_partition for each in wanted()}
    assert all(isinstance(log, PartitionLog) and log.log_end_offset == 2 for log in found.values())
    assert directory.notices == []


async def test_it_is_not_done_on_the_event_loop(directory: LogDirectory) -> None:
    """The loop stays alive meanwhile."""
    seen: set[threading.Thread] = set()
    real = directory.open_log

    def open_log(*arguments: object, **named: object) -> PartitionLog:
        seen.add(threading.current_thread())
        return real(*arguments, **named)  # type: ignore[arg-type]

    directory.open_log = open_log  # type: ignore[method-assign]
    await opened(directory, wanted())

    assert threading.current_thread() not in seen


async def test_a_damaged_log_does_not_stop_the_others(directory: LogDirectory, folder: Path) -> None:
    """It is told why it is offline."""
    path = folder / "t-3" / f"{0:020d}.log"
    data = path.read_bytes()
    path.write_bytes(data[:30] + b"\xff" + data[31:] + data)
    found = await opened(directory, wanted())
    damaged = found.pop(TopicPartition("t", 3))

    assert isinstance(damaged, KafkaError)
    assert damaged.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert damaged.__traceback__ is None
    assert all(isinstance(log, PartitionLog) for log in found.values())


async def test_progress_is_told_in_partitions_and_bytes(directory: LogDirectory) -> None:
    """Of an unclean start all that is to be checked, before it begins."""
    watched: list[OpeningProgress] = []

    async def watch(progress: OpeningProgress) -> None:
        watched.append(progress)
        assert progress.partitions_total == COUNT
        assert progress.bytes_total == COUNT * len(simple_batch(2))

    await open_logs(directory, wanted(), threads=2, watch=watch, now_ms=NOW_MS)

    (progress,) = watched
    assert (progress.partitions_opened, progress.share_done) == (COUNT, 1.0)


async def test_a_watch_is_ended_with_the_opening(directory: LogDirectory) -> None:
    """It need not know when."""
    with trio.fail_after(10):
        await open_logs(directory, wanted(), threads=2, watch=log_progress, now_ms=NOW_MS)


async def test_an_opening_that_is_cancelled_gives_up(directory: LogDirectory) -> None:
    """Ctrl-C during a long check: nothing more is opened."""
    with trio.move_on_after(10) as scope:

        async def watch(progress: OpeningProgress) -> None:
            scope.cancel()

        await open_logs(directory, wanted(), threads=1, watch=watch, now_ms=NOW_MS)

    assert scope.cancelled_caught


async def test_what_was_recovered_is_made_to_last_in_the_mode_fsync(folder: Path) -> None:
    """One flush for all, before anybody is served; in the mode `os` none."""
    for durability, point in (("os", 0), ("fsync", 2)):
        files = FaultyFiles()
        directory = LogDirectory.open(folder, node_id=1, files=files)
        found = await opened(directory, wanted(LogConfig(durability=durability)))
        assert {log.recovery_point for log in found.values() if isinstance(log, PartitionLog)} == {point}
        directory.close(clean=False)


async def test_what_cannot_be_made_to_last_is_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The folder has failed; it is read from all the same."""
    files = FaultyFiles()
    directory = LogDirectory.open(folder, node_id=1, files=files)
    files.fail_next("fdatasync", always=True)
    with caplog.at_level(logging.ERROR, "wirekafka"):
        found = await opened(directory, wanted(LogConfig(durability="fsync"))[:2])
    files.fail_at = 0
    directory.close(clean=False)

    assert len(found) == 2
    assert "what was recovered may not last" in caplog.text


async def test_lines_are_logged_every_few_seconds(
    autojump_clock: trio.testing.MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Where there is no terminal to draw on."""
    progress = OpeningProgress()
    progress.expect(7, 0)
    with caplog.at_level(logging.INFO, "wirekafka"), trio.move_on_after(11):
        await log_progress(progress)

    assert caplog.text.count("opening the data folder: 0 of 7 partitions open") == 2


def test_notices_are_told_once(directory: LogDirectory, caplog: pytest.LogCaptureFixture) -> None:
    directory.notices.append("t-0: something was mended")

    report_notices(directory)
    report_notices(directory)

    assert caplog.messages == ["t-0: something was mended"]
