"""What was run with what: the versions of the clients, the brokers and Python.

Called by `report`; asks package metadata, programs and drivers.
Source: none.
"""

from __future__ import annotations

import importlib.metadata
import platform
import re
import subprocess

import wirekafka
from compat_tests.apache_kafka.jars import LIBRARY
from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import Client
from compat_tests.clients.driver import DriverClient

ASK_SECONDS = 30.0


def broker_version(name: str) -> str:
    """Give the version of `wirekafka` or `apache-kafka` that a run starts."""
    return wirekafka.__version__ if name == "wirekafka" else LIBRARY.name.removeprefix("kafka-")


def python_version() -> str:
    """Give Python's version and the system's."""
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def client_versions() -> dict[str, str]:
    """Give, by client, the version of its library or program."""
    return {client.name: _version_of(client) for client in installed_clients()}


def _version_of(client: type[Client]) -> str:
    if issubclass(client, DriverClient):
        return client.version()
    if client.name == "kcat":
        return _kcat_version()
    version = importlib.metadata.version(client.name)
    if client.name == "confluent-kafka":
        import confluent_kafka

        return f"{version}, librdkafka {confluent_kafka.libversion()[0]}"
    return version


def _kcat_version() -> str:
    told = subprocess.run(["kcat", "-V"], capture_output=True, text=True, timeout=ASK_SECONDS).stdout
    found = re.search(r"Version (\S+) .*librdkafka (\S+)", told)
    return f"{found[1]}, librdkafka {found[2]}" if found else "unknown"
