"""ActiveMQ is run from its package without the package's service."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from rivals import NotAvailable, activemq


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So that a reader of the bench's notes knows what to install."""
    monkeypatch.setattr(activemq, "_JAR", tmp_path / "activemq.jar")

    with pytest.raises(NotAvailable, match="apt-get install activemq"):
        activemq.RIVAL.fetch()


def test_its_configuration_names_its_folder_and_its_ports(tmp_path: Path) -> None:
    """And leaves flushing to the operating system."""
    text = activemq._CONFIGURATION.format(folder=tmp_path, port=1, stomp_port=2)

    values = {
        (element.tag.rpartition("}")[2], name): value
        for element in ElementTree.fromstring(text).iter()
        for name, value in element.attrib.items()
    }
    assert values["broker", "dataDirectory"] == f"{tmp_path}/data"
    assert values["kahaDB", "directory"] == f"{tmp_path}/data/kahadb"
    assert values["kahaDB", "journalDiskSyncStrategy"] == "never"
    assert values["transportConnector", "uri"] == "stomp://127.0.0.1:2"
