"""Every question of bench/ is known to `all.py`, says what it asks, and runs alone."""

import ast
from pathlib import Path

import pytest
from all import MINUTES, NAMES, question

BENCH = Path(__file__).parents[2] / "bench"
ALL_FILES = sorted(path for path in BENCH.rglob("*.py") if ".fetched" not in path.parts)
LONGEST_FILE_LINES, LONGEST_FUNCTION_LINES = 400, 60
FILES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(BENCH.glob("*.py"))}


def is_question(text: str) -> bool:
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "QUESTION"
        for node in ast.parse(text).body
    )


def test_all_asks_every_question_there_is() -> None:
    """A file with a QUESTION that nobody asks is found by nobody."""
    assert sorted(NAMES) == [name for name, text in FILES.items() if is_question(text)]


@pytest.mark.parametrize("name", NAMES)
def test_question_has_the_name_of_its_file_and_asks_something(name: str) -> None:
    """Its answer is looked for under that name."""
    asked = question(name)

    assert asked.name == name
    assert asked.title.endswith("?")
    assert asked.minutes > 0


@pytest.mark.parametrize("name", NAMES)
def test_question_says_in_its_file_how_it_is_run_alone(name: str) -> None:
    """The docstring is its --help, and its end runs it."""
    text = FILES[name]

    assert f"python bench/{name}.py" in (ast.get_docstring(ast.parse(text)) or "")
    assert text.rstrip().endswith('if __name__ == "__main__":\n    run(QUESTION)')


def test_usual_questions_fit_into_the_time_of_make_bench() -> None:
    """With nothing left out."""
    usual = [asked for asked in map(question, NAMES) if asked.usual]

    assert sum(asked.minutes for asked in usual) < MINUTES


def test_figures_of_throughput_and_latency_are_of_five_rounds_at_least() -> None:
    """A median of fewer is no median."""
    assert all(asked.rounds >= 5 for asked in map(question, NAMES))


@pytest.mark.parametrize("path", ALL_FILES, ids=lambda path: path.relative_to(BENCH).as_posix())
def test_file_of_the_bench_says_what_it_is_and_is_of_a_readable_size(path: Path) -> None:
    """As everywhere in this house."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    long = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION_LINES
    ]

    assert ast.get_docstring(tree)
    assert len(text.splitlines()) <= LONGEST_FILE_LINES
    assert long == []


def test_index_names_every_question() -> None:
    """bench/README.md is where a reader begins."""
    index = (BENCH / "README.md").read_text(encoding="utf-8")

    assert [name for name in NAMES if f"`{name}.py`" not in index] == []
