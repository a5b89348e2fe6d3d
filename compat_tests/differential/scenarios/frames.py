"""Bodies that end too early or too late, versions and keys that nobody has, nulls where none may be.

Called by `run`. Source: the Kafka protocol guide; Kafka's RequestContext and SocketServer, which close
the connection on what they cannot read.
"""

from __future__ import annotations

import struct

from compat_tests.differential.asked_versions import spread
from compat_tests.differential.side import Side
from compat_tests.differential.wire import CORRELATION_ID, framed, header_only, request_body
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import ApiVersionsRequest
from wirekafka.protocol.apis.create_topics import CreateTopicsRequest
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest
from wirekafka.protocol.apis.describe_cluster import DescribeClusterRequest
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.list_offsets import ListOffsetsRequest
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.apis.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from wirekafka.protocol.message import Message

API_VERSIONS_KEY, METADATA_KEY, HEARTBEAT_KEY = 18, 3, 12
PLAIN_REQUESTS: tuple[Message, ...] = (
    ListOffsetsRequest(replica_id=-1, topics=[]),
    MetadataRequest(topics=[]),
    DescribeGroupsRequest(groups=[]),
    ListGroupsRequest(),
    CreateTopicsRequest(topics=[], timeout_ms=1000),
    DeleteTopicsRequest(topics=[], topic_names=[], timeout_ms=1000),
    OffsetForLeaderEpochRequest(topics=[]),
    DescribeClusterRequest(include_cluster_authorized_operations=False),
)
"""Requests that are answered at once and change nothing."""


def frames(side: Side) -> None:
    """Send frames that no client sends."""
    _unknown(side)
    for request in PLAIN_REQUESTS:
        for version in spread(type(request)):
            _cut(side, request, version)
    _primitives(side)
    _headers(side)


def _unknown(side: Side) -> None:
    for api in APIS.values():
        if api.key != API_VERSIONS_KEY:
            for version in (api.versions.newest + 1, 32767, -1):
                side.send(
                    f"{api.name} of no version", framed(header_only(api.key, version)), api.key, version
                )
            if api.advertised.oldest > 0:
                below = api.advertised.oldest - 1
                side.send(f"{api.name} too old", framed(header_only(api.key, below)), api.key, below)
    for key in (-1, 4, 5, 6, 7, 93, 999, 32767):
        side.send(f"key {key}", framed(header_only(key, 0)), key, 0)


def _cut(side: Side, request: Message, version: int) -> None:
    body = request_body(request, version)
    api_key = struct.unpack_from(">h", body)[0]
    name = type(request).__name__
    side.send(f"{name} whole", framed(body), api_key, version)
    side.send(f"{name} one byte short", framed(body[:-1]), api_key, version)
    side.send(f"{name} without body", framed(body[:13]), api_key, version)
    side.send(f"{name} and three bytes more", framed(body + b"abc"), api_key, version)


def _primitives(side: Side) -> None:
    head = header_only(HEARTBEAT_KEY, 0)
    bodies = {
        "null group": struct.pack(">hih", -1, 1, 0),
        "group length -2": struct.pack(">hih", -2, 1, 0),
        "group length 32767": struct.pack(">hih", 32767, 1, 0),
        "group not UTF-8": struct.pack(">h", 2) + b"\xff\xfe" + struct.pack(">ih", 1, 0),
        "good": struct.pack(">hih", 0, 1, 0),
    }
    for label, body in bodies.items():
        side.send(f"heartbeat {label}", framed(head + body), HEARTBEAT_KEY, 0)
    metadata = {
        "no count": b"",
        "count -1": struct.pack(">i", -1),
        "count -2": struct.pack(">i", -2),
        "count too large": struct.pack(">i", 2**31 - 1),
        "count of one more": struct.pack(">ih", 2, 1) + b"a",
        "null name": struct.pack(">ih", 1, -1),
    }
    for label, body in metadata.items():
        for version in (0, 4):
            tail = b"\0" if version else b""
            side.send(
                f"metadata {label}", framed(header_only(METADATA_KEY, version) + body + tail),
                METADATA_KEY, version,
            )  # fmt: skip
    for flag in (2, 255):
        body = header_only(METADATA_KEY, 4) + struct.pack(">iB", 0, flag)
        side.send(f"metadata boolean {flag}", framed(body), METADATA_KEY, 4)
    _compact(side)


def _compact(side: Side) -> None:
    good = request_body(HeartbeatRequest(group_id="", generation_id=1, member_id=""), 4)
    head = good[:13] + b"\0"
    rest = struct.pack(">i", 1) + b"\1\0\0"
    bodies = {
        "good": b"\1" + rest,
        "null group": b"\0" + rest,
        "group too long": b"\x7f" + rest,
        "length of six bytes": b"\xff\xff\xff\xff\xff\x01" + rest,
        "length of needless bytes": b"\x81\x00" + rest,
        "unknown tag": b"\1" + rest[:-1] + b"\1\x63\2ab",
        "tag twice": b"\1" + rest[:-1] + b"\2\x63\1a\x63\1b",
        "tags out of order": b"\1" + rest[:-1] + b"\2\x63\1a\x62\1b",
        "tag too long": b"\1" + rest[:-1] + b"\1\x63\x7fab",
        "tags missing": b"\1" + rest[:-1],
        "tags many": b"\1" + rest[:-1] + b"\xff\xff\xff\xff\x07",
    }
    for label, body in bodies.items():
        side.send(f"compact heartbeat {label}", framed(head + body), HEARTBEAT_KEY, 4)


def _headers(side: Side) -> None:
    request = ApiVersionsRequest()
    side.ask("client id null", request, 0, client_id=None, keep=_no_keys)
    side.ask("client id empty", request, 0, client_id="", keep=_no_keys)
    side.ask("client id long", request, 0, client_id="x" * 1000, keep=_no_keys)
    side.ask("client id odd", request, 0, client_id="ä b/\0", keep=_no_keys)
    whole = struct.pack(">hhi", API_VERSIONS_KEY, 0, CORRELATION_ID)
    side.send("no client id at all", framed(whole), API_VERSIONS_KEY, 0)
    side.send("client id length -2", framed(whole + struct.pack(">h", -2)), API_VERSIONS_KEY, 0)
    side.send("client id cut", framed(whole + struct.pack(">h", 5) + b"ab"), API_VERSIONS_KEY, 0)
    side.send("header cut", framed(whole[:5]), API_VERSIONS_KEY, 0)
    side.send("empty frame", framed(b""), API_VERSIONS_KEY, 0)
    side.send("length -1", struct.pack(">i", -1), API_VERSIONS_KEY, 0)
    side.send("length 2147483647", struct.pack(">i", 2**31 - 1), API_VERSIONS_KEY, 0)
    side.send("HTTP", b"GET / HTTP/1.1\r\n\r\n", API_VERSIONS_KEY, 0)


def _no_keys(answer: object) -> None:
    answer.api_keys = []  # type: ignore[attr-defined]  # an ApiVersionsResponse; versions has its keys
