"""wirekafka itself, with its defaults (profile dev). Called by `rivals`.

It is run out of the checkout, but starts as an installed package does, whose modules pip has compiled: the
bytecode lies under `bench/.fetched`, also where PYTHONDONTWRITEBYTECODE is set.
"""

import functools
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from instrument.processes import free_port

from rivals.running import FETCHED, ROOT, Rival, RunningBroker, Settings, execute, wait_until_it_answers

_BYTECODE = FETCHED / "bytecode"


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(_BYTECODE)}


@functools.cache
def _compile() -> None:
    """Every module of ours, and by one start all that it imports of others."""
    command = [sys.executable, "-m", "compileall", "-q", str(ROOT / "wirekafka")]
    subprocess.run(command, env=_environment(), check=True)
    with tempfile.TemporaryDirectory(prefix="wirekafka-bench-") as folder:
        broker = _launch(Path(folder), {})
        try:
            wait_until_it_answers(broker)
        finally:
            broker.stop()


def _launch(folder: Path, settings: Settings) -> RunningBroker:
    port = free_port()
    command = [sys.executable, "-m", "wirekafka", "serve"]
    command += ["--listen", f"127.0.0.1:{port}", "--data-dir", str(folder / "data")]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    return execute("wirekafka", port, command, folder, _environment())


RIVAL = Rival(
    "wirekafka",
    "this broker, as `wirekafka serve` starts it",
    version=lambda: metadata.version("wirekafka"),
    fetch=_compile,
    launch=_launch,
)
