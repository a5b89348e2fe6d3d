"""Questions are asked as processes, one after the other, and the page written after each."""

import argparse
import dataclasses
import os
import signal
import sys
from pathlib import Path

import all as asking
import pytest
from instrument.answers import Answer
from instrument.figures import Figure
from instrument.question import Question
from instrument.results import Result, write

_ANSWERS = """
import json, sys
from pathlib import Path
folder = Path(sys.argv[sys.argv.index("--results") + 1])
(folder / "{name}.json").write_text(Path("{kept}").read_text())
"""

_EXITS_AT_SIGTERM = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
"""


def unasked(_: object) -> Answer:
    raise AssertionError("a question is asked in a process of its own")


@dataclasses.dataclass
class Bench:
    """A bench with files of its own in place of the true ones."""

    folder: Path

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def ask(self, *asked: Question, minutes: float = 40.0) -> dict[str, str]:
        arguments = argparse.Namespace(quick=False, folder=None, minutes=minutes)
        unanswered, _ = asking.ask_all(asked, arguments, self.results)
        return unanswered

    def question(self, name: str, text: str, minutes: float = 1.0) -> Question:
        (self.folder / f"{name}.py").write_text(text)
        return Question(name, "Q?", unasked, minutes=minutes)

    def answering(self, name: str, minutes: float = 1.0) -> Question:
        """One whose file gives an answer."""
        kept = write(result(name), self.folder / "kept")
        return self.question(name, _ANSWERS.format(name=name, kept=kept), minutes)

    def page(self) -> str:
        return (self.results / "RESULTS.md").read_text()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    monkeypatch.setattr(asking, "HERE", tmp_path)
    (tmp_path / "results").mkdir()
    return Bench(tmp_path)


def result(name: str) -> Result:
    answer = Answer([Figure("ratio", [1.5], 1.2)])
    return Result(name, "Q?", f"python bench/{name}.py", "2026-01-01 00:00", 1.0, 5, False, {}, answer)


def test_every_answer_is_on_the_page(bench: Bench) -> None:
    """In the order of the questions, whenever they were asked."""
    unanswered = bench.ask(bench.answering("codec"), bench.answering("latency"))

    assert unanswered == {}
    assert bench.page().index("## latency") < bench.page().index("## codec")


def test_question_that_fails_is_told_and_the_next_one_asked(bench: Bench) -> None:
    """With its status, and without its answer of another day being taken for one of today."""
    unanswered = bench.ask(bench.question("limit", "raise SystemExit(3)"), bench.answering("codec"))

    assert unanswered == {"limit": "failed with status 3"}
    assert "failed with status 3" in bench.page()
    assert "## codec" in bench.page()


def test_answer_of_an_earlier_run_is_no_answer_of_this_one(bench: Bench) -> None:
    """It stays on the page, under the line that says that this run has none."""
    old = write(result("limit"), bench.results)
    past = old.stat().st_mtime - 1000
    os.utime(old, (past, past))

    assert bench.ask(bench.question("limit", "raise SystemExit(3)")) == {"limit": "failed with status 3"}
    assert "## limit" in bench.page()


def test_missed_target_is_an_answer(bench: Bench) -> None:
    """Its process ends with status 1, as that of a failure does."""
    kept = write(result("codec"), bench.folder / "kept")
    text = _ANSWERS.format(name="codec", kept=kept) + "sys.exit(1)\n"

    assert bench.ask(bench.question("codec", text)) == {}


def test_question_that_would_end_too_late_is_left_out(bench: Bench) -> None:
    """And one behind it that fits is asked."""
    unanswered = bench.ask(bench.answering("paper", minutes=50), bench.answering("codec"))

    assert unanswered == {"paper": "left out: 0 of 40 minutes were used"}
    assert "## codec" in bench.page()


def test_question_without_end_is_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it can end its servers."""
    monkeypatch.setattr(asking, "_MORE_SECONDS", 3.0)
    ended = bench.folder / "ended"
    text = f"""{_EXITS_AT_SIGTERM}
try:
    time.sleep(600)
finally:
    open({str(ended)!r}, "w")
"""

    unanswered = bench.ask(bench.question("limit", text, minutes=1e-6))

    assert unanswered["limit"].startswith("ended after 2 times")
    assert ended.exists()


def test_bench_that_is_terminated_ends_its_question(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would else go on, with its brokers, and nobody to know of it."""
    ended = bench.folder / "ended"
    text = f"""{_EXITS_AT_SIGTERM}
try:
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(600)
finally:
    open({str(ended)!r}, "w")
"""
    bench.question("codec", text)
    monkeypatch.setattr(sys, "argv", ["all.py", "--only", "codec", "--results", str(bench.results)])
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit):
            asking.main()
    finally:
        signal.signal(signal.SIGTERM, before)

    assert ended.exists()


def test_words_of_the_command_line_go_to_every_question(bench: Bench) -> None:
    """Where results and scratch go, and that it is a quick run."""
    words = bench.folder / "words"
    text = f"import sys; open({str(words)!r}, 'w').write(' '.join(sys.argv[1:]))"
    arguments = argparse.Namespace(quick=True, folder=Path("scratch"), minutes=40)

    asking.ask(bench.question("limit", text), arguments, bench.results)

    assert words.read_text() == f"--results {bench.results} --quick --folder scratch"


def test_only_makes_the_page_alone_when_it_names_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of what is there."""
    write(result("codec"), bench.results)
    monkeypatch.setattr(sys, "argv", ["all.py", "--only", "--results", str(bench.results)])

    asking.main()

    assert "1 of 1 are met." in bench.page()
