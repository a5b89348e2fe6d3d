"""Keep a broker busy with one kind of request, for a profiler to look at it.

    python bench/under_load.py [--seconds S] KIND [COMMAND ...]

KIND is part of a name in the second table of `small_requests.py` ("v9", "idempotent", "fetch"). COMMAND is
run beside the load, with {pid} replaced by the broker's process id:

    python bench/under_load.py v9 py-spy record --pid {pid} --duration 5 --format raw --output v9.raw

Without one the id is printed. At the end comes what a request cost, with the profiler's own weight on it.
"""

import argparse
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import frames
from instrument.own_network import leave_bbr
from load import LoadGenerator
from servers import start_broker
from small_requests import IN_FLIGHT, PARTITIONS, TOPIC, Kinds

_BEFORE_SECONDS = 0.5
"""How long the load runs before the command starts."""


def hold(wanted: str, seconds: float, command: Sequence[str], folder: Path) -> None:
    """Send requests of the wanted kind for so long; run the command meanwhile."""
    broker = start_broker(folder / "data")
    try:
        with LoadGenerator() as load, broker.connect() as sock:
            kinds = Kinds(broker, frames.create_topic(sock, TOPIC, partitions=PARTITIONS)).all()
            kind = next((kind for kind in kinds if wanted in kind.name), None)
            if kind is None:
                raise SystemExit(f"no such kind; there are: {'; '.join(kind.name for kind in kinds)}")
            print(f"{kind.name}: process {broker.process.pid}", flush=True)
            words = [word.replace("{pid}", str(broker.process.pid)) for word in command]
            beside = threading.Thread(target=_run, args=(words,))
            beside.start()
            turn = load.turn(
                broker,
                kind.requests,
                in_flight=IN_FLIGHT,
                answer_bytes=kind.answer_bytes,
                seconds=seconds,
            )
            beside.join()
    finally:
        broker.stop()
    print(f"{turn.requests_a_second:.0f} requests a second, {turn.processor_us_a_request:.1f} us each")


def _run(words: Sequence[str]) -> None:
    time.sleep(_BEFORE_SECONDS)
    if words:
        subprocess.run(words, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    leave_bbr()
    with tempfile.TemporaryDirectory(prefix="wirekafka-bench-") as folder:
        hold(options.kind, options.seconds, options.command, Path(folder))


if __name__ == "__main__":
    main()
