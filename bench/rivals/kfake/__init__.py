"""kfake: franz-go's broker for tests, run as a server by the program in this folder. Called by `rivals`.

Its data is in memory, as its users have it.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from instrument.processes import free_port

from rivals.running import FETCHED, NotAvailable, Rival, RunningBroker, Settings, execute

_SOURCES = Path(__file__).resolve().parent
_BINARY = FETCHED / "kfake"
_GO_PLACES = "/usr/local/go/bin"
"""Where Go is installed by its own instructions; not on every path."""


def _is_built() -> bool:
    sources = [*_SOURCES.glob("*.go"), *_SOURCES.glob("go.*")]
    newest = max(path.stat().st_mtime for path in sources)
    return _BINARY.exists() and _BINARY.stat().st_mtime >= newest


def _fetch() -> None:
    if _is_built():
        return
    go = shutil.which("go") or shutil.which("go", path=_GO_PLACES)
    if go is None:
        raise NotAvailable("no kfake here: go not found")
    FETCHED.mkdir(exist_ok=True)
    # The sources lie inside somebody's checkout, whose state is of no interest here.
    done = subprocess.run(
        [go, "build", "-buildvcs=false", "-mod=readonly", "-o", str(_BINARY), "."],
        cwd=_SOURCES,
        env={**os.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise NotAvailable(f"no kfake here: go build failed: {done.stderr.strip().splitlines()[-1]}")


def _launch(folder: Path, settings: Settings) -> RunningBroker:
    port = free_port()
    words = [f"{name}={value}" for name, value in settings.items()]
    return execute("kfake", port, [str(_BINARY), str(port), *words], folder)


def _version() -> str:
    found = re.search(r"pkg/kfake (\S+)", (_SOURCES / "go.mod").read_text())
    return found[1] if found else "unknown"


RIVAL = Rival(
    "kfake",
    "franz-go's kfake, a broker in Go for tests, data in memory",
    version=_version,
    fetch=_fetch,
    launch=_launch,
    is_here=_is_built,
    lacks={"disk": "it keeps everything in memory"},
)
