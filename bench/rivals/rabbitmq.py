"""RabbitMQ as Debian's package rabbitmq-server has it, as a process of the bench's own. Called by `paper`.

Everything it writes lies in the folder. Erlang's port mapper is one of the bench's own too, and ends with it.
Source: RabbitMQ's rabbitmq-server(8) and rabbitmq-env.conf(5), Erlang's epmd(1).
"""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from instrument.processes import free_port

from rivals.running import NotAvailable, Rival, RunningBroker, Settings, execute

INSTALLED = Path("/usr/lib/rabbitmq")
_SERVER = INSTALLED / "bin" / "rabbitmq-server"
"""Not the one on the path, which runs as the user rabbitmq."""


@dataclass
class RunningRabbitMQ(RunningBroker):
    """A node and its port mapper."""

    port_mapper: "subprocess.Popen[bytes]"

    def stop(self, ending: signal.Signals = signal.SIGTERM) -> None:
        RunningBroker.stop(self, ending)
        self.port_mapper.terminate()
        self.port_mapper.wait()


def _fetch() -> None:
    if not _SERVER.exists():
        raise NotAvailable("rabbitmq-server is not installed: apt-get install rabbitmq-server")
    if shutil.which("epmd") is None:
        raise NotAvailable("Erlang's epmd is not installed: apt-get install erlang-base")


def _version() -> str:
    found = sorted(INSTALLED.glob("lib/rabbitmq_server-*"))
    return found[-1].name.partition("-")[2] if found else ""


def _environment(folder: Path, port: int, mapper_port: int) -> dict[str, str]:
    return os.environ | {
        "HOME": str(folder),  # for Erlang's cookie
        "ERL_EPMD_PORT": str(mapper_port),
        "RABBITMQ_NODENAME": "bench@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "advanced"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "rabbitmq-env.conf"),
        "RUNNING_UNDER_SYSTEMD": "true",  # so that the script becomes the node, and no shell waits beside it
    }


def _launch(folder: Path, settings: Settings) -> RunningBroker:
    (folder / "log").mkdir(parents=True, exist_ok=True)
    mapper_port, port = free_port(), free_port()
    mapper = subprocess.Popen(["epmd", "-port", str(mapper_port), "-address", "127.0.0.1"])
    environment = _environment(folder, port, mapper_port)
    node = execute("rabbitmq", port, [str(_SERVER)], folder, environment)
    return RunningRabbitMQ(node.name, node.bootstrap, node.process, node.exec_at, node.said, mapper)


RIVAL = Rival(
    "rabbitmq",
    "RabbitMQ of Debian, with its defaults",
    version=_version,
    fetch=_fetch,
    launch=_launch,
)
