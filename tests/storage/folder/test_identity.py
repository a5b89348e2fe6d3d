"""Tests of storage.folder.identity: whose data folder it is."""

from pathlib import Path

import pytest

from tests.storage.support import UnsyncedFiles
from wirekafka.storage.folder.identity import identity_of

FILES = UnsyncedFiles()


def read(path: Path, node_id: int = 3) -> tuple[str, int, list[str]]:
    notices: list[str] = []
    identity = identity_of(FILES, str(path), node_id=node_id, notices=notices)
    return identity.cluster_id, identity.node_id, notices


def test_a_new_folder_is_given_ids_that_stay(tmp_path: Path) -> None:
    """Drawn once; the node is the one that asks."""
    first = read(tmp_path)

    assert first[1:] == (3, [])
    assert len(first[0]) == 22
    assert read(tmp_path, node_id=9) == first


@pytest.mark.parametrize("line", ["", "node.id=x", "node.id=-1", "node.id=\xb2", "nodf.id=3"])
def test_what_cannot_be_read_is_completed_and_said(tmp_path: Path, line: str) -> None:
    """A flipped bit in meta.properties, which has no checksum."""
    text = f"version=1\ncluster.id=4L6g3nShT-eMCtK--X86sw\n{line}\ndirectory.id=4L6g3nShT-eMCtK--X86sw\n"
    (tmp_path / "meta.properties").write_text(text, encoding="utf-8")

    cluster_id, node_id, notices = read(tmp_path)

    assert (cluster_id, node_id) == ("4L6g3nShT-eMCtK--X86sw", 3)
    assert notices == [
        "meta.properties lacked an id and was completed: the cluster is 4L6g3nShT-eMCtK--X86sw, the node 3"
    ]


def test_an_old_brokers_name_of_the_node_is_known(tmp_path: Path) -> None:
    """broker.id, before KRaft; a directory id that is none is drawn anew."""
    (tmp_path / "meta.properties").write_text("broker.id=5\ncluster.id=c\ndirectory.id=short\n")

    assert read(tmp_path)[:2] == ("c", 5)
    assert "directory.id=short" not in (tmp_path / "meta.properties").read_text()
