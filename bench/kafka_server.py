"""An Apache Kafka node beside wirekafka: started by `compat_tests.apache_kafka`, and ended with it."""

import signal
from collections.abc import Mapping
from pathlib import Path

from servers import HERE, Server

_ROOT = HERE.parent


class KafkaServer(Server):
    """Apache Kafka 4.4; RuntimeError where it cannot be had (no Java, no Maven)."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        words = [f"--set={name}={value}" for name, value in settings.items()]
        super().__init__("-m", "compat_tests.apache_kafka", *words, pinned=False, folder=_ROOT)

    @property
    def broker_process_id(self) -> int:
        """The process that is Java, which the one that was started has started."""
        started = self.process.pid
        return int(Path(f"/proc/{started}/task/{started}/children").read_text().split()[0])

    def stop(self) -> None:
        """End it as Ctrl-C does, so that it takes the node with it."""
        self._end(signal.SIGINT)
