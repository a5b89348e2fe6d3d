"""An answer is the same after it was in a file."""

from pathlib import Path

import pytest
from instrument.answers import Answer, Bars, Lines, Series, Spread, Table
from instrument.figures import Figure
from instrument.results import Result, plot_file, read, write

ANSWER = Answer(
    figures=[Figure("f", [1.5, 2.5], 2.0, at_most=True, unit="s", detail="d")],
    tables=[Table("t", ["a", "b"], [["x", 1], [2.5, Spread([1.0, 2.0], "s")]])],
    plots=[
        Lines("l", "Lines", "x", "y", [Series("s", [1, 2], [3.0, 4.0], [2.0, 3.0], [4.0, 5.0])], log_x=True),
        Bars("b", "Bars", "y", ["g"], {"s": [Spread([1.0, 3.0])]}, log_y=True),
    ],
    notes=["n"],
)


def result(answer: Answer) -> Result:
    return Result("q", "Q?", "python bench/q.py", "2026-01-01 00:00", 1.5, 5, False, {"Python": "3"}, answer)


def test_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Each plot as its kind, each spread as one."""
    path = write(result(ANSWER), tmp_path / "new")

    assert path == tmp_path / "new" / "q.json"
    assert read(path) == result(ANSWER)


def test_numbers_are_kept_to_six_figures(tmp_path: Path) -> None:
    """The rest is noise, and makes every file another one."""
    path = write(result(Answer(figures=[Figure("f", (1 / 3, 12345678.9))])), tmp_path)

    assert read(path).answer.figures[0].samples == [0.333333, 12345700.0]


@pytest.mark.parametrize(
    ("name", "file"), [("memory", "q-memory.svg"), ("q", "q.svg"), ("q_memory", "q_memory.svg")]
)
def test_picture_has_the_question_in_its_name_once(name: str, file: str) -> None:
    """All pictures lie in one folder."""
    assert plot_file("q", Lines(name, "", "", "", [])) == file
