"""ActiveMQ as Debian's package activemq has it, as a process of the bench's own. Called by `paper`.

Everything it writes lies in the folder. The heap is up to 1 GiB, as ActiveMQ's own script gives it; messages
are kept by KahaDB, which is told to leave flushing to the operating system, as Kafka does.
Source: ActiveMQ's bin/activemq and bin/env, its pages on KahaDB and on configuring transports.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from instrument.processes import free_port

from rivals.running import NotAvailable, Rival, RunningBroker, Settings, execute

INSTALLED = Path("/usr/share/activemq")
_JAR = INSTALLED / "bin" / "activemq.jar"
_JARS = Path("/usr/share/java")
_CLIENT_JARS = (
    "activemq-client",
    "geronimo-jms_1.1_spec",
    "geronimo-j2ee-management-1.1-spec",
    "hawtbuf",
    "slf4j-api",
    "slf4j-nop",
)
CLIENT_CLASS_PATH = ":".join(str(_JARS / f"{name}.jar") for name in _CLIENT_JARS)
"""What a client by JMS needs, all of it from the same package and those that it brings."""
_HEAP = ("-Xms64M", "-Xmx1G")
_OPENED = (
    "java.base/java.security",
    "java.base/java.net",
    "java.base/java.lang",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.naming/javax.naming.spi",
    "java.rmi/sun.rmi.transport.tcp",
)
_CONFIGURATION = """\
<beans xmlns="http://www.springframework.org/schema/beans"
       xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
       xsi:schemaLocation="http://www.springframework.org/schema/beans
                           http://www.springframework.org/schema/beans/spring-beans-2.0.xsd
                           http://activemq.apache.org/schema/core
                           http://activemq.apache.org/schema/core/activemq-core.xsd">
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="bench" useJmx="false"
          dataDirectory="{folder}/data">
    <persistenceAdapter>
      <kahaDB directory="{folder}/data/kahadb" journalDiskSyncStrategy="never"/>
    </persistenceAdapter>
    <transportConnectors>
      <transportConnector name="openwire" uri="tcp://127.0.0.1:{port}"/>
      <transportConnector name="stomp" uri="stomp://127.0.0.1:{stomp_port}"/>
    </transportConnectors>
  </broker>
</beans>
"""


@dataclass
class RunningActiveMQ(RunningBroker):
    """A broker that has a second port, for STOMP."""

    stomp: str


def _fetch() -> None:
    if not _JAR.exists():
        raise NotAvailable("activemq is not installed: apt-get install activemq")
    if shutil.which("java") is None:
        raise NotAvailable("Java is not installed: apt-get install default-jdk-headless")


def _version() -> str:
    found = sorted(_JARS.glob("activemq-broker-*.jar"))
    return found[-1].stem.rpartition("-")[2] if found else ""


def _launch(folder: Path, settings: Settings) -> RunningBroker:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    port, stomp_port = free_port(), free_port()
    configuration = folder / "activemq.xml"
    configuration.write_text(_CONFIGURATION.format(folder=folder, port=port, stomp_port=stomp_port))
    command = ["java", *_HEAP, f"-Djava.io.tmpdir={folder}"]
    command += [f"--add-opens={module}=ALL-UNNAMED" for module in _OPENED]
    command += [f"-Dactivemq.home={INSTALLED}", f"-Dactivemq.base={folder}", f"-Dactivemq.conf={folder}"]
    command += [f"-Dactivemq.data={folder}/data", "-jar", str(_JAR), "start", f"xbean:file:{configuration}"]
    started = execute("activemq", port, command, folder)
    stomp = f"127.0.0.1:{stomp_port}"
    return RunningActiveMQ(
        started.name, started.bootstrap, started.process, started.exec_at, started.said, stomp
    )


RIVAL = Rival(
    "activemq",
    "ActiveMQ of Debian, with KahaDB and a heap of 1 GiB",
    version=_version,
    fetch=_fetch,
    launch=_launch,
)
