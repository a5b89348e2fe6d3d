"""ApiVersions, and the ranges in it: every version, odd client names, versions that nobody has.

Called by `run`. Source: KIP-511 (client names, unknown versions), KIP-584 (features), KIP-1242 (v5).
"""

from __future__ import annotations

import struct
from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.wire import CORRELATION_ID, framed, header_only, request_body
from wirekafka.protocol.apis.api_versions import ApiVersionsRequest

KEY = 18
ONLY_KAFKA: dict[int, str] = {
    17: "SaslHandshake",
    24: "AddPartitionsToTxn",
    25: "AddOffsetsToTxn",
    26: "EndTxn",
    27: "WriteTxnMarkers",
    28: "TxnOffsetCommit",
    29: "DescribeAcls",
    30: "CreateAcls",
    31: "DeleteAcls",
    34: "AlterReplicaLogDirs",
    35: "DescribeLogDirs",
    36: "SaslAuthenticate",
    38: "CreateDelegationToken",
    39: "RenewDelegationToken",
    40: "ExpireDelegationToken",
    41: "DescribeDelegationToken",
    43: "ElectLeaders",
    45: "AlterPartitionReassignments",
    46: "ListPartitionReassignments",
    48: "DescribeClientQuotas",
    49: "AlterClientQuotas",
    50: "DescribeUserScramCredentials",
    51: "AlterUserScramCredentials",
    55: "DescribeQuorum",
    57: "UpdateFeatures",
    61: "DescribeProducers",
    64: "UnregisterBroker",
    65: "DescribeTransactions",
    66: "ListTransactions",
    74: "ListConfigResources",
    75: "DescribeTopicPartitions",
    76: "ShareGroupHeartbeat",
    77: "ShareGroupDescribe",
    78: "ShareFetch",
    79: "ShareAcknowledge",
    80: "AddRaftVoter",
    81: "RemoveRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
    88: "StreamsGroupHeartbeat",
    89: "StreamsGroupDescribe",
    90: "DescribeShareGroupOffsets",
    91: "AlterShareGroupOffsets",
    92: "DeleteShareGroupOffsets",
    93: "StreamsGroupTopologyDescriptionUpdate",
    94: "UnregisterController",
}
"""Requests that wirekafka does not advertise yet: the table shrinks as they are built."""
ODD_NAMES = ("", " ", "-a", "a-", "a.", "a b", "a_b", "ä", "a" * 300, "a.b-c", "1")
FIRST_WITH_NAME, FIRST_WITH_NODE = 3, 5


def versions(side: Side) -> None:
    """Ask for the ranges in every version and with every odd argument."""
    _ranges(side)
    for version in every(ApiVersionsRequest):
        _ask(side, "good", version, _named() if version >= FIRST_WITH_NAME else ApiVersionsRequest())
        if version >= FIRST_WITH_NAME:
            _odd_names(side, version)
        if version >= FIRST_WITH_NODE:
            _node(side, version)
    _unknown_versions(side)


def _named(**fields: Any) -> ApiVersionsRequest:
    return ApiVersionsRequest(**{"client_software_name": "raw", "client_software_version": "1.0"} | fields)


def _ask(side: Side, label: str, version: int, request: ApiVersionsRequest) -> None:
    side.ask(label, request, version, keep=_shared if side.name == "Apache Kafka" else None)


# Any: an ApiVersionsResponse.
def _shared(answer: Any) -> None:
    """Leave out the keys that only Kafka has; wirekafka's answer is taken whole."""
    answer.api_keys = [entry for entry in answer.api_keys if entry.api_key not in ONLY_KAFKA]


def _ranges(side: Side) -> None:
    """The table of what only Kafka has names nothing that it has not."""
    answer = side.arrange(_named(), 3)
    advertised = {entry.api_key for entry in answer.api_keys}
    gone = ONLY_KAFKA.keys() - advertised if side.name == "Apache Kafka" else set()
    side.note("keys of the table that Kafka does not advertise", "ApiVersions", 3, [*sorted(gone)])


def _odd_names(side: Side, version: int) -> None:
    for name in ODD_NAMES:
        told = name if len(name) < 10 else f"{name[:5]}..."
        _ask(side, f"software name {told!r}", version, _named(client_software_name=name))
        _ask(side, f"software version {told!r}", version, _named(client_software_version=name))


def _node(side: Side, version: int) -> None:
    requests = {
        "cluster id alone": _named(cluster_id="another"),
        "node id alone": _named(node_id=1),
        "another node id alone": _named(node_id=9),
        "cluster id and node id of another": _named(cluster_id="another", node_id=9),
        "another cluster id": _named(cluster_id="another", node_id=1),
        "another node id": _named(cluster_id=side.cluster_id, node_id=9),
        "its own ids": _named(cluster_id=side.cluster_id, node_id=1),
        "negative node id": _named(cluster_id=side.cluster_id, node_id=-5),
        "empty cluster id": _named(cluster_id="", node_id=1),
    }
    for label, request in requests.items():
        _ask(side, label, version, request)


def _unknown_versions(side: Side) -> None:
    """A version too new is answered in v0 with error 35, and the connection goes on (KIP-511)."""
    keep = _shared if side.name == "Apache Kafka" else None
    for version in (6, 99, 32767, -1):
        # A version that is not known to be old has the tagged header, which ends in a count of tags.
        frame = framed(header_only(KEY, version) + (b"" if version < 0 else b"\0"))
        side.send("header alone", frame, KEY, version, answer_version=0, keep=keep)
        _ask(side, f"good after version {version}", 0, ApiVersionsRequest())
    newest = request_body(_named(), 5)
    head = struct.pack(">hhi", KEY, 77, CORRELATION_ID)
    side.send("newest body", framed(head + newest[8:]), KEY, 77, answer_version=0, keep=keep)
    side.ask("null client id", _named(), 4, client_id=None, keep=keep)
    side.ask("empty client id", _named(), 4, client_id="", keep=keep)
    side.send("old header", framed(header_only(KEY, 6)), KEY, 6, answer_version=0, keep=keep)
