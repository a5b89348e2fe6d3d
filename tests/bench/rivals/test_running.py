"""Rivals are started as processes, waited for and ended."""

import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import rivals
from instrument.processes import free_port
from rivals.running import NotAvailable, Rival, RunningBroker, execute, wait_until_it_answers

_ANSWERS = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
    while True:
        sock, _ = listener.accept()
        with sock:
            sock.sendall(sock.recv(100))
"""


def rival(*command: str, refusal: str = "") -> Rival:
    """One that is the given Python program; with `refusal` it is not to be had."""

    def fetch() -> None:
        if refusal:
            raise NotAvailable(refusal)

    def launch(folder: Path, settings: Mapping[str, object]) -> RunningBroker:
        port = free_port()
        return execute("echo", port, [sys.executable, "-c", *command, str(port)], folder)

    return Rival("echo", "an echo", version=lambda: "1", fetch=fetch, launch=launch)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, Rival]:
    """The rivals there are, to be added to."""
    found: dict[str, Rival] = {}
    monkeypatch.setattr(rivals, "RIVALS", found)
    return found


def test_broker_runs_for_the_length_of_the_block(known: dict[str, Rival], tmp_path: Path) -> None:
    """It answers at its beginning, and is gone at its end."""
    known["echo"] = rival(_ANSWERS)
    with rivals.start("echo", tmp_path / "new") as broker:
        assert broker.process.poll() is None
        assert broker.cpu_seconds() > 0
        assert broker.resident_mib() > 1

    assert broker.process.returncode == -signal.SIGTERM


def test_broker_ends_when_the_block_fails(known: dict[str, Rival], tmp_path: Path) -> None:
    """Nothing is left running beside the next question."""
    known["echo"] = rival(_ANSWERS)
    with pytest.raises(KeyError), rivals.start("echo", tmp_path) as broker:
        raise KeyError

    assert broker.process.returncode is not None


def test_rival_that_ends_before_it_answers_is_not_available(known: dict[str, Rival], tmp_path: Path) -> None:
    """The question goes on with the others; what it said is in a file."""
    known["echo"] = rival("print('started\\nno port', flush=True); raise SystemExit(7)")
    with (
        pytest.raises(NotAvailable, match="echo ended with status 7: no port"),
        rivals.start("echo", tmp_path),
    ):
        pass

    assert (tmp_path / "echo.out").read_text() == "started\nno port\n"


def test_rival_that_cannot_be_fetched_is_not_available(known: dict[str, Rival], tmp_path: Path) -> None:
    """With the reason, and nothing is executed."""
    known["echo"] = rival(_ANSWERS, refusal="no Java here")
    with pytest.raises(NotAvailable, match="no Java here"), rivals.start("echo", tmp_path):
        pass

    assert list(tmp_path.iterdir()) == []


def test_fetching_goes_on_after_one_that_cannot_be_had(
    known: dict[str, Rival], capsys: pytest.CaptureFixture[str]
) -> None:
    """And says why."""
    fetched: list[str] = []
    known["one"] = rival(refusal="no Java here")
    known["other"] = Rival(
        "other", "", version=str, fetch=lambda: fetched.append("other"), launch=known["one"].launch
    )
    rivals.fetch("one", "other")

    assert fetched == ["other"]
    assert "one: no Java here" in capsys.readouterr().out


def test_waiting_ends_for_one_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than the bench."""
    monkeypatch.setattr("rivals.running.START_SECONDS", 0.0)
    broker = execute("mute", free_port(), [sys.executable, "-c", "import signal; signal.pause()"], tmp_path)
    try:
        with pytest.raises(NotAvailable, match="mute did not answer within 0 s"):
            wait_until_it_answers(broker)
    finally:
        broker.stop()


def test_every_rival_has_its_name_its_version_and_a_line_for_the_reader() -> None:
    """And what it lacks is one of the things that questions look at."""
    for name, one in rivals.RIVALS.items():
        assert one.name == name
        assert one.what
        assert one.version()
        assert set(one.lacks) <= {"topics", "zstd", "groups", "settings", "keeping", "disk"}


def test_wirekafka_is_started_with_its_settings(tmp_path: Path) -> None:
    """The same names as Kafka's."""
    with rivals.start("wirekafka", tmp_path, {"num.partitions": 3}) as broker:
        command = Path(f"/proc/{broker.process_id}/cmdline").read_text().split("\0")

    assert command[command.index("--set") + 1] == "num.partitions=3"
