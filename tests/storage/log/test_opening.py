"""Tests of storage.log.opening: what is known of a partition while it is opened."""

from pathlib import Path

from tests.storage.support import TOPIC_PARTITION, UnsyncedFiles
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.storage.config import LogConfig
from wirekafka.storage.disk.disk import Disk
from wirekafka.storage.log.opening import Opening, Stopped
from wirekafka.storage.log.progress import OpeningProgress


def opening(path: Path, stopped: Stopped, config: LogConfig | None = None) -> Opening:
    disk = Disk.on(UnsyncedFiles())
    return Opening(disk, str(path), TOPIC_PARTITION, config or LogConfig(), 0, stopped, [], OpeningProgress())


def test_missing_offsets_are_normal_after_a_compaction(tmp_path: Path) -> None:
    """Also when the topic is not compacted any more."""
    compacted = LogConfig(cleanup_policy=("compact", "delete"))

    assert opening(tmp_path, Stopped(), compacted).is_compacted
    assert opening(tmp_path, Stopped(was_compacted=True)).is_compacted
    assert not opening(tmp_path, Stopped()).is_compacted


def test_a_recovery_point_that_is_not_known_is_the_start(tmp_path: Path) -> None:
    """Everything is checked."""
    assert opening(tmp_path, Stopped()).recovery_point == 0
    assert opening(tmp_path, Stopped(recovery_point=7)).recovery_point == 7


def test_damage_names_the_partition_and_what_shows_it(tmp_path: Path) -> None:
    """No path: the sentence reaches clients."""
    error = opening(tmp_path, Stopped()).damage("a.log has no batch at position 9")

    assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert "t-0 is damaged: a.log has no batch at position 9. It is left as it is" in error.message
    assert "`wirekafka log verify t-0`" in error.message
    assert str(tmp_path) not in error.message


def test_a_replay_begins_at_the_earliest_that_is_asked_for(tmp_path: Path) -> None:
    """Several segments may have to be told anew."""
    one = opening(tmp_path, Stopped())
    for base_offset in (8, 4, 6):
        one.replay_from(base_offset)

    assert one.replayed_from == 4


def test_notices_name_the_partition(tmp_path: Path) -> None:
    """They are log lines of the broker."""
    one = opening(tmp_path, Stopped())
    one.notice("was mended")

    assert one.notices == ["t-0: was mended"]
