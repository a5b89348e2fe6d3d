"""Builds and runs librdkafka's C tests: those that need a broker, chosen by number in librdkafka.toml.

The tests run side by side in one process, with the time limits their authors gave them. Called by `__main__`.
Source: librdkafka's tests/README.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from compat_tests.suites.definition import Suite
from compat_tests.suites.lists import reason_for
from compat_tests.suites.outcomes import EXCLUDED, FAILED, NEVER_RAN, PASSED, SKIPPED, Outcome

BUILD = (("./configure", "--disable-gssapi", "--disable-curl"), ("make", "-j2", "libs"))
BUILD_SECONDS = 900
STOP_SECONDS = 20
OUTCOMES = {"PASSED": PASSED, "SKIPPED": SKIPPED, "FAILED": FAILED}
FAILURE = re.compile(r'### Test "(\w+)[^"]*" failed at [^#]*?###\s*(?:\x1b\S+)?(.*)')


def run_librdkafka(suite: Suite, broker: str, checkout: Path, bootstrap: str, folder: Path) -> list[Outcome]:
    """Run the chosen tests with this broker, building them first if need be; give what became of each."""
    tests = checkout / "tests"
    if not (tests / "test-runner").exists():
        _build(checkout)
    (folder / "test.conf").write_text(f"metadata.broker.list={bootstrap}\n")
    report, log = folder / "report.json", folder / "output.log"
    own = {name: text.format(folder=folder, bootstrap=bootstrap) for name, text in suite.environment.items()}
    chosen = [number for number in suite.tests if number not in _numbers(suite.excluded[broker])]
    own |= {"TESTS": ",".join(chosen), "TEST_REPORT": str(report)}
    own |= {"RDKAFKA_TEST_CONF": str(folder / "test.conf"), "LD_LIBRARY_PATH": "../src:../src-cpp"}
    with log.open("w") as output:
        process = subprocess.Popen(
            ["./test-runner", *suite.arguments],
            cwd=tests,
            env={**os.environ, **own},
            stdout=output,
            stderr=output,
        )
        try:
            process.wait(suite.seconds)
        except subprocess.TimeoutExpired:
            _end(process)
    shutil.rmtree(tests / "tmp", ignore_errors=True)
    return _outcomes(suite, broker, report, log.read_text(errors="replace"))


def _build(checkout: Path) -> None:
    click.echo("building librdkafka and its tests, a few minutes ...")
    for command in BUILD:
        _make(command, checkout)
    _make(("make", "-j2", "build"), checkout / "tests")


def _make(command: tuple[str, ...], folder: Path) -> None:
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS)
    if made.returncode:
        raise click.ClickException(f"librdkafka: {' '.join(command)} failed: {made.stderr[-500:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    # Interrupted, the runner still writes its report, of tests under way and not started.
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _outcomes(suite: Suite, broker: str, report: Path, log: str) -> list[Outcome]:
    reasons = dict(FAILURE.findall(log))
    read: dict[str, Any] = json.loads(report.read_text())["tests"] if report.exists() else {}
    found: list[Outcome] = []
    for name, test in read.items():
        excluded = reason_for(suite.excluded[broker], name)
        if excluded is not None:
            found.append(Outcome(name, EXCLUDED, excluded))
        elif name[:4] in suite.tests and not _needs_no_broker(name):
            outcome = OUTCOMES.get(test["state"], FAILED)
            why = test["extra"] if outcome == SKIPPED else reasons.get(name, NEVER_RAN)
            found.append(Outcome(name, outcome, "" if outcome == PASSED else why.strip()[:300]))
    return found


def _numbers(names: Iterable[str]) -> set[str]:
    return {name[:4] for name in names}


def _needs_no_broker(name: str) -> bool:
    return name.endswith(("_mock", "_local"))
