"""A question is asked as the command line says, and its answer kept."""

import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from instrument import own_network, results
from instrument.answers import Answer
from instrument.figures import Figure
from instrument.question import Options, Question, alternating, run

Run = Callable[..., Path]


@pytest.fixture
def asked_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Ask with these words on the command line; gives the folder of results."""
    monkeypatch.setenv(own_network._INSIDE, "1")  # the tests stay in their network

    def ask(question: Question, *words: str) -> Path:
        monkeypatch.setattr(sys, "argv", ["bench/q.py", "--results", str(tmp_path / "results"), *words])
        run(question)
        return tmp_path / "results"

    return ask


class Asked:
    """A question that remembers how it was asked."""

    def __init__(self, *figures: Figure) -> None:
        self.options: list[Options] = []
        self.question = Question("q", "Q?", self._ask, minutes=1, rounds=7)
        self._figures = figures

    def _ask(self, options: Options) -> Answer:
        assert options.folder.is_dir()
        self.options.append(options)
        return Answer(self._figures)


def test_sides_take_turns_and_each_round_begins_with_another() -> None:
    """A machine that grows slower slows both sides alike."""
    assert list(alternating(3, "A", "B")) == [(0, "A"), (0, "B"), (1, "B"), (1, "A"), (2, "A"), (2, "B")]


def test_question_has_its_own_rounds_unless_told_others(asked_with: Run) -> None:
    """--rounds goes before."""
    asked = Asked()
    asked_with(asked.question)
    asked_with(asked.question, "--rounds", "3")

    assert [(options.rounds, options.quick) for options in asked.options] == [(7, False), (3, False)]


def test_quick_run_has_two_rounds(asked_with: Run) -> None:
    """One in each order."""
    asked = Asked()
    asked_with(asked.question, "--quick")

    assert [(options.rounds, options.quick) for options in asked.options] == [(2, True)]


def test_scratch_is_gone_afterwards(asked_with: Run) -> None:
    """A log of 20 GiB is not left lying."""
    asked = Asked()
    asked_with(asked.question)

    assert not asked.options[0].folder.exists()


def test_answer_is_kept_with_the_command_that_gives_it_again(asked_with: Run) -> None:
    """Without the folders of this machine."""
    folder = asked_with(Asked(Figure("f", [1.0], 0.5)).question, "--rounds", "3")
    kept = results.read(folder / "q.json")

    assert (kept.title, kept.command, kept.rounds, kept.quick) == (
        "Q?",
        "python bench/q.py --rounds 3",
        3,
        False,
    )
    assert kept.answer.figures == [Figure("f", [1.0], 0.5)]
    assert kept.machine["Python"]


def test_missed_target_is_the_exit_status_and_the_answer_is_kept(asked_with: Run, tmp_path: Path) -> None:
    """A figure that is bad is a figure."""
    with pytest.raises(SystemExit) as ended:
        asked_with(Asked(Figure("f", [1.0], 2.0)).question)

    assert ended.value.code == 1
    assert results.read(tmp_path / "results" / "q.json").answer.figures[0].missed


def test_what_is_needed_is_fetched_before_it_is_asked(asked_with: Run) -> None:
    """While the machine's own network is there."""
    happened: list[str] = []

    def ask(options: Options) -> Answer:
        happened.append("asked")
        return Answer()

    asked_with(Question("q", "Q?", ask, minutes=1, prepare=lambda: happened.append("fetched")))

    assert happened == ["fetched", "asked"]


def test_terminated_bench_leaves_its_blocks(asked_with: Run) -> None:
    """Else its brokers would go on beside whatever comes next."""
    left: list[bool] = []

    def ask(options: Options) -> Answer:
        with ExitStack() as stack:
            stack.callback(lambda: left.append(True))
            signal.raise_signal(signal.SIGTERM)
        return Answer()

    with pytest.raises(SystemExit):
        asked_with(Question("q", "Q?", ask, minutes=1))

    assert left == [True]
