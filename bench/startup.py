"""How soon a broker answers after exec, and how much memory it holds idle.

    python bench/startup.py [--rounds N]

From exec to the first acknowledged record: start `python -m wirekafka serve` on a fresh folder, and
from the moment of exec try to connect, create the topic and produce, until the answer is there.
Resident memory is read from /proc after that, idle. One round to warm up the page cache is not
counted. Exit status 1 if a median is above its target.
"""

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from frames import check_produced, create_topic, produce_frame  # the same folder


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def connect(port: int, deadline: float) -> socket.socket:
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if time.perf_counter() > deadline:
                raise
            time.sleep(0.001)


def resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS in /proc")


def one_start(request: bytes) -> tuple[float, float]:
    """Seconds from exec to the first acknowledged record, and MiB resident after it."""
    with tempfile.TemporaryDirectory(prefix="wirekafka-bench-") as folder:
        port = free_port()
        begun = time.perf_counter()
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "wirekafka",
                "serve",
                "--listen",
                f"127.0.0.1:{port}",
                "--data-dir",
                folder,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with connect(port, begun + 30) as sock:
                create_topic(sock)
                check_produced(sock, request)
                seconds = time.perf_counter() - begun
            return seconds, resident_mib(process.pid)
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    request = produce_frame(1100)
    one_start(request)
    starts = [one_start(request) for _ in range(options.rounds)]
    missed = False
    for name, unit, target, values in (
        ("exec to first acknowledged record", "s", 0.6, [seconds for seconds, _ in starts]),
        ("resident memory, idle", "MiB", 60.0, [mib for _, mib in starts]),
    ):
        missed = missed or statistics.median(values) > target
        print(
            f"{name:<36} median {statistics.median(values):6.2f} {unit}"
            f"  ({min(values):.2f} to {max(values):.2f}; target {target})"
        )
    if missed:
        sys.exit("above the target")


if __name__ == "__main__":
    main()
