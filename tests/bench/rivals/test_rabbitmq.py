"""RabbitMQ is run from its package without the package's service."""

from pathlib import Path

import pytest
from rivals import NotAvailable, rabbitmq


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """So that a reader of the bench's notes knows what to install."""
    monkeypatch.setattr(rabbitmq, "_SERVER", tmp_path / "rabbitmq-server")

    with pytest.raises(NotAvailable, match="apt-get install rabbitmq-server"):
        rabbitmq.RIVAL.fetch()


def test_everything_it_writes_lies_in_its_folder(tmp_path: Path) -> None:
    """Nothing of an installed service is read or written."""
    environment = rabbitmq._environment(tmp_path, 5673, 4370)

    files = {
        name: Path(environment[name])
        for name in environment
        if name.startswith("RABBITMQ_") and name.endswith(("_BASE", "_FILE"))
    }
    assert len(files) == 6
    assert all(path.is_relative_to(tmp_path) for path in files.values())
    assert environment["HOME"] == str(tmp_path)
