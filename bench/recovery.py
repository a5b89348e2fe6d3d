"""How fast is a log scanned after a crash?

    python bench/recovery.py [--rounds N] [--quick]

One log of 2 GiB is filled, the broker killed, and the checkpoint of what was flushed removed, so that
every byte has to be looked at. From exec until a client is answered, less the same for a folder with an
empty log, is the time of the scan. Beside it the same files are read in pieces of 1 MiB and their CRC-32C
taken, which is the least a scan can do. In turn; the figure is the median of the ratios of speed. A start
after a crash drops what the page cache has of a log, so as to see what the disk has; so does the other side.

Batches are of 1 MiB; the same with batches of 16 KiB is told and has no target: it measures what is done a
batch.
"""

import os
import statistics
import time
from pathlib import Path

from crc32c import crc32c
from frames import TOPIC, create_topic, metadata_frame, produce_frame, receive_frame
from instrument.answers import Answer
from instrument.figures import Figure, ratios
from instrument.question import Options, Question, progress, run
from servers import Server, start_broker

LOG_MIB = 2 * 1024
MIB_BATCH_BYTES = 1024 * 1024 - 4096
SMALL_BATCH_BYTES = 16 * 1024
_TARGET = 0.5
_IN_FLIGHT = 4
_PIECE_BYTES = 1024 * 1024
_FORGOTTEN = ("recovery-point-offset-checkpoint", ".kafka_cleanshutdown")


def ask(options: Options) -> Answer:
    """With large batches, then with small ones."""
    figures: list[Figure] = []
    for batch_bytes in (MIB_BATCH_BYTES, SMALL_BATCH_BYTES):
        place = options.folder / str(batch_bytes)
        place.mkdir()
        figures += measure(
            place,
            rounds=options.rounds,
            log_mib=1024 if options.quick else LOG_MIB,
            batch_bytes=batch_bytes,
        )
    return Answer(figures)


def measure(folder: Path, *, rounds: int, log_mib: int, batch_bytes: int) -> list[Figure]:
    """Fill one log, then start after a crash and take the CRC of its files in turns."""
    full, empty = folder / "full", folder / "empty"
    _fill(full, log_mib, batch_bytes)
    _fill(empty, 0, batch_bytes)
    os.sync()
    files = sorted(full.glob(f"{TOPIC}-0/*.log"))
    size_mib = sum(file.stat().st_size for file in files) / 1024 / 1024
    checks, cached, starts, empty_starts = [], [], [], []
    for _ in range(rounds):
        checks.append(_seconds_of_crc(files, from_disk=True))
        cached.append(_seconds_of_crc(files, from_disk=False))
        starts.append(_seconds_of_start(full))
        empty_starts.append(_seconds_of_start(empty))
        progress(f"CRC alone {checks[-1]:.2f} s, start {starts[-1]:.2f} s, empty {empty_starts[-1]:.2f} s")
    scans = [start - statistics.median(empty_starts) for start in starts]
    kib = batch_bytes // 1024
    return [
        Figure(
            f"recovery scan / CRC-32C alone, {kib:,} KiB batches",
            ratios(checks, scans),
            _TARGET if batch_bytes == MIB_BATCH_BYTES else None,
        ),
        Figure(
            f"recovery scan, {kib:,} KiB batches", [size_mib / seconds for seconds in scans], unit="MiB/s"
        ),
        Figure(
            f"CRC-32C alone, {kib:,} KiB batches", [size_mib / seconds for seconds in checks], unit="MiB/s"
        ),
        Figure(
            f"CRC-32C out of the page cache, {kib:,} KiB batches",
            [size_mib / s for s in cached],
            unit="MiB/s",
        ),
    ]


def _fill(folder: Path, mib: int, batch_bytes: int) -> None:
    broker = start_broker(folder, pinned=False)
    space = bytearray(64 * 1024)
    with broker.connect() as sock:
        create_topic(sock)
        request = produce_frame(batch_bytes)
        count = mib * 1024 * 1024 // len(request)
        for n in range(count + _IN_FLIGHT):
            if n < count:
                sock.sendall(request)
            if n >= _IN_FLIGHT:
                receive_frame(sock, space)
    broker.kill()


def _seconds_of_start(folder: Path) -> float:
    """From exec after a crash until a client is answered."""
    for name in _FORGOTTEN:
        (folder / name).unlink(missing_ok=True)
    begun = time.perf_counter()
    broker: Server = start_broker(folder, pinned=False)
    with broker.connect() as sock:
        sock.sendall(metadata_frame())
        receive_frame(sock, bytearray(64 * 1024))
    seconds = time.perf_counter() - begun
    broker.kill()
    return seconds


def _seconds_of_crc(files: list[Path], *, from_disk: bool) -> float:
    piece = memoryview(bytearray(_PIECE_BYTES))
    begun = time.perf_counter()
    for path in files:
        crc = 0
        with path.open("rb", buffering=0) as file:
            if from_disk:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while count := file.readinto(piece):
                crc = crc32c(piece[:count], crc)
    return time.perf_counter() - begun


QUESTION = Question("recovery", "How fast is a log scanned after a crash?", ask, minutes=3, usual=False)

if __name__ == "__main__":
    run(QUESTION)
