"""A data folder of Apache Kafka 4.4 is opened here: the same records, offsets, groups, producers and epochs.

Both after a clean stop and after kill -9. The folder is used as it is, with Kafka's own metadata log.
Source: the issue's own words: "wirekafka opens partition folders written by Apache Kafka 4.4".
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_tests.apache_kafka.jars import NotAvailable
from compat_tests.interchange import folders
from compat_tests.interchange.folders import Folder

pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def kafkas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Folder]]:
    """Give the folders that Kafka has left; all is left out, with the reason, where there is no Kafka."""
    try:
        with folders.kafkas_folders(tmp_path_factory.mktemp("kafka")) as found:
            yield found
    except NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["clean", "killed"])
def folder(request: pytest.FixtureRequest, kafkas: dict[str, Folder], tmp_path: Path) -> Folder:
    """Give a copy of one, to be written to."""
    found = kafkas[request.param]
    path = tmp_path / "data"
    shutil.copytree(found.path, path)
    return Folder(path, found.contents)


def test_everything_is_served_as_kafka_served_it(folder: Folder) -> None:
    """Offsets, timestamps, keys, values and headers, in both isolation levels, and the group's offset."""
    from wirekafka.testing import running_broker

    with running_broker(data_dir=folder.path) as broker:
        found = folders.contents(broker.bootstrap)

    assert found.ranges == folder.contents.ranges
    for place, records in folder.contents.records.items():
        assert (place, found.records[place]) == (place, records)
    assert found.committed == folder.contents.committed == 7


def test_it_goes_on_where_kafka_ended(folder: Folder) -> None:
    """New records follow, by stock clients that check the leader's epoch; a restart finds them too."""
    from confluent_kafka import Producer

    from wirekafka.testing import running_broker

    end = folder.contents.ranges["codecs", 0][1]
    before = folder.contents.records["codecs", 0, "read_uncommitted"]
    with running_broker(data_dir=folder.path) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
        for number in range(10):
            producer.produce("codecs", f"after {number}".encode(), partition=0)
        assert producer.flush(30) == 0
        first, _ = folders.read(broker.bootstrap, "codecs", 0, "read_uncommitted")
    with running_broker(data_dir=folder.path) as broker:
        again, bounds = folders.read(broker.bootstrap, "codecs", 0, "read_uncommitted")

    assert first == again
    assert first[: len(before)] == before
    assert [(offset, value) for offset, _, _, value, _ in first[len(before) :]] == [
        (end + number, f"after {number}".encode()) for number in range(10)
    ]
    assert bounds == (0, end + 10)


def test_nothing_is_found_wrong_with_it(folder: Folder) -> None:
    """`wirekafka log verify` finds all as it should be; Kafka's open indexes after a kill are padded."""
    from click.testing import CliRunner

    from wirekafka.cli.main import main

    outcome = CliRunner().invoke(main, ["log", "verify", "--data-dir", str(folder.path)])

    assert "WRONG" not in outcome.output
    assert "batches" in outcome.output


def test_indexes_made_anew_are_kafkas_to_the_byte(kafkas: dict[str, Folder], tmp_path: Path) -> None:
    """Offset, time and transaction indexes, by `wirekafka log repair --indexes`."""
    from click.testing import CliRunner

    from wirekafka.cli.main import main

    path = tmp_path / "data"
    shutil.copytree(kafkas["clean"].path, path)
    compared = 0
    for partition in ("rolled-0", "transactions-0", "codecs-0"):
        indexes = [
            each
            for suffix in ("index", "timeindex", "txnindex")
            for each in path.glob(f"{partition}/*.{suffix}")
        ]
        kafkas_bytes = {each.name: each.read_bytes() for each in indexes}
        for each in indexes:
            each.unlink()
        outcome = CliRunner().invoke(main, ["log", "repair", "--indexes", "--data-dir", str(path), partition])
        assert outcome.exit_code == 0, outcome.output
        for name, data in kafkas_bytes.items():
            made = path / partition / name
            assert (partition, name, made.read_bytes() if made.exists() else None) == (partition, name, data)
            compared += 1

    assert compared >= 9


def test_producers_told_anew_are_those_of_kafkas_snapshot(kafkas: dict[str, Folder], tmp_path: Path) -> None:
    """The snapshot that we make of the batches has the bytes of Kafka's, producer by producer."""
    from click.testing import CliRunner

    from wirekafka.cli.main import main

    path = tmp_path / "data"
    shutil.copytree(kafkas["clean"].path, path)
    for partition in ("transactions-0", "codecs-0", "codecs-1"):
        newest = max((path / partition).glob("*.snapshot"))
        entries = _entries(newest.read_bytes())
        for each in (path / partition).glob("*.snapshot"):
            each.unlink()
        CliRunner().invoke(main, ["log", "repair", "--indexes", "--data-dir", str(path), partition])

        assert entries
        assert _entries(newest.read_bytes()) == entries


def _entries(snapshot: bytes) -> set[bytes]:
    """The producers of a snapshot, in any order."""
    entries = snapshot[10:]
    size = 46
    assert len(entries) % size == 0
    return {entries[start : start + size] for start in range(0, len(entries), size)}
