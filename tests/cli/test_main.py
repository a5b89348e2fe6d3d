"""Tests of cli/main.py."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import wirekafka
from wirekafka.cli.main import main


def test_help_names_every_command_and_how_to_begin() -> None:
    """The first thing a newcomer sees says what to type."""
    result = CliRunner().invoke(main, ["--help"])

    assert result.exit_code == 0
    assert "serve     Run the broker." in result.output
    assert "protocol  Look at the Kafka wire protocol." in result.output
    assert "wirekafka serve   " in result.output
    assert CliRunner().invoke(main, ["-h"]).output == result.output


@pytest.mark.parametrize("command", [("serve",), ("protocol", "decode")], ids=" ".join)
def test_the_help_of_a_command_teaches_by_examples(command: tuple[str, ...]) -> None:
    """`--help` is the manual: command lines to copy, at least two."""
    result = CliRunner().invoke(main, [*command, "--help"])
    examples = result.output.partition("Examples:")[2].partition("Options:")[0]

    assert result.exit_code == 0
    assert examples.count(f"wirekafka {' '.join(command)}") >= 2


def test_the_version_is_the_package_s() -> None:
    """One place has it."""
    result = CliRunner().invoke(main, ["--version"])

    assert result.output == f"wirekafka {wirekafka.__version__}\n"


def test_an_unknown_command_is_a_usage_error() -> None:
    """Exit status 2, as of every command line that is not understood."""
    result = CliRunner().invoke(main, ["server"])

    assert result.exit_code == 2
    assert "No such command 'server'" in result.output


def test_help_does_not_import_the_broker() -> None:
    """Commands are imported when they are run: what is not used costs no start-up time."""
    code = (
        "import sys, wirekafka.cli.main; print('trio' in sys.modules, 'wirekafka.cli.serve' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout == "False False\n"


def test_python_dash_m_is_the_command() -> None:
    """Where the script is not on the path, the interpreter is."""
    result = subprocess.run(
        [sys.executable, "-m", "wirekafka", "--version"], capture_output=True, text=True, check=True
    )

    assert result.stdout == f"wirekafka {wirekafka.__version__}\n"
