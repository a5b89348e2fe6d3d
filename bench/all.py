"""Every question of the bench, one after the other: `make bench`.

    python bench/all.py [--only NAME ...] [--quick] [--minutes M] [--results FOLDER] [--folder FOLDER]

Each is a process of its own, `python bench/NAME.py`, whose answer lands in bench/results. After each the page
bench/RESULTS.md is made anew from all the answers that are there, also those of earlier runs. Without --only
the usual questions are asked; the others (see `--list`) stay as they are. When the time is over the rest is
left out, and the page says so. Exit status 1 when a target is missed or a question has no answer.
"""

import argparse
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import rivals
from instrument import page, results
from instrument.question import QUICK_RESULTS, Question

HERE = Path(__file__).resolve().parent
NAMES = (
    "throughput",
    "latency",
    "startup",
    "footprint",
    "pauses",
    "limit",
    "small_requests",
    "growth_partitions",
    "growth_connections",
    "growth_groups",
    "growth_log",
    "growth_records",
    "growth_fan_out",
    "paper",
    "codec",
    "groups",
    "group_commit",
    "log_size",
    "many_partitions",
    "recovery",
)
"""The questions in the order in which they are asked and told: of each the file has this name."""
MINUTES = 40.0
_PATIENCE, _MORE_SECONDS = 2.0, 60.0
"""A question may take so much longer than it says before it is ended."""
_GRACE_SECONDS = 30.0


def question(name: str) -> Question:
    """The question of a file."""
    found: Question = importlib.import_module(name).QUESTION
    return found


def ask(asked: Question, arguments: argparse.Namespace, folder: Path) -> str | None:
    """Run its file; why there is no answer, or None when there is one."""
    begun = time.time()
    words = [sys.executable, str(HERE / f"{asked.name}.py"), "--results", str(folder)]
    words += ["--quick"] if arguments.quick else []
    words += ["--folder", str(arguments.folder)] if arguments.folder else []
    process = subprocess.Popen(words, start_new_session=True)
    try:
        status = process.wait(asked.minutes * 60 * _PATIENCE + _MORE_SECONDS)
    except subprocess.TimeoutExpired:
        _end(process)
        return f"ended after {_PATIENCE:g} times its {asked.minutes:g} minutes"
    except (KeyboardInterrupt, SystemExit):
        _end(process)
        raise
    answer = folder / f"{asked.name}.json"
    if not answer.exists() or answer.stat().st_mtime < begun:
        return f"failed with status {status}"
    return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """By SIGTERM, at which it ends its servers; then with all that it has started.

    Not by SIGINT, which is passed over by all that a shell has started in the background.
    """
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ask_all(
    asked: Sequence[Question], arguments: argparse.Namespace, folder: Path
) -> tuple[dict[str, str], list[results.Result]]:
    """Ask one after the other, and write the page after each. What is without an answer, and all answers."""
    unanswered: dict[str, str] = {}
    begun = time.perf_counter()
    for number, one in enumerate(asked, 1):
        used = (time.perf_counter() - begun) / 60
        if used + one.minutes > arguments.minutes:
            unanswered[one.name] = f"left out: {used:.0f} of {arguments.minutes:g} minutes were used"
        else:
            print(f"\n[{number}/{len(asked)}] {one.name}: {one.title}", flush=True)
            print(f"  (takes {one.minutes:g} min; {used:.0f} of {arguments.minutes:g} used)", flush=True)
            if (reason := ask(one, arguments, folder)) is not None:
                unanswered[one.name] = reason
        write_page(folder, unanswered)
    return unanswered, answers(folder)


def answers(folder: Path) -> list[results.Result]:
    """All that are there, in the order of NAMES; none twice, and none of a question that is no more."""
    paths = [folder / f"{name}.json" for name in NAMES]
    return [results.read(path) for path in paths if path.exists()]


def write_page(folder: Path, unanswered: dict[str, str]) -> Path:
    """Make RESULTS.md, which lies beside its folder of results."""
    path = folder.parent / "RESULTS.md" if folder == results.RESULTS else folder / "RESULTS.md"
    path.write_text(page.render(answers(folder), rivals.versions(), unanswered), encoding="utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=NAMES, metavar="NAME", help="none: make the page alone")
    parser.add_argument("--list", action="store_true", help="say what there is to ask")
    parser.add_argument("--quick", action="store_true", help="only see that everything runs")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="no question begins that would end later"
    )
    parser.add_argument("--results", type=Path, help="where answers go (default: bench/results)")
    parser.add_argument("--folder", type=Path, help="where scratch goes (default: the system's)")
    arguments = parser.parse_args()
    if arguments.list:
        for one in map(question, NAMES):
            print(f"{one.name:<20} {one.minutes:4g} min  {'' if one.usual else '(--only) '}{one.title}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = arguments.results or (QUICK_RESULTS if arguments.quick else results.RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    names = NAMES if arguments.only is None else arguments.only
    asked = [one for one in map(question, names) if arguments.only is not None or one.usual]
    unanswered, found = ask_all(asked, arguments, folder)
    print(f"\n{write_page(folder, unanswered)}")
    for name, reason in unanswered.items():
        print(f"  {name}: {reason}")
    if unanswered or any(figure.missed for result in found for figure in result.answer.figures):
        sys.exit(1)


if __name__ == "__main__":
    main()
