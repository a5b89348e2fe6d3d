"""A pytest plugin that runs inside a client's own suite: exclusions, a deadline a test, and an outcome file.

Loaded with `-p compat_tests.suites.plugin` by `python_suite`, in the process of the suite; it knows the suite
only by the JSON file that the environment variable names. Calls `lists`.
Source: pytest's hooks; README.md beside this file.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from compat_tests.suites.lists import reason_for

RUN_VARIABLE = "COMPAT_SUITE_RUN"
"""Names the file that tells this plugin what to do: the keys of `python_suite.instructions`."""


class AbsentModule(ModuleType):
    """Stands in for a module that the suite imports and no test run here uses."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if (below := sys.modules.get(f"{self.__name__}.{name}")) is not None:
            return below
        return type(name, (), {})


class SuiteRun:
    """What one run was told, and what it has seen."""

    def __init__(self, instructions: dict[str, Any]) -> None:
        self._excluded: dict[str, str] = instructions["excluded"]
        self._fixture: str | None = instructions["fixture"]
        self._test_seconds: int = instructions["test_seconds"]
        self._outcomes = Path(instructions["outcomes"])
        self._values: dict[str, Any] = _fixture_values(instructions["fixtures"], instructions["bootstrap"])

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what is excluded, and what asks for no broker."""
        asks = [item for item in items if self._asks_for_broker(item)]
        kept: list[pytest.Item] = []
        for item in asks:
            reason = reason_for(self._excluded, item.nodeid)
            if reason is None:
                kept.append(item)
            else:
                self._write(item.nodeid, "excluded", reason)
        for item in kept:
            self._write(item.nodeid, "collected", "")
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept

    def _asks_for_broker(self, item: pytest.Item) -> bool:
        return self._fixture is None or self._fixture in getattr(item, "fixturenames", ())

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: Any) -> Any:
        """Give our value in place of what a fixture of the suite would start in a container."""
        if fixturedef.argname not in self._values:
            return None
        value = self._values[fixturedef.argname]
        fixturedef.cached_result = (value, fixturedef.cache_key(request), None)
        return value

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail a test that is not over within its seconds."""

        def too_late(number: int, frame: FrameType | None) -> None:
            pytest.fail(f"not over within {self._test_seconds} s", pytrace=False)

        signal.signal(signal.SIGALRM, too_late)
        # A test that swallows the first alarm gets a second.
        signal.setitimer(signal.ITIMER_REAL, self._test_seconds, 5)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of set-up, call and tear-down."""
        if report.failed:
            self._write(report.nodeid, "failed", _last_line(report))
        elif report.skipped:
            self._write(report.nodeid, "skipped", _skip_reason(report))
        elif report.when == "call":
            self._write(report.nodeid, "passed", "")

    def _write(self, test: str, outcome: str, why: str) -> None:
        with self._outcomes.open("a") as file:
            file.write(json.dumps({"test": test, "outcome": outcome, "why": why}) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SuiteRun(_instructions()))


def pytest_load_initial_conftests() -> None:
    """Put the absent modules in place before the suite's own conftest imports them."""
    for name in _instructions()["absent_modules"]:
        sys.modules[name] = AbsentModule(name)


def _instructions() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path(os.environ[RUN_VARIABLE]).read_text())
    return read


def _fixture_values(names: list[str], bootstrap: str) -> dict[str, Any]:
    host, port = bootstrap.rsplit(":", 1)
    server = SimpleNamespace(
        host=host,
        port=int(port),
        hosts=[bootstrap],
        container=None,
        ssl_port=0,
        sasl_plain_port=0,
        sasl_ssl_port=0,
    )
    # pytest takes None for "no value of ours", so what no test run here uses is an empty object.
    return {name: server if name == "kafka_server" else SimpleNamespace() for name in names}


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return text.strip().splitlines()[0][:300] if text.strip() else "failed without a word"


def _skip_reason(report: pytest.TestReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
