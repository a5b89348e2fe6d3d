"""Where the kernel uses BBR, a bench goes on in a network of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from instrument import own_network


class Machine:
    """A machine with this congestion control, whose commands end with this status."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.executed: list[list[str]] = []
        self.status = 0
        self._control = folder / "control"
        monkeypatch.setattr(own_network, "_CONGESTION_CONTROL", self._control)
        monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
        monkeypatch.setattr(subprocess, "run", self._run)
        monkeypatch.setattr(os, "execvp", lambda _, words: self.executed.append(words))
        monkeypatch.setattr(sys, "argv", ["bench/q.py", "--quick"])
        monkeypatch.setenv(own_network._INSIDE, "")
        monkeypatch.delenv(own_network._INSIDE)

    def uses(self, control: str) -> None:
        self._control.write_text(f"{control}\n")

    def _run(self, words: list[str], *, capture_output: bool) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.CompletedProcess(words, self.status)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    return Machine(monkeypatch, tmp_path)


def test_bench_is_started_again_in_its_own_network_where_tcp_uses_bbr(machine: Machine) -> None:
    """With the same words, and knowing that it is inside."""
    machine.uses("bbr")
    own_network.leave_bbr()
    (words,) = machine.executed

    assert words[:3] == ["unshare", "--net", "sh"]
    assert words[-3:] == [sys.executable, "bench/q.py", "--quick"]

    own_network.leave_bbr()

    assert len(machine.executed) == 1


def test_bench_stays_where_tcp_uses_another(machine: Machine) -> None:
    """Most machines."""
    machine.uses("cubic")
    own_network.leave_bbr()

    assert machine.executed == []


def test_bench_that_may_not_leave_says_so_and_goes_on(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without root there is no network to be had."""
    machine.uses("bbr")
    machine.status = 1
    own_network.leave_bbr()

    assert machine.executed == []
    assert "only root can leave it" in capsys.readouterr().out


def test_bench_stays_where_the_kernel_says_nothing(machine: Machine) -> None:
    """No Linux."""
    own_network.leave_bbr()

    assert machine.executed == []
