"""Stories of the tools that look at a cluster: its requests, ids, features, offsets, replicas.

Source: the tools of Apache Kafka 4.4 that bear these names.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compat_tests.clients.adapter import Client, Record
from compat_tests.conftest import MakeTopic
from compat_tests.tools import java_tools
from compat_tests.tools.conftest import Fill, RunTool
from compat_tests.tools.requests import KEYS


@pytest.mark.tool("kafka-broker-api-versions")
def test_requests_are_listed(tool: RunTool, bootstrap: str, broker_keys: frozenset[int]) -> None:
    """Every request that the broker advertises is listed, usable in a version that 4.4 knows."""
    listed = tool("kafka-broker-api-versions")
    usable = {int(key) for key in re.findall(r"\((\d+)\): \d+(?: to \d+)? \[usable: \d+\]", listed.out)}

    assert (listed.status, listed.err) == (0, "")
    assert listed.lines[0] == f"{bootstrap} (id: 1 rack: null isFenced: false) -> ("
    assert usable == broker_keys
    assert "UNKNOWN" not in listed.out


@pytest.mark.tool("kafka-cluster")
def test_cluster_id_and_endpoints_are_told(tool: RunTool, bootstrap: str) -> None:
    """`cluster-id` prints an id, `list-endpoints` the one broker."""
    cluster_id = tool("kafka-cluster", "cluster-id")
    endpoints = tool("kafka-cluster", "list-endpoints")
    host, _, port = bootstrap.rpartition(":")

    assert (cluster_id.status, endpoints.status) == (0, 0)
    assert re.fullmatch(r"Cluster ID: [\w-]{22}", cluster_id.lines[0])
    assert ["1", host, port, "null", "unfenced", "broker"] in endpoints.rows()


@pytest.mark.tool("kafka-features")
def test_features_are_described(tool: RunTool) -> None:
    """`describe` prints the level of metadata.version."""
    described = tool("kafka-features", "describe")

    assert (described.status, described.err) == (0, "")
    assert re.search(r"metadata\.version\s.*FinalizedVersionLevel: 4\.4-IV\d", described.out)


@pytest.mark.tool("kafka-features")
@pytest.mark.asks("UpdateFeatures")
def test_features_are_upgraded_to_where_they_are(tool: RunTool) -> None:
    """`upgrade --release-version 4.4 --dry-run` is allowed where the features already are."""
    upgraded = tool("kafka-features", "upgrade", "--release-version", "4.4", "--dry-run")

    assert upgraded.status == 0


@pytest.mark.tool("kafka-get-offsets")
@pytest.mark.parametrize(
    ("time", "offset"),
    [
        pytest.param("-2", 0, id="earliest"),
        pytest.param("-3", 1, id="max-timestamp"),
        pytest.param("2000", 1, id="timestamp"),
    ],
)
def test_offsets_are_found_by_time(
    tool: RunTool, topic: str, administrator: Client, time: str, offset: int
) -> None:
    """--time finds the beginning, the record with the latest time, and the first from a time on."""
    for timestamp_ms in (1000, 3000, 2000):
        administrator.produce(topic, [Record(b"value", timestamp_ms=timestamp_ms)], partition=0)
    found = tool("kafka-get-offsets", "--topic", topic, "--time", time)

    assert (found.status, found.err, found.lines) == (0, "", [f"{topic}:0:{offset}"])


@pytest.mark.tool("kafka-get-offsets")
def test_offsets_of_chosen_partitions_are_found(tool: RunTool, make_topic: MakeTopic, fill: Fill) -> None:
    """--topic-partitions takes a range of partitions."""
    topic = make_topic(partition_count=4)
    fill(topic, ["one", "two"], 2)
    found = tool("kafka-get-offsets", "--topic-partitions", f"{topic}:1-3")

    assert (found.status, found.err, found.lines) == (0, "", [f"{topic}:1:0", f"{topic}:2:2"])


@pytest.mark.tool("kafka-replica-verification")
def test_replicas_agree(bootstrap: str, topic: str, fill: Fill) -> None:
    """The tool reads as a follower would and finds no lag."""
    fill(topic, ["one", "two"])
    arguments = ["--broker-list", bootstrap, "--topics-include", topic, "--report-interval-ms", "500"]
    with java_tools.started("kafka-replica-verification", arguments) as line_with:
        line = line_with("max lag is")

    assert line.endswith(f"max lag is 0 for partition {topic}-0 at offset 2 among 1 partitions")


@pytest.mark.tool("client-compatibility-test")
def test_java_client_finds_what_it_looks_for(tool: RunTool, topic: str, broker_keys: frozenset[int]) -> None:
    """The program with which Kafka's own system tests try a broker ends well."""
    expected = {
        "offsets-for-times-supported": True,
        "cluster-id-supported": True,
        "expect-record-too-large-exception": False,
        "create-topics-supported": True,
        "describe-acls-supported": KEYS["DescribeAcls"] in broker_keys,
        "describe-configs-supported": True,
        "idempotent-producer-supported": True,
    }
    options = [word for name, value in expected.items() for word in (f"--{name}", str(value).lower())]
    tried = tool("client-compatibility-test", "--topic", topic, "--num-cluster-nodes", "1", *options)

    assert (tried.status, tried.lines[-1]) == (0, "SUCCESS.")


@pytest.mark.tool("kafka-leader-election")
@pytest.mark.asks("ElectLeaders")
def test_leader_stays(tool: RunTool, topic: str) -> None:
    """--election-type preferred finds that the one replica leads already."""
    chosen = ["--election-type", "preferred", "--topic", topic, "--partition", "0"]
    elected = tool("kafka-leader-election", *chosen)

    assert elected.status == 0
    assert f"Valid replica already elected for partitions {topic}-0" in elected.out


@pytest.mark.tool("kafka-reassign-partitions")
@pytest.mark.asks("ListPartitionReassignments")
def test_nothing_moves(tool: RunTool) -> None:
    """--list finds no reassignment."""
    listed = tool("kafka-reassign-partitions", "--list")

    assert (listed.status, listed.lines) == (0, ["No partition reassignments found."])


@pytest.mark.tool("kafka-log-dirs")
@pytest.mark.asks("DescribeLogDirs")
def test_log_dirs_are_described(tool: RunTool, topic: str, fill: Fill) -> None:
    """--describe prints the size of each partition."""
    fill(topic, ["one"])
    described = tool("kafka-log-dirs", "--describe", "--topic-list", topic)
    (broker,) = json.loads(described.lines[-1])["brokers"]
    (partition,) = broker["logDirs"][0]["partitions"]

    assert described.status == 0
    assert partition["partition"] == f"{topic}-0"
    assert partition["size"] > 0
    assert partition["offsetLag"] == 0


@pytest.mark.tool("kafka-metadata-quorum")
@pytest.mark.asks("DescribeQuorum")
def test_quorum_is_described(tool: RunTool) -> None:
    """`describe --status` names the one voter as leader."""
    described = tool("kafka-metadata-quorum", "describe", "--status")

    assert (described.status, described.err) == (0, "")
    assert ["LeaderId:", "1"] in described.rows()


@pytest.mark.tool("kafka-delete-records")
@pytest.mark.asks("DeleteRecords")
def test_records_are_deleted(tool: RunTool, topic: str, fill: Fill, tmp_path: Path) -> None:
    """Records before an offset are deleted, and the earliest offset is that one."""
    fill(topic, ["one", "two", "three"])
    wanted = {"partitions": [{"topic": topic, "partition": 0, "offset": 2}], "version": 1}
    wish = tmp_path / "wanted.json"
    wish.write_text(json.dumps(wanted))
    deleted = tool("kafka-delete-records", "--offset-json-file", str(wish))
    earliest = tool("kafka-get-offsets", "--topic", topic, "--time", "-2")

    assert deleted.status == 0
    assert f"partition: {topic}-0\tlow_watermark: 2" in deleted.out
    assert earliest.lines == [f"{topic}:0:2"]


@pytest.mark.tool("kafka-transactions")
@pytest.mark.asks("ListTransactions")
def test_no_transaction_is_listed(tool: RunTool) -> None:
    """`list` prints its heading and no transaction of that name."""
    listed = tool("kafka-transactions", "list", "--transactional-id-pattern", "nobody-has-this")

    assert (listed.status, len(listed.lines)) == (0, 1)


@pytest.mark.tool("kafka-transactions")
@pytest.mark.asks("DescribeProducers")
def test_producers_of_a_partition_are_described(tool: RunTool, topic: str, administrator: Client) -> None:
    """`describe-producers` prints the idempotent producer that wrote to the partition."""
    administrator.produce(topic, [Record(b"value")], partition=0, idempotent=True)
    described = tool("kafka-transactions", "describe-producers", "--topic", topic, "--partition", "0")
    (row,) = described.rows()[1:]

    assert described.status == 0
    assert row[1] == "0"
    assert row[3] == "0"


@pytest.mark.tool("kafka-acls")
@pytest.mark.asks("DescribeAcls")
def test_acls_are_refused_without_an_authorizer(tool: RunTool) -> None:
    """--list says that no authorizer is configured."""
    listed = tool("kafka-acls", "--list")

    assert listed.status == 1
    assert "No Authorizer is configured" in listed.out + listed.err
