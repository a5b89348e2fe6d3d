"""Tests of cli/serve.py: refusals in this process, life and death of real ones."""

import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from tests.support.raw_client import RawClient, request_frame
from tests.support.requests import (
    FETCH_VERSION,
    batch_of,
    create_topic,
    fetch,
    fetch_request,
    produce,
    values_in,
)
from wirekafka.broker import BrokerConfig
from wirekafka.cli.serve import _listener_settings, _serve_until_signal, serve
from wirekafka.metadata import Settings
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.testing import running_broker

STOP_SECONDS = 5
SYNCS_FAIL_ONCE_A_FILE_IS_THERE = """
import errno, pathlib, sys
from wirekafka.cli.main import main
from wirekafka.storage import Files

broken, fdatasync = pathlib.Path(sys.argv.pop(1)), Files.fdatasync


def fdatasync_or_fail(files, fd):
    if broken.exists():
        raise OSError(errno.EIO, "Input/output error")
    fdatasync(files, fd)


Files.fdatasync = fdatasync_or_fail
main()
"""


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """`serve` sends the package's log to standard error for good; other tests want it as it was."""
    logger = logging.getLogger("wirekafka")
    before = (logger.handlers[:], logger.level, logger.propagate)
    yield
    logger.handlers[:], logger.level, logger.propagate = before


def refused(*arguments: str | Path) -> Result:
    """Run `serve` in this process, where it must not get as far as serving."""
    return CliRunner().invoke(serve, [str(argument) for argument in arguments])


@dataclass
class Process:
    """`wirekafka serve` in a process of its own, from its banner on."""

    popen: "subprocess.Popen[str]"
    banner: str

    @property
    def bootstrap(self) -> str:
        return self.addresses[0]

    @property
    def addresses(self) -> list[str]:
        return re.findall(r"Listening on  (\S+)", self.banner)

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Send a signal; give exit status, what came on stdout after the banner, and stderr."""
        self.popen.send_signal(number)
        out, err = self.popen.communicate(timeout=STOP_SECONDS)
        return self.popen.returncode, out, err


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    listen: str = "127.0.0.1:0",
    program: Sequence[str] = ("-m", "wirekafka"),
) -> Iterator[Process]:
    """A broker process; killed at the end if it lives."""
    command = [sys.executable, *program, "serve", "--data-dir", str(folder), "--listen", listen]
    popen = subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert popen.stdout is not None
    assert popen.stderr is not None
    try:
        banner = ""
        while "Stop it with" not in banner:
            line = popen.stdout.readline()
            assert line, popen.stderr.read()
            banner += line
        yield Process(popen, banner)
    finally:
        popen.kill()
        popen.communicate()


def test_help_teaches_by_examples() -> None:
    """Every way to run it, with a command line for each common one."""
    result = CliRunner().invoke(serve, ["--help"])

    assert result.exit_code == 0
    examples = result.output.partition("Examples:")[2].partition("Options:")[0].split("\n")
    assert len([line for line in examples if "wirekafka serve" in line]) >= 4
    for option in ("--listen", "--advertise", "--data-dir", "--config", "--set", "--profile"):
        assert option in result.output
    assert "127.0.0.1:9092" in result.output


@pytest.mark.parametrize("address", ["9092", "localhost", "localhost:", "localhost:http", "PLAINTEXT://:x"])
def test_a_listen_address_without_port_is_refused(tmp_path: Path, address: str) -> None:
    """The message shows the form."""
    result = refused("--listen", address, "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert f"--listen {address}: expected HOST:PORT, such as 127.0.0.1:9092." in result.output


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "::1:9092"])
def test_a_listen_address_that_cannot_be_one_is_refused(tmp_path: Path, address: str) -> None:
    """Ports end at 65535; an IPv6 address stands in brackets."""
    result = refused("--listen", address, "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert f"{address}: expected NAME://HOST:PORT" in result.output


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    """192.0.2.0/24 is nobody's (RFC 5737)."""
    result = refused("--listen", "192.0.2.1:9092", "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert "cannot listen on 192.0.2.1:9092" in result.output


@pytest.mark.parametrize("assignment", ["num.partitions", "=4", ""])
def test_a_setting_without_name_or_value_is_refused(tmp_path: Path, assignment: str) -> None:
    """The message shows the form."""
    result = refused("--set", assignment, "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert f"--set {assignment}: expected NAME=VALUE, such as --set num.partitions=4." in result.output


def test_an_unknown_setting_is_refused_with_the_nearest_known(tmp_path: Path) -> None:
    """Kafka would only warn; a misspelt setting is worth an error at start."""
    result = refused("--set", "num.partition=4", "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert result.output == "Error: Unknown configuration num.partition. Did you mean num.partitions?\n"


def test_a_setting_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    """Name, value and what is allowed."""
    result = refused("--set", "num.partitions=many", "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert "num.partitions" in result.output
    assert "many" in result.output


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    """Exit status 2, as of every command line that is not understood."""
    result = refused("--config", tmp_path / "server.properties")

    assert result.exit_code == 2
    assert "server.properties' does not exist" in result.output


def test_an_unknown_setting_of_a_file_is_refused_too(tmp_path: Path) -> None:
    """A file is held to the same table."""
    (tmp_path / "server.properties").write_text("num.partitons=3\n")

    result = refused("--config", tmp_path / "server.properties", "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert "Did you mean num.partitions?" in result.output


def test_an_unknown_option_and_an_unknown_profile_are_usage_errors() -> None:
    """Exit status 2; click names what there is."""
    assert refused("--port", "9092").exit_code == 2
    result = refused("--profile", "prod")

    assert result.exit_code == 2
    assert "'dev', 'kafka'" in result.output


def test_more_advertised_addresses_than_listeners_are_refused() -> None:
    """Each belongs to one."""
    result = refused("--advertise", "a:1", "--advertise", "b:2")

    assert result.exit_code == 1
    assert "2 --advertise for 1 --listen: give one each." in result.output


def test_an_advertised_address_needs_a_host() -> None:
    """Clients cannot connect to every interface."""
    result = refused("--advertise", ":9092")

    assert result.exit_code == 1
    assert "--advertise :9092: expected HOST:PORT" in result.output


def test_an_advertised_address_for_no_listener_is_refused(tmp_path: Path) -> None:
    """A misspelt name would be told to nobody."""
    result = refused("--listen", "IN://127.0.0.1:0", "--advertise", "OUT://a:1", "--data-dir", tmp_path)

    assert result.exit_code == 1
    assert "advertised.listeners names OUT, which listeners does not." in result.output


@pytest.mark.parametrize(
    ("listen", "advertise", "listeners", "advertised"),
    [
        ([":9092"], ["a:1"], "PLAINTEXT://:9092", "PLAINTEXT://a:1"),
        ([], ["a:1"], None, "PLAINTEXT://a:1"),
        (
            ["h:1", "h:2"],
            ["a:3", "a:4"],
            "PLAINTEXT://h:1,PLAINTEXT2://h:2",
            "PLAINTEXT://a:3,PLAINTEXT2://a:4",
        ),
        (["h:1", "h:2"], ["a:3"], "PLAINTEXT://h:1,PLAINTEXT2://h:2", "PLAINTEXT://a:3"),
        (["I://h:1", "O://h:2"], ["O://a:3"], "I://h:1,O://h:2", "O://a:3"),
        (["I://h:1", "O://h:2"], ["O://a:3", "I://a:4"], "I://h:1,O://h:2", "O://a:3,I://a:4"),
        (["[::1]:1"], ["[2001:db8::1]:2"], "PLAINTEXT://[::1]:1", "PLAINTEXT://[2001:db8::1]:2"),
        ([], [], None, None),
    ],
    ids=["one", "default", "two-by-place", "first-only", "by-name", "by-name-crossed", "ipv6", "none"],
)
def test_advertise_goes_with_the_listen_of_its_place_or_name(
    listen: list[str], advertise: list[str], listeners: str | None, advertised: str | None
) -> None:
    """They become Kafka's listeners and advertised.listeners."""
    settings = _listener_settings(listen, advertise)

    assert (settings.get("listeners"), settings.get("advertised.listeners")) == (listeners, advertised)


def test_a_second_broker_on_the_same_data_is_refused_with_the_first_one_s_pid(tmp_path: Path) -> None:
    """The one who starts it learns whom to stop; the first goes on."""
    with running_broker(data_dir=tmp_path) as broker:
        result = refused("--data-dir", tmp_path, "--listen", "127.0.0.1:0")
        with RawClient(broker.bootstrap) as raw:
            brokers = raw.ask(MetadataRequest(topics=[]), 12).brokers

    assert result.exit_code == 1
    assert result.output.endswith(f"Error: The data folder is in use by process {os.getpid()}.\n")
    assert len(brokers) == 1


def test_a_taken_port_is_explained(tmp_path: Path) -> None:
    """Which address, and two ways out."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = refused("--data-dir", tmp_path, "--listen", f"127.0.0.1:{port}")

    assert result.exit_code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in result.output
    assert "stop it, or take another with --listen 127.0.0.1:PORT" in result.output


def test_a_data_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    """One line, no traceback."""
    (tmp_path / "file").write_text("")
    result = refused("--data-dir", tmp_path / "file" / "data", "--listen", "127.0.0.1:0")

    assert result.exit_code == 1
    assert "Error: Not a directory" in result.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """Exit status 0, a word that it stops, no traceback; an idle client does not hold it up."""
    with serving(tmp_path) as process, RawClient(process.bootstrap) as raw:
        raw.ask(MetadataRequest(topics=[]), 12)
        status, out, err = process.end(number)
        hung_up = raw.hung_up()

    assert (status, hung_up) == (0, True)
    assert "Stopping" in out
    assert "Traceback" not in err


def test_a_client_that_waits_for_a_minute_does_not_hold_up_the_stop(tmp_path: Path) -> None:
    """Connections that take longer than two seconds are cut."""
    with serving(tmp_path) as process, RawClient(process.bootstrap) as raw:
        create_topic(raw, "t")
        raw.send(request_frame(fetch_request("t", max_wait_ms=60_000), FETCH_VERSION))
        status, _, err = process.end(signal.SIGTERM)

    assert status == 0
    assert "Traceback" not in err


def test_a_killed_broker_leaves_nothing_to_clean_up(tmp_path: Path) -> None:
    """kill -9: the next one on the same folder starts, and has what was acknowledged."""
    with serving(tmp_path) as process:
        with RawClient(process.bootstrap) as raw:
            create_topic(raw, "kept")
            codes = [produce(raw, "kept", batch_of(b"%d" % n)) for n in range(10)]
        killed, _, _ = process.end(signal.SIGKILL)
    with serving(tmp_path) as process, RawClient(process.bootstrap) as raw:
        values = values_in(fetch(raw, "kept"))
        stopped, _, err = process.end(signal.SIGTERM)

    assert (killed, stopped) == (-signal.SIGKILL, 0)
    assert codes == [0] * 10
    assert values == [b"%d" % n for n in range(10)]
    assert "Traceback" not in err


@pytest.mark.parametrize(("durability", "code"), [("fsync", 56), ("os", 0)])
def test_a_sync_that_failed_shows_in_the_exit_status(tmp_path: Path, durability: str, code: int) -> None:
    """Whether while it served or as it was stopped: EX_IOERR, and a sentence; the next start is sound."""
    broken, data = tmp_path / "broken", tmp_path / "data"
    program = ["-c", SYNCS_FAIL_ONCE_A_FILE_IS_THERE, str(broken)]
    with serving(data, "--set", f"wirekafka.durability={durability}", program=program) as process:
        with RawClient(process.bootstrap) as raw:
            create_topic(raw, "t")
            assert produce(raw, "t", batch_of(b"0")) == 0
            broken.touch()
            assert produce(raw, "t", batch_of(b"1")) == code
        status, _, err = process.end(signal.SIGTERM)
    with serving(data) as process, RawClient(process.bootstrap) as raw:
        values = values_in(fetch(raw, "t"))
        stopped, _, _ = process.end(signal.SIGTERM)

    assert (status, stopped) == (os.EX_IOERR, 0)
    assert "The data folder had failed, and the next start has to check it: " in err
    assert "Input/output error" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert values == [b"0", b"1"]


def test_the_banner_says_where_it_listens_where_data_is_and_how_to_stop_it(tmp_path: Path) -> None:
    """Port 0 is shown as the port it became; an advertised address is shown too; settings are heeded."""
    (tmp_path / "server.properties").write_text("num.partitions=3\nauto.create.topics.enable=true\n")
    with serving(
        tmp_path / "data",
        "--listen",
        "OUTSIDE://127.0.0.2:0",
        "--advertise",
        "OUTSIDE://outside.example:1234",
        "--config",
        str(tmp_path / "server.properties"),
        "--set",
        "num.partitions=5",
    ) as process:
        first, second = process.addresses
        with RawClient(first) as raw:
            metadata = raw.ask(MetadataRequest(topics=None, allow_auto_topic_creation=True), 12)
            create_topic(raw, "with-default-partitions", partitions=-1)
            topics = raw.ask(MetadataRequest(topics=None), 12).topics
        with RawClient(second) as raw:
            outside = raw.ask(MetadataRequest(topics=[]), 12).brokers[0]

    assert first.startswith("127.0.0.1:")
    assert not first.endswith(":0")
    assert (metadata.brokers[0].host, outside.host, outside.port) == ("127.0.0.1", "outside.example", 1234)
    assert [len(topic.partitions) for topic in topics] == [5]
    assert f"{second}  (clients are told outside.example:1234)" in process.banner
    assert f"Data in       {tmp_path / 'data'}" in process.banner
    assert f"kill {process.popen.pid}" in process.banner


def test_a_signal_before_it_is_ready_ends_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A long check of what a crash has left need not be waited for."""

    async def never_ready(*arguments: object, task_status: object) -> None:
        signal.raise_signal(signal.SIGTERM)
        await trio.sleep_forever()

    monkeypatch.setattr("wirekafka.cli.serve.serve_broker", never_ready)
    config = BrokerConfig.from_settings(Settings.load(None, {"log.dirs": str(tmp_path)}))
    trio.run(_serve_until_signal, config, [])

    assert capsys.readouterr().out == "Stopping before it was ready.\n"
