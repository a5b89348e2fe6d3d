"""The clients that are installed on this machine.

Called by `compat_tests/conftest.py`; imports one file per client and leaves out what is not there.
Source: none, a registry.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil

from compat_tests.clients.adapter import Client

# Adapter module, class, and the Python module or program that must be present.
ADAPTERS = (
    ("kafka_python", "KafkaPython", "kafka"),
    ("aiokafka_client", "Aiokafka", "aiokafka"),
    ("confluent", "Confluent", "confluent_kafka"),
    ("kcat", "Kcat", None),
)


def installed_clients() -> list[type[Client]]:
    """Give the adapter classes whose client can be used here, in a fixed order."""
    found: list[type[Client]] = []
    for module_name, class_name, needed in ADAPTERS:
        present = importlib.util.find_spec(needed) if needed else shutil.which("kcat")
        if present is not None:
            module = importlib.import_module(f"compat_tests.clients.{module_name}")
            found.append(getattr(module, class_name))
    return found
