"""Tests python_suite.py and plugin.py on a small suite of their own, which asks no broker for anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.suites.definition import WIREKAFKA, Suite
from compat_tests.suites.outcomes import EXCLUDED, FAILED, PASSED, SKIPPED
from compat_tests.suites.python_suite import run_python_suite

CONFTEST = """
import docker
import pytest

@pytest.fixture(scope="session")
def kafka_server():
    yield docker.from_env().containers.run("kafka")
"""
TESTS = """
import os
import time
import pytest

def test_address(kafka_server):
    assert (kafka_server.host, kafka_server.port) == ("127.0.0.1", 9)
    assert os.environ["BROKERS"] == "127.0.0.1:9"

def test_fault(kafka_server):
    assert kafka_server.port == 10, "a fault"

def test_slow(kafka_server):
    time.sleep(30)

def test_skipped(kafka_server):
    pytest.skip("not here")

def test_tls(kafka_server):
    raise AssertionError("is excluded")

def test_without_broker():
    raise AssertionError("asks for no broker")
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Run the small suite once; give outcome and reason by the test's name."""
    checkout, folder = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("run")
    (checkout / "tests").mkdir()
    (checkout / "tests" / "conftest.py").write_text(CONFTEST)
    (checkout / "tests" / "test_small.py").write_text(TESTS)
    return _by_name(checkout, folder)


def _by_name(checkout: Path, folder: Path) -> dict[str, tuple[str, str]]:
    suite = Suite(
        name="small",
        version="1.0",
        kind="pytest",
        get="",
        tests=("tests",),
        copied=("tests",),
        seconds=30,
        test_seconds=1,
        fixture="kafka_server",
        fixtures=("kafka_server",),
        absent_modules=("docker",),
        broker={},
        environment={"BROKERS": "{bootstrap}"},
        files={},
        excluded={WIREKAFKA: {"tests/test_small.py::test_tls": "needs TLS"}},
        failing={WIREKAFKA: {}},
    )
    found = run_python_suite(suite, WIREKAFKA, checkout, "127.0.0.1:9", folder)
    return {one.test.removeprefix("tests/test_small.py::"): (one.outcome, one.why) for one in found}


def test_suite_meets_the_broker_by_fixture_and_environment(outcomes: dict[str, tuple[str, str]]) -> None:
    """A fixture that would start a container gives the broker's address instead."""
    assert outcomes["test_address"] == (PASSED, "")


def test_failure_keeps_its_reason(outcomes: dict[str, tuple[str, str]]) -> None:
    """A failing test is told with the first line of its failure."""
    assert outcomes["test_fault"] == (FAILED, "AssertionError: a fault")


def test_slow_test_fails_at_its_deadline(outcomes: dict[str, tuple[str, str]]) -> None:
    """A test that is not over within its seconds has failed, and the rest of the suite still runs."""
    assert outcomes["test_slow"] == (FAILED, "Failed: not over within 1 s")


def test_skip_and_exclusion_keep_their_reasons(outcomes: dict[str, tuple[str, str]]) -> None:
    """What the suite skips and what the list excludes are told apart, each with its reason."""
    assert outcomes["test_skipped"] == (SKIPPED, "Skipped: not here")
    assert outcomes["test_tls"] == (EXCLUDED, "needs TLS")


def test_tests_without_a_broker_are_left_out(outcomes: dict[str, tuple[str, str]]) -> None:
    """A test that does not ask for the broker's fixture says nothing about a broker, and is not run."""
    assert "test_without_broker" not in outcomes
