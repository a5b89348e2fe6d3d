"""kafkajs, the client of Node.js programs, in a driver.

Called by stories through `clients.adapter`; installs `compat_tests/kafkajs` and its libraries with npm.
Source: DRIVERS.md; kafkajs 2.2 with codecs as its documentation has programs register them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from compat_tests.clients.adapter import Capability
from compat_tests.clients.building import built, run_build
from compat_tests.clients.driver import DriverClient

SOURCES = Path(__file__).resolve().parent.parent / "kafkajs"
ONE_ASSIGNOR = "has one assignor, roundrobin"


def _build(folder: Path) -> None:
    for source in _sources():
        shutil.copy(source, folder)
    run_build(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder=folder)


def _sources() -> list[Path]:
    return sorted([*SOURCES.glob("*.js"), *SOURCES.glob("package*.json")])


class KafkaJS(DriverClient):
    """kafkajs, pointed at one broker."""

    name: ClassVar[str] = "kafkajs"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.HEADER_ORDER: "keeps headers in an object, where the values of one name stand together",
        Capability.POSITION: "tells no position: a program keeps the offsets of the records it was given",
        Capability.RANGE: ONE_ASSIGNOR,
        Capability.STICKY: ONE_ASSIGNOR,
        Capability.COOPERATIVE_STICKY: ONE_ASSIGNOR,
        Capability.SERVER_SIDE_ASSIGNOR: "has no ConsumerGroupHeartbeat (KIP-848)",
        Capability.SERVER_SIDE_PATTERN: "has no ConsumerGroupHeartbeat (KIP-848)",
        Capability.EARLY_SUBSCRIPTION: "fails to subscribe to a topic that is not there, or only now created",
        Capability.PATTERN: "matches a pattern once, against the topics of the moment",
        Capability.STATIC_FENCING: "has no static membership",
        Capability.STATIC_MEMBERSHIP: "has no static membership",
        Capability.REBALANCES_IN_POLL: "joins by itself, whether records are taken or not",
        Capability.GROUP_FILTERS: "lists all groups",
        Capability.GROUP_CONFIGS: "has no configs of groups",
        Capability.OFFSET_ALTERATION: "joins the group to alter its offsets, and looks itself whether it may",
        Capability.OFFSET_DELETION: "cannot delete a group's offsets",
    }
    programs = ("node", "npm")

    @classmethod
    def build(cls) -> list[str]:
        """Give the command that runs the driver, installing it unless it is. Raises DriverMissing."""
        folder = built("kafkajs", _sources(), _build)
        return ["node", str(folder / "driver.js")]
