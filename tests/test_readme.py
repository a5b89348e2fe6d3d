"""The examples of README.md do what they say, as they stand."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from wirekafka.cli.main import main
from wirekafka.testing import running_broker

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
DEFAULT_BOOTSTRAP = "127.0.0.1:9092"


def section(title: str) -> str:
    return re.split(r"^## ", README.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def python_of(title: str) -> str:
    """The one Python example of a section."""
    (example,) = re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)
    return str(example)


def console_lines() -> list[str]:
    """Every command line in README.md and docs/running.md, without its comment."""
    blocks = re.findall(r"```console\n(.*?)```", README + RUNNING, re.DOTALL)
    return [
        line[2:].partition("#")[0].strip()
        for block in blocks
        for line in block.splitlines()
        if line[:2] == "$ "
    ]


def run(code: str) -> str:
    """What an example prints, run by an interpreter of its own."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_ten_lines_print_the_greetings() -> None:
    """As they stand, but for the port, on a broker that is new."""
    example = python_of("Ten lines")
    with running_broker() as broker:
        printed = run(example.replace(DEFAULT_BOOTSTRAP, broker.bootstrap))

    assert DEFAULT_BOOTSTRAP in example
    assert printed == "0 Hello, Ada\n1 Hello, Grace\n2 Hello, Edsger\n"


def test_the_ten_lines_are_ten() -> None:
    """Blank ones not counted."""
    assert len([line for line in python_of("Ten lines").splitlines() if line]) <= 10


def test_the_example_of_a_test_prints_where_its_broker_is() -> None:
    """Alone and as it stands."""
    assert re.fullmatch(r"bootstrap.servers = 127\.0\.0\.1:\d+\n", run(python_of("In a test")))


def test_the_default_address_is_the_one_the_examples_use() -> None:
    """`make run` and the ten lines fit together."""
    result = CliRunner().invoke(main, ["serve", "--help"])

    assert f"[default: {DEFAULT_BOOTSTRAP}" in " ".join(result.output.split())


@pytest.mark.parametrize("line", [line for line in console_lines() if line.startswith("wirekafka ")])
def test_every_command_line_is_one_that_there_is(line: str) -> None:
    """The sub-command and each of its options are in its help."""
    words = shlex.split(line)[1:]
    names = [word for word in words[:2] if not word.startswith("-") and "." not in word]
    result = CliRunner().invoke(main, [*names, "--help"])

    assert result.exit_code == 0, result.output
    assert [word for word in words if word.startswith("--") and f"{word} " not in result.output] == []


@pytest.mark.parametrize("line", [line for line in console_lines() if line.startswith("make ")])
def test_every_make_target_is_one_that_there_is(line: str) -> None:
    """Of the Makefile beside the README."""
    target = shlex.split(line)[1]

    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_command_lines_were_found() -> None:
    """A changed form of the documents must not empty the tests above."""
    assert len([line for line in console_lines() if line.startswith("wirekafka serve")]) >= 4
    assert len([line for line in console_lines() if line.startswith("make ")]) >= 4


def test_files_that_are_linked_are_there() -> None:
    """Links that lead nowhere are worse than none."""
    links = re.findall(r"\]\(([\w/.]+)\)", README)

    assert links != []
    assert [link for link in links if not (ROOT / link).exists()] == []
