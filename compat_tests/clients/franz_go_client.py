"""franz-go, the client of Go programs, in a driver.

Called by stories through `clients.adapter`; builds `compat_tests/franz_go` with Go.
Source: DRIVERS.md; franz-go 1.22 with pkg/kadm.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from compat_tests.clients.adapter import Capability
from compat_tests.clients.building import built, run_build
from compat_tests.clients.driver import DriverClient

SOURCES = Path(__file__).resolve().parent.parent / "franz_go"


def _build(folder: Path) -> None:
    # The sources lie inside somebody's checkout, whose state is of no interest here.
    command = ["go", "build", "-buildvcs=false", "-mod=readonly", "-o", str(folder / "driver"), "."]
    run_build(command, folder=SOURCES, environment={**os.environ, "GOWORK": "off"})


class FranzGo(DriverClient):
    """franz-go, pointed at one broker."""

    name: ClassVar[str] = "franz-go"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.POSITION: "tells no position: a program keeps the offsets of the records it was given",
        Capability.ABSENCE: "1.22 joins again after a heartbeat that reached nobody",
        Capability.STATIC_RELEASE: "1.22 leaves out the instance id when a static member goes",
        Capability.REBALANCES_IN_POLL: "joins by itself, whether it is polled or not",
        Capability.SERVER_SIDE_PATTERN: "reads a pattern itself before it tells the broker",
        Capability.GROUP_CONFIGS: "kadm alters configs of topics and brokers only",
    }
    programs = ("go",)

    @classmethod
    def build(cls) -> list[str]:
        """Give the command that runs the driver, building it unless it is built. Raises DriverMissing."""
        folder = built("franz-go", sorted([*SOURCES.glob("*.go"), *SOURCES.glob("go.*")]), _build)
        return [str(folder / "driver")]
