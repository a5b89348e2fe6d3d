"""Apache Kafka's own Java clients behind the common face, in the driver of `compat_tests/java`.

Called by stories through `clients.adapter`; calls `driver`, and Maven to build the driver.
Source: kafka-clients 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from compat_tests.clients.adapter import Capability
from compat_tests.clients.building import built, run_build
from compat_tests.clients.driver import DriverClient

PROJECT = Path(__file__).resolve().parent.parent / "java"
# The driver lives for one run: it shall start fast, and a peak of speed would come too late.
JVM_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
LOG_LEVEL = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"


def _build(folder: Path) -> None:
    maven = ["mvn", "-q", "-B", f"-Dbuild.folder={folder}"]
    goals = ["compile", "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'library'}"]
    run_build([*maven, *goals], folder=PROJECT)


class Java(DriverClient):
    """The Java clients, pointed at one broker."""

    name: ClassVar[str] = "java"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.ABSENCE: "forgets the partitions of topics when no broker is left, and so joins again",
    }
    programs = ("java", "mvn")

    @classmethod
    def build(cls) -> list[str]:
        sources = [PROJECT / "pom.xml", *sorted(PROJECT.glob("src/**/*.java"))]
        folder = built("java-driver", sources, _build)
        class_path = f"{folder / 'classes'}:{folder / 'library'}/*"
        return ["java", *JVM_OPTIONS, LOG_LEVEL, "-cp", class_path, "wirekafka.driver.Driver"]
