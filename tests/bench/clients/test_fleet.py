"""Tests of bench/clients/fleet.py: how a work is divided, and what comes of several clients together."""

import dataclasses
import json

import pytest
from clients import fleet
from clients.fleet import Fleet
from clients.work import Outcome, Work

WORK = Work("produce", "127.0.0.1:1", "t", records=80, record_bytes=100)
OUTCOME = Outcome(records=10, seconds=1.0, cpu_seconds=0.5, busiest_seconds=0.25)


class Program:
    """One that is through with its work at once."""

    def __init__(self, module: str) -> None:
        self.works: list[Work] = []

    def prepare(self, work: Work) -> None:
        self.works.append(work)

    def wait_until_ready(self) -> None:
        """It is."""

    def go(self) -> None:
        """It goes."""

    def outcome(self) -> str:
        return json.dumps(dataclasses.asdict(OUTCOME))


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """All that are started."""
    started: list[Program] = []

    def start(module: str) -> Program:
        started.append(Program(module))
        return started[-1]

    monkeypatch.setattr(fleet, "Program", start)
    return started


def test_records_to_be_written_are_divided_among_the_programs(programs: list[Program]) -> None:
    Fleet("aiokafka", 8).run(WORK, 4, lambda: 0.0)

    assert [[work.records for work in program.works] for program in programs] == [[20]] * 4 + [[]] * 4


def test_java_clients_are_together_in_one_process(programs: list[Program]) -> None:
    """Eight Java machines would never be warm."""
    Fleet("perf-test", 8).run(WORK, 8, lambda: 0.0)

    (program,) = programs
    assert [(work.records, work.together) for work in program.works] == [(10, 8)]


def test_outcome_of_several_is_their_sum_in_the_time_of_the_slowest() -> None:
    clock = iter([7.0, 9.5])
    outcome, used = Fleet("aiokafka", 2).run(WORK, 2, lambda: next(clock))

    assert outcome == Outcome(records=20, seconds=1.0, cpu_seconds=1.0, busiest_seconds=0.25)
    assert used == 2.5
