"""A process that runs a program of this folder, told what to do by lines. Called by `fleet` and `pace`."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clients.work import GO, READY

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_BENCH = Path(__file__).resolve().parents[1]


class Program:
    """One process of one program."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"clients.{module}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=_BENCH,
            env={**os.environ, "PYTHONPATH": str(_BENCH.parent)},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def prepare(self, work: "DataclassInstance") -> None:
        """Send the work; it does not begin before `go`."""
        self._say(json.dumps(dataclasses.asdict(work)))

    def wait_until_ready(self) -> None:
        if (heard := self.outcome()) != READY:
            raise RuntimeError(f"{self._module} says {heard!r}")

    def go(self) -> None:
        self._say(GO)

    def outcome(self) -> str:
        """Wait for the next line, which is the end of the work."""
        if line := self._stdout.readline():
            return line.strip()
        raise RuntimeError(f"the program {self._module} ended with status {self._process.wait()}")

    def stop(self) -> None:
        self._stdin.close()
        self._process.wait()
        self._stdout.close()

    def _say(self, line: str) -> None:
        self._stdin.write(line + "\n")
        self._stdin.flush()
