"""Tests of bench/clients/work.py: what is written, and how a program is told to write it."""

import io
import itertools
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from clients.work import Counted, Work, repeated, values, work_off

WORK = {"verb": "produce", "bootstrap": "127.0.0.1:1", "topic": "t", "records": 7, "record_bytes": 100}


def test_values_have_the_size_asked_for_and_none_is_there_twice() -> None:
    made = values(1024)

    assert {len(value) for value in made} == {1024}
    assert len(set(made)) == len(made)


def test_values_are_capitals_as_kafkas_own_tool_sends_them() -> None:
    assert set(values(100)[0]) <= set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")


@pytest.mark.parametrize("records", [0, 1, 3, 7])
def test_so_many_values_come_as_there_are_records(records: int) -> None:
    sent = list(repeated([b"a", b"b", b"c"], records))

    assert sent == list(itertools.islice(itertools.cycle([b"a", b"b", b"c"]), records))


def told(monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[str]:
    """What a program did that was told these lines: its events, in order."""
    events: list[str] = []

    @contextmanager
    def producing(work: Work) -> Iterator[Counted]:
        events.append(f"connect for {work.records}")
        yield lambda: events.append("write")
        events.append("close")

    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
    work_off({"produce": producing})
    return events


def test_program_connects_before_the_gate_and_closes_after_what_is_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    events = told(monkeypatch, json.dumps(WORK), "go")

    assert events == ["connect for 7", "write", "close"]
    ready, outcome = capsys.readouterr().out.splitlines()
    assert ready == "ready"
    assert json.loads(outcome)["records"] == 7


def test_program_that_is_told_no_go_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit):
        told(monkeypatch, json.dumps(WORK))
