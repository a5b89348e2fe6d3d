"""Whose data folder it is: the ids of meta.properties, read, or drawn and written.

Called by `directory`.

Source: Kafka's MetaPropertiesEnsemble.
"""

import uuid
from dataclasses import dataclass

from wirekafka.ids import uuid_from_text, uuid_text
from wirekafka.storage.disk import checkpoints
from wirekafka.storage.disk.checkpoints import META_PROPERTIES
from wirekafka.storage.disk.files import Files, read_file, replace_file

_NO_NODE_ID = -1


@dataclass(frozen=True, slots=True)
class Identity:
    """The cluster, the node and the folder."""

    cluster_id: str
    node_id: int
    directory_id: bytes


def identity_of(files: Files, root: str, *, node_id: int, notices: list[str]) -> Identity:
    """Read the ids of a folder; what is missing is drawn (the node's is `node_id`) and written.

    Raises OSError.
    """
    data = read_file(files, f"{root}/{META_PROPERTIES}")
    there = checkpoints.decode_meta_properties(data or b"")
    found = Identity(
        there.get("cluster.id", ""),
        _number(there.get("node.id", there.get("broker.id", ""))),
        _uuid_or_none(there.get("directory.id", "")),
    )
    if found.cluster_id and found.directory_id and found.node_id != _NO_NODE_ID:
        return found
    identity = Identity(
        found.cluster_id or uuid_text(_new_uuid(files)),
        node_id if found.node_id == _NO_NODE_ID else found.node_id,
        found.directory_id or _new_uuid(files),
    )
    if data is not None:
        notices.append(
            f"{META_PROPERTIES} lacked an id and was completed: the cluster is {identity.cluster_id}, "
            f"the node {identity.node_id}"
        )
    properties = checkpoints.MetaProperties(
        identity.cluster_id, identity.node_id, uuid_text(identity.directory_id)
    )
    replace_file(files, f"{root}/{META_PROPERTIES}", checkpoints.encode_meta_properties(properties))
    return identity


def _new_uuid(files: Files) -> bytes:
    """A random version 4 UUID whose text does not begin with a dash, as Kafka's."""
    while True:
        raw = uuid.UUID(bytes=files.random_bytes(16), version=4).bytes
        if not uuid_text(raw).startswith("-"):
            return raw


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() else _NO_NODE_ID


def _uuid_or_none(text: str) -> bytes:
    try:
        return uuid_from_text(text) if text else b""
    except ValueError:
        return b""
