"""A write-back that fails when nobody has the file open is told by the next flush.

On an ext4 in a file whose own filesystem is full, so that the kernel cannot write pages that it took long
before. That is where descriptors are few: the file was closed for another. Needs root and loop devices.
"""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.torture import mounts
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Record, build_batch
from wirekafka.storage import LogConfig, LogDirectory, PartitionLog, flush_logs

NOW_MS = 1_000
DIRTY_BYTES = 8 << 20


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def disk_with_a_short_end(folder: Path) -> Iterator[tuple[Path, Path]]:
    """A mounted ext4, and the folder its image is in, which has less room than the ext4 believes."""
    outer, inner = folder / "outer", folder / "inner"
    outer.mkdir(parents=True)
    inner.mkdir()
    image = outer / "image"
    with contextlib.ExitStack() as stack:
        run("mount", "-t", "tmpfs", "-o", "size=40m", "none", str(outer))
        stack.callback(run, "umount", "-l", str(outer))
        image.touch()
        os.truncate(image, 200 << 20)
        options = ["-E", "nodiscard,lazy_itable_init=1", "-O", "^has_journal"]
        run("mkfs.ext4", "-q", "-F", *options, str(image))
        run("mount", "-o", "loop", str(image), str(inner))
        stack.callback(run, "umount", "-l", str(inner))
        yield inner, outer


def fill(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / "filler").open("wb") as file:
        while True:
            file.write(bytes(1 << 16))
            file.flush()


def append(logs: list[PartitionLog], size: int) -> None:
    for log in logs:
        batch = build_batch([Record(None, os.urandom(size), NOW_MS)])
        log.append(batch, leader_epoch=0, now_ms=NOW_MS)


def forget_inodes(_: Path) -> None:
    """Have the pages written and the files forgotten, as under memory pressure."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")


def sync_first(mount: Path) -> None:
    """Another program asks first, and is told."""
    with contextlib.suppress(subprocess.CalledProcessError):
        run("sync", *map(str, mount.glob("data/t-0/*.log")))


@pytest.mark.parametrize("meanwhile", [forget_inodes, sync_first])
def test_a_failed_write_back_of_a_closed_file_is_told_by_the_next_flush(
    tmp_path: Path, meanwhile: Callable[[Path], None]
) -> None:
    """Also when the kernel has forgotten the file, or told somebody else: fdatasync would see nothing."""
    if reason := mounts.not_possible("ext4"):
        pytest.skip(reason)
    with disk_with_a_short_end(tmp_path) as (mount, backing):
        directory = LogDirectory.open(mount / "data", node_id=1, open_files=1)
        config = LogConfig(max_message_bytes=2 * DIRTY_BYTES)
        logs = [directory.open_log(TopicPartition("t", n), bytes(16), config, now_ms=NOW_MS) for n in (0, 1)]
        append(logs, 10)
        flush_logs(directory.disk, directory.path, logs)
        fill(backing)
        append(logs, DIRTY_BYTES)
        assert directory.disk.open_files.closed_unsynced == {logs[0].segments.active.path}
        meanwhile(mount)

        with pytest.raises(KafkaError) as caught:
            flush_logs(directory.disk, directory.path, logs[:1])

        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert directory.disk.health.failure != ""
        assert logs[0].recovery_point == 1
        directory.close(clean=False)
        del logs, directory, caught
