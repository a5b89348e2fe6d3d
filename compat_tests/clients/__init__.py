"""The clients that are installed on this machine.

Called by `compat_tests/conftest.py` and `versions`; imports the file of each client that is there.
Source: none, a registry.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from functools import cache

from compat_tests.clients.adapter import Client
from compat_tests.clients.driver import DriverClient

# Adapter module, class, and the Python module or program that must be present.
ADAPTERS = (
    ("kafka_python", "KafkaPython", "kafka"),
    ("aiokafka_client", "Aiokafka", "aiokafka"),
    ("confluent", "Confluent", "confluent_kafka"),
    ("kcat", "Kcat", None),
)
# Adapter module and class of what runs in a driver, which says itself what it misses.
DRIVERS = (
    ("java_client", "Java"),
    ("kafkajs_client", "KafkaJS"),
    ("franz_go_client", "FranzGo"),
)


@cache
def looked_for() -> tuple[tuple[type[Client], ...], tuple[str, ...]]:
    """Give the adapter classes that can be used here, in a fixed order, and a line on each that cannot."""
    found: list[type[Client]] = []
    left_out: list[str] = []
    for module_name, class_name, needed in ADAPTERS:
        present = importlib.util.find_spec(needed) if needed else shutil.which("kcat")
        if present is None:
            left_out.append(f"{needed or 'kcat'}: not installed")
            continue
        module = importlib.import_module(f"compat_tests.clients.{module_name}")
        found.append(getattr(module, class_name))
    for module_name, class_name in DRIVERS:
        module = importlib.import_module(f"compat_tests.clients.{module_name}")
        driver: type[DriverClient] = getattr(module, class_name)
        if (reason := driver.missing()) is not None:
            left_out.append(f"{driver.name}: {reason}")
        else:
            found.append(driver)
    return tuple(found), tuple(left_out)


def installed_clients(*, built: bool = True) -> list[type[Client]]:
    """Give the adapter classes whose client can be used here, in a fixed order.

    `built` takes those with a driver too, which is built when it is first used.
    """
    return [client for client in looked_for()[0] if built or not issubclass(client, DriverClient)]
