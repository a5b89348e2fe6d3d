"""A suite as its TOML file tells it: the pinned version, how to run it, and its lists.

Read by `__main__` and the runners; the files lie beside this one, a file a suite.
Source: README.md beside this file.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compat_tests.apache_kafka.jars import FETCHED

HERE = Path(__file__).resolve().parent
CHECKOUTS = FETCHED / "suites"
WIREKAFKA, APACHE_KAFKA = "wirekafka", "apache-kafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One client's suite."""

    name: str
    version: str
    kind: str  # "pytest" or "librdkafka"
    get: str  # how to get the checkout, in one line
    tests: tuple[str, ...]  # what is run: paths, or numbers of librdkafka's tests
    copied: tuple[str, ...]  # what of the checkout a run works on; the client itself is the installed one
    seconds: int  # for the whole run
    test_seconds: int
    arguments: tuple[str, ...] = ()
    fixture: str | None = None  # only tests that ask for this fixture are run
    fixtures: tuple[str, ...] = ()  # of the suite, replaced from outside
    absent_modules: tuple[str, ...] = ()  # imported by the suite, used by no test that is run
    broker: dict[str, str]
    environment: dict[str, str]  # {bootstrap}, {version} and {folder} are filled in
    files: dict[str, str]  # what the source distribution leaves out
    excluded: dict[str, dict[str, str]]  # by broker
    failing: dict[str, dict[str, str]]  # by broker

    @property
    def checkout(self) -> Path:
        return CHECKOUTS / self.name


def load_suite(path: Path) -> Suite:
    """Read one suite's file."""
    read: dict[str, Any] = tomllib.loads(path.read_text())
    suite: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in read["suite"].items()
    }
    return Suite(
        **suite,
        broker=read.get("broker", {}),
        environment=read.get("environment", {}),
        files=read.get("files", {}),
        excluded={
            WIREKAFKA: read.get("excluded", {}) | read.get("excluded_on_wirekafka", {}),
            APACHE_KAFKA: read.get("excluded", {}),
        },
        failing={
            WIREKAFKA: read.get("failing", {}),
            APACHE_KAFKA: read.get("failing_on_apache_kafka", {}),
        },
    )


def suites() -> list[Suite]:
    """Give every suite there is, by name."""
    return sorted((load_suite(path) for path in HERE.glob("*.toml")), key=lambda suite: suite.name)
