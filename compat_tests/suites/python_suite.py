"""Runs a suite written for pytest, in a process and a folder of its own.

The tests are copied out of the checkout, so that the installed client is the one under test and not the
checkout's. Called by `__main__`; the suite's process loads `plugin`.
Source: README.md beside this file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from compat_tests.suites.definition import Suite
from compat_tests.suites.outcomes import Outcome, worst_of
from compat_tests.suites.plugin import RUN_VARIABLE

REPOSITORY = Path(__file__).resolve().parents[2]
INI = "[pytest]\naddopts =\n"


def run_python_suite(
    suite: Suite, broker: str, checkout: Path, bootstrap: str, folder: Path
) -> list[Outcome]:
    """Run the suite in this new folder against this broker; give what became of each test.

    When the suite's seconds are over its process is killed, and the tests that have not run have failed.
    """
    outcomes = folder / "outcomes.jsonl"
    _lay_out(suite, checkout, folder)
    told = folder / "instructions.json"
    told.write_text(json.dumps(instructions(suite, broker, bootstrap, outcomes)))
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "compat_tests.suites.plugin"]
    command += ["-p", "no:cacheprovider", "-q", "--tb=short", *suite.arguments, *suite.tests]
    with (folder / "output.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(suite, bootstrap, folder, told), stdout=log, stderr=log
        )
        try:
            process.wait(suite.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return worst_of(outcomes)


def instructions(suite: Suite, broker: str, bootstrap: str, outcomes: Path) -> dict[str, Any]:
    """Give what `plugin` is told."""
    return {
        "bootstrap": bootstrap,
        "outcomes": str(outcomes),
        "excluded": suite.excluded[broker],
        "fixture": suite.fixture,
        "fixtures": list(suite.fixtures),
        "absent_modules": list(suite.absent_modules),
        "test_seconds": suite.test_seconds,
    }


def _lay_out(suite: Suite, checkout: Path, folder: Path) -> None:
    for name in suite.copied:
        shutil.copytree(checkout / name, folder / name)
    for name, text in suite.files.items():
        (folder / name).write_text(text)
    (folder / "pytest.ini").write_text(INI)


def _environment(suite: Suite, bootstrap: str, folder: Path, told: Path) -> dict[str, str]:
    fill = {"bootstrap": bootstrap, "folder": str(folder), "version": suite.version}
    own = {name: text.format(**fill) for name, text in suite.environment.items()}
    return {**os.environ, **own, "PYTHONPATH": str(REPOSITORY), RUN_VARIABLE: str(told)}
