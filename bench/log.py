"""How good is the log? Asks what `hot_path`, `group_commit`, `log_size` and the others of its kind ask.

    python bench/log.py [--only NAME ...] [--quick] [--folder FOLDER]

Each figure is a ratio within one run, the median of alternating turns, but for the time and memory of a
start with many partitions. Exit status 1 if one misses its target. `--quick` is for seeing that everything
runs: its logs are small and its rounds few. The whole takes about ten minutes, and 12 GiB under `--folder`
(the system's folder for temporary files), which it removes.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import group_commit
import hot_path
import log_size
import many_partitions
import recovery
from figures import Figure
from own_network import leave_bbr

Question = Callable[[Path, bool], Sequence[Figure]]
_HOT_PATH_TARGET = 0.7


def fetch(folder: Path, quick: bool) -> list[Figure]:
    """Sendfile fetch against bare sendfile."""
    return hot_path.measure_fetch(
        folder,
        rounds=5 if quick else 25,
        seconds=0.1 if quick else 0.2,
        batch_bytes=hot_path.MIB_BATCH_BYTES,
        target=_HOT_PATH_TARGET,
    )


def produce(folder: Path, quick: bool) -> list[Figure]:
    """Produce of 1 MiB requests against the bare receive, check, write loop."""
    return hot_path.measure_produce(
        folder,
        rounds=5 if quick else 15,
        seconds=0.1 if quick else 0.2,
        batch_bytes=hot_path.MIB_BATCH_BYTES,
        target=_HOT_PATH_TARGET,
    )


def fsync(folder: Path, quick: bool) -> list[Figure]:
    """Mode fsync with many producers against one fsync a request."""
    return group_commit.measure(folder, rounds=5 if quick else 15, seconds=0.2 if quick else 0.5)


def size(folder: Path, quick: bool) -> list[Figure]:
    """Look-ups and appends in a large log against a small one."""
    if quick:
        return log_size.measure(folder, rounds=5, log_mib=320)
    return log_size.measure(folder, rounds=9)


def start(folder: Path, quick: bool) -> list[Figure]:
    """A clean start with many partitions."""
    if quick:
        return many_partitions.measure(folder, rounds=2, partitions=1000, open_files=400)
    return many_partitions.measure(folder, rounds=5)


def scan(folder: Path, quick: bool) -> list[Figure]:
    """The scan after a crash against CRC-32C alone, with large batches, then with small ones."""
    rounds, log_mib = (3, 1024) if quick else (5, recovery.LOG_MIB)
    figures = []
    for batch_bytes in (recovery.MIB_BATCH_BYTES, recovery.SMALL_BATCH_BYTES):
        place = folder / str(batch_bytes)
        place.mkdir()
        figures += recovery.measure(place, rounds=rounds, log_mib=log_mib, batch_bytes=batch_bytes)
    return figures


QUESTIONS: dict[str, Question] = {
    question.__name__: question for question in (fetch, produce, fsync, size, start, scan)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=list(QUESTIONS), metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the data of the runs goes, and is removed")
    options = parser.parse_args()
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
    leave_bbr()
    missed = []
    for name in options.only:
        print(f"{name}: {QUESTIONS[name].__doc__}", flush=True)
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="wirekafka-bench-", dir=options.folder) as folder:
            figures = QUESTIONS[name](Path(folder), options.quick)
        for figure in figures:
            print(f"  {figure}")
        missed += [figure.name.strip() for figure in figures if figure.missed]
        print(f"  ({time.perf_counter() - begun:.0f} s)", flush=True)
    if missed:
        sys.exit(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
