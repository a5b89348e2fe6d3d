"""A question of the bench: asked from the command line, answered on the terminal and into bench/results/.

Every file directly under bench/ that has a question ends in

    QUESTION = Question("name", "What it asks?", ask, minutes=2)

    if __name__ == "__main__":
        run(QUESTION)

and is run alone or by `all.py`.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from instrument import machine, plots, results, text
from instrument.answers import Answer
from instrument.own_network import leave_bbr

QUICK_RESULTS = results.RESULTS.with_name(".quick")
"""Where a quick run puts its answer, which says little: git ignores it."""
_QUICK_ROUNDS = 2
_TERMINATED = 128 + signal.SIGTERM

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """How it is asked this time."""

    rounds: int
    quick: bool
    """Only to see that everything runs: small sizes, short turns."""
    folder: Path
    """Scratch on disk, removed afterwards."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a file asks."""

    name: str
    """That of its file."""
    title: str
    ask: Callable[[Options], Answer]
    minutes: float
    """How long it takes, about."""
    rounds: int = 5
    usual: bool = True
    """Whether `make bench` asks it; else `all.py --only NAME` does."""
    prepare: Callable[[], object] | None = None
    """What must be fetched first, while the machine's own network is there."""


def run(question: Question) -> None:
    """Ask as the command line says; tell and keep the answer. Exit status 1 if a target is missed."""
    arguments = _arguments(question)
    if question.prepare is not None:
        question.prepare()
    leave_bbr()
    rounds = arguments.rounds or (_QUICK_ROUNDS if arguments.quick else question.rounds)
    folder = arguments.results or (QUICK_RESULTS if arguments.quick else results.RESULTS)
    begun, started = time.strftime("%Y-%m-%d %H:%M", time.gmtime()), time.perf_counter()
    with (
        _ending_in_order(),
        tempfile.TemporaryDirectory(prefix="wirekafka-bench-", dir=arguments.folder) as scratch,
    ):
        answer = question.ask(Options(rounds, arguments.quick, Path(scratch)))
    result = results.Result(
        name=question.name,
        title=question.title,
        command=_command(question, arguments),
        begun=begun,
        seconds=round(time.perf_counter() - started, 1),
        rounds=rounds,
        quick=arguments.quick,
        machine=machine.describe(),
        answer=answer,
    )
    print(f"\n{text.terminal(answer)}\n")
    print(f"({result.seconds:.0f} s; kept in {results.write(result, folder)})", flush=True)
    plots.draw(question.name, answer.plots, folder)
    if any(figure.missed for figure in answer.figures):
        sys.exit(1)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM, too, end the blocks that a question is in, and with them its servers."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _arguments(question: Question) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help=f"turns of each side (default: {question.rounds})")
    parser.add_argument("--quick", action="store_true", help="only see that everything runs")
    parser.add_argument("--results", type=Path, help="the folder for the answer (default: bench/results)")
    parser.add_argument("--folder", type=Path, help="where scratch goes (default: the system's)")
    return parser.parse_args()


def _command(question: Question, arguments: argparse.Namespace) -> str:
    """What gives the same again; where its files went is nobody's business."""
    words = ["python", f"bench/{question.name}.py"]
    words += ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    return " ".join([*words, "--quick"] if arguments.quick else words)


def progress(line: str) -> None:
    """Say what goes on."""
    print(f"  {line}", flush=True)


def alternating(rounds: int, *sides: T) -> Iterator[tuple[int, T]]:
    """Give every side its turn in every round, each round in the other direction: A B, B A, A B."""
    for number in range(rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            yield number, side
