"""housekeeping: data lasts and is known to last, while the broker runs."""

import pytest
import trio
from trio.testing import MockClock

from tests.broker.conftest import MakePartition
from tests.broker.support import append
from wirekafka.broker.housekeeping import checkpoint_at_intervals, report_notices
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogDirectory


async def test_written_data_is_flushed_and_checkpointed_at_intervals(
    directory: LogDirectory, make_partition: MakePartition, nursery: trio.Nursery, mock_clock: MockClock
) -> None:
    """So that a start after a kill looks only at what is newer."""
    partition = make_partition()
    append(partition, 3)
    nursery.start_soon(checkpoint_at_intervals, directory, 60_000)
    await trio.testing.wait_all_tasks_blocked()
    before = partition.log.recovery_point

    mock_clock.jump(60)
    while directory.unflushed_logs():
        await trio.lowlevel.checkpoint()
    await trio.testing.wait_all_tasks_blocked()

    assert (before, partition.log.recovery_point) == (0, 3)


async def test_failed_flush_is_logged_and_tried_again_later(
    directory: LogDirectory,
    make_partition: MakePartition,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Housekeeping goes on; the log itself refuses appends from then on."""
    checkpoints: list[int] = []

    def checkpoint() -> None:
        checkpoints.append(1)
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")

    monkeypatch.setattr(directory, "checkpoint", checkpoint)
    nursery.start_soon(checkpoint_at_intervals, directory, 1000)
    await trio.sleep(2.5)
    nursery.cancel_scope.cancel()

    assert len(checkpoints) == 2
    assert "may not last" in caplog.text


def test_notices_are_told_once(directory: LogDirectory, caplog: pytest.LogCaptureFixture) -> None:
    directory.notices.append("t-0: something was mended")

    report_notices(directory)
    report_notices(directory)

    assert caplog.messages == ["t-0: something was mended"]
