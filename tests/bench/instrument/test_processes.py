"""What /proc says of processes."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from instrument.processes import (
    MemoryOverTime,
    busiest_seconds,
    cpu_seconds,
    free_port,
    loop_seconds,
    open_files,
    resident_mib,
    thread_seconds,
)

_CHILD = "held = bytearray(40 << 20); sum(range(10**6)); print(1, flush=True); input()"
_WITH_A_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {_CHILD!r}], stdin=subprocess.PIPE)
input()
child.stdin.close()
child.wait()
print(2, flush=True)
input()
"""


@pytest.fixture
def parent() -> Iterator["subprocess.Popen[str]"]:
    """A process whose child holds 40 MiB, and has reckoned a while."""
    command = [sys.executable, "-c", _WITH_A_CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_memory_is_that_of_the_children_too(parent: "subprocess.Popen[str]") -> None:
    """A broker of several processes holds what all of them hold."""
    assert 40 < resident_mib(parent.pid) < 200


def test_processor_time_is_that_of_the_children_too(parent: "subprocess.Popen[str]") -> None:
    """More than its own first thread has used."""
    assert cpu_seconds(parent.pid) > loop_seconds(parent.pid) + 0.005


def test_processor_time_of_a_child_that_has_ended_stays_counted(parent: "subprocess.Popen[str]") -> None:
    """Else a broker would seem to grow cheaper. The kernel tells it in hundredths of a second."""
    before = cpu_seconds(parent.pid)
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdin.write("\n")
    parent.stdin.flush()
    assert parent.stdout.readline() == "2\n"

    assert cpu_seconds(parent.pid) > before - 0.02


def test_child_that_ends_while_it_is_looked_at_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java begins and ends threads all the time."""
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True)
    children = {os.getpid(): [int(gone.stdout)]}
    monkeypatch.setattr("instrument.processes._children", lambda process_id: children.get(process_id, []))

    assert resident_mib(os.getpid()) > 5
    assert cpu_seconds(os.getpid()) > 0


def test_process_that_is_gone_cannot_be_asked(parent: "subprocess.Popen[str]") -> None:
    """A question must not go on with zeros."""
    parent.kill()
    parent.wait()

    with pytest.raises(OSError, match="No such"):
        resident_mib(parent.pid)


def test_busiest_thread_is_the_one_that_used_most_meanwhile() -> None:
    """Whatever it had used before; one that has ended is not there to be asked."""
    assert busiest_seconds({1: 5.0, 2: 1.0, 3: 9.0}, {1: 5.5, 2: 3.0, 4: 0.25}) == 2.0


def test_every_thread_of_a_process_has_its_own_time(parent: "subprocess.Popen[str]") -> None:
    assert list(thread_seconds(parent.pid)) == [parent.pid]
    assert thread_seconds(parent.pid)[parent.pid] > 0


def test_memory_over_time_has_a_sample_at_the_start_and_later_ones() -> None:
    """Ever later, of what is resident."""
    with MemoryOverTime(os.getpid(), every_seconds=0.001) as memory:
        while len(memory.samples) < 3:
            pass
    seconds = [second for second, _ in memory.samples]

    assert seconds == sorted(seconds)
    assert all(mib > 5 for _, mib in memory.samples)


def test_memory_over_time_ends_with_its_process(parent: "subprocess.Popen[str]") -> None:
    """A rival that ends in the middle does not take the bench along."""
    parent.kill()
    parent.wait()
    with MemoryOverTime(parent.pid) as memory:
        pass

    assert memory.samples == []


def test_free_port_can_be_listened_on() -> None:
    """Nobody has it yet."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))


def test_open_files_counts_descriptors() -> None:
    """One more when one more is open."""
    before = open_files(os.getpid())
    with socket.socket():
        assert open_files(os.getpid()) == before + 1
