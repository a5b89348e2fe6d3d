"""Tests of cli/main.py."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import wirekafka
from tests.support.raw_client import RawClient
from tests.support.requests import batch_of, create_topic, produce
from wirekafka.cli.main import main

PACKAGES_OF_SERVE = {
    "attr",
    "attrs",
    "click",
    "construct",
    "idna",
    "outcome",
    "sniffio",
    "sortedcontainers",
    "trio",
}
"""What `serve` may import from outside of Python, besides itself and the extension of crc32c."""
NOT_FOR_A_START = {
    "argparse",
    "asyncio",
    "cramjam",
    "crc32c",
    "csv",
    "email",
    "http",
    "importlib.metadata",
    "multiprocessing",
    "rich",
    "sqlite3",
    "unittest",
    "urllib.request",
    "wirekafka.cli.log",
    "wirekafka.cli.protocol",
    "wirekafka.groups.shard",
    "wirekafka.groups.records",
    "wirekafka.protocol.names",
    "wirekafka.protocol.stored.consumer_groups",
    "wirekafka.protocol.stored.consumer_offsets",
    "wirekafka.protocol.trace",
    "wirekafka.storage.repair",
    "wirekafka.testing",
    "xml",
    "xxhash",
    "zipfile",
}
"""Each costs every start milliseconds; whoever needs one imports it where it is needed."""
SERVE_AND_LIST_MODULES = """
import atexit, sys
atexit.register(lambda: print(*sys.modules, sep="\\n"))
from wirekafka.cli.main import main
main()
"""


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


def modules_of_a_broker(folder: Path) -> set[str]:
    """Start a broker in a process of its own, write a record, stop it; give what it had imported."""
    arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", str(folder)]
    command = [sys.executable, "-c", SERVE_AND_LIST_MODULES, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = next(line for line in process.stdout if "Listening on" in line).split()[-1]
        with RawClient(address) as client:
            create_topic(client, "orders")
            produce(client, "orders", batch_of(b"a"))
        process.terminate()
        out, _ = process.communicate(timeout=10)
    return set(out.partition("checkpoints.\n")[2].split())


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return modules_of_a_broker(tmp_path_factory.mktemp("data"))


def test_a_broker_that_takes_a_record_has_imported_no_package_but_these(modules: set[str]) -> None:
    """A new dependency on the way to the first record is a decision, and stands in this list."""
    outside = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    made_by_python = {name for name in outside if name.startswith(("__", "_"))}

    assert outside - made_by_python - {"wirekafka", "cython_runtime"} <= PACKAGES_OF_SERVE


def test_a_broker_that_takes_a_record_has_imported_nothing_heavy(modules: set[str]) -> None:
    """Start-up time is part of what this broker promises: bench/footprint.py shows what a module costs."""
    assert "wirekafka.handlers.produce" in modules
    assert not modules & NOT_FOR_A_START
