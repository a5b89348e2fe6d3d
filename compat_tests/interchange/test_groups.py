"""Groups of every kind are handed from Apache Kafka 4.4 to wirekafka and back: told alike, and they go on.

Classic groups with dynamic and static members, consumer groups between two assignments, with a member that is
away, with a pattern, emptied, of both protocols; their offsets. And both brokers write the same records.
Source: the records of __consumer_offsets in Kafka's group-coordinator.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compat_tests.apache_kafka.jars import NotAvailable
from compat_tests.apache_kafka.node import start_node
from compat_tests.differential.fields import Plain
from compat_tests.interchange.groups import (
    GROUPS,
    SETTINGS,
    SOUGHT,
    Made,
    go_on,
    make,
    make_topics,
    side_of,
    told,
)
from compat_tests.tools import java_tools
from wirekafka.testing import running_broker

OURS, KAFKAS = "wirekafka", "Apache Kafka"
CHANGED_HANDS = ("__consumer_offsets-*", "interchanged-*")
WIREKAFKA = {**SETTINGS, "node.id": "1"}
RECORD = re.compile(r"key: (\{.*?\}) payload: (\{.*\}|<null>|null)?$", re.MULTILINE)
TIMES = re.compile(r'("\w*(?:[tT]imestamp|TimestampMs)":)\d+')
RANDOM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=\")[\w-]{22}(?=\")")
HASH = re.compile(r'("metadataHash":)-?\d+')
PREVIOUS = re.compile(r'("previousMemberEpoch": )\d+')
IMAGE = re.compile(r'("version":)\d+(?=,"timestamp")')
"""How far the metadata had come when a pattern was looked up."""
OF_CONSUMER_GROUPS = {"3", "5", "6", "7", "8", "16"}


Answers = list[tuple[str, Plain]]
Records = list[tuple[str, str]]
"""Keys and values as Kafka's decoder prints them."""


@dataclass(frozen=True, slots=True)
class Left:
    """A folder with groups, what its broker told of them, and how they went on there."""

    folder: Path
    made: Made
    told: dict[str, Plain]
    went_on: Answers


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder of Apache Kafka with the topics and no group; all is left out where there is no Kafka."""
    home = tmp_path_factory.mktemp("empty") / "node"
    home.mkdir()
    try:
        node = start_node(home, SETTINGS)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    try:
        with side_of(KAFKAS, node.bootstrap) as side:
            make_topics(side)
    finally:
        node.stop()
    return home


@pytest.fixture(scope="module")
def kafkas(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Left]:
    """Give the folder of Apache Kafka that was killed; how the groups go on is then asked of Kafka itself."""
    home = tmp_path_factory.mktemp("kafkas") / "node"
    shutil.copytree(empty, home)
    node = start_node(home, SETTINGS)
    try:
        with side_of(KAFKAS, node.bootstrap) as side:
            made = make(side)
            there = told(side)
        node.stop(signal.SIGKILL)
        folder = home.parent / "killed"
        shutil.copytree(node.log_dir, folder)
        node = start_node(home, SETTINGS)
        with side_of(KAFKAS, node.bootstrap) as side:
            assert told(side) == there
            yield Left(folder, made, there, go_on(side, made))
    finally:
        node.stop()


@pytest.fixture(scope="module")
def ours(empty: Path, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """Give the same folder after wirekafka has made the groups in it."""
    folder = tmp_path_factory.mktemp("ours") / "data"
    shutil.copytree(empty / "data", folder)
    with (
        running_broker(data_dir=folder, settings=WIREKAFKA) as broker,
        side_of(OURS, broker.bootstrap) as side,
    ):
        made = make(side)
        there = told(side)
    kept = folder.parent / "kept"
    shutil.copytree(folder, kept)
    with (
        running_broker(data_dir=folder, settings=WIREKAFKA) as broker,
        side_of(OURS, broker.bootstrap) as side,
    ):
        assert told(side) == there
        went_on = go_on(side, made)
    return Left(kept, made, there, went_on)


def test_groups_of_kafka_are_taken_up(kafkas: Left, tmp_path: Path) -> None:
    """wirekafka tells of Kafka's groups what Kafka told, and answers their members as Kafka does."""
    folder = tmp_path / "data"
    shutil.copytree(kafkas.folder, folder)
    with (
        running_broker(data_dir=folder, settings=WIREKAFKA) as broker,
        side_of(OURS, broker.bootstrap) as side,
    ):
        found = told(side)
        went_on = go_on(side, kafkas.made)

    assert found == kafkas.told
    assert went_on == kafkas.went_on


def test_groups_of_ours_are_taken_up_by_kafka(ours: Left, empty: Path, tmp_path: Path) -> None:
    """Kafka tells of wirekafka's groups what wirekafka told, and answers their members as wirekafka does."""
    home = tmp_path / "node"
    shutil.copytree(empty, home)
    for pattern in CHANGED_HANDS:
        for partition in ours.folder.glob(pattern):
            shutil.rmtree(home / "data" / partition.name)
            shutil.copytree(partition, home / "data" / partition.name)
    node = start_node(home, SETTINGS)
    try:
        with side_of(KAFKAS, node.bootstrap) as side:
            found = told(side)
            went_on = go_on(side, ours.made)
    finally:
        node.stop()

    assert found == ours.told
    assert went_on == ours.went_on


def test_both_write_the_same_records(kafkas: Left, ours: Left) -> None:
    """kafka-dump-log reads the groups' records of both: of each group they are the same, one by one.

    Patterns are looked up at another moment, within the join or after it: of that group the last record of
    each key is compared, but for the epoch before.
    """
    theirs, here = (_by_group(_records(left.folder)) for left in (kafkas, ours))
    kinds = {json.loads(key)["type"] for records in here.values() for key, _ in records}

    assert here.keys() == theirs.keys() >= set(GROUPS)
    for group in GROUPS:
        if group == SOUGHT:
            assert _last(here[group]) == _last(theirs[group])
        else:
            assert here[group] == theirs[group], group
    assert kinds >= OF_CONSUMER_GROUPS


def _last(records: Records) -> dict[str, str]:
    return {key: PREVIOUS.sub(r"\1 any", value) for key, value in records}


def _by_group(records: Records) -> dict[str, Records]:
    found: dict[str, Records] = {}
    for key, value in records:
        data = json.loads(key)["data"]
        found.setdefault(data.get("groupId") or data["group"], []).append((key, value))
    return found


def _records(folder: Path) -> Records:
    """Give the records of the offsets topic as Kafka's decoder prints them, random values and times aside."""
    files = [file for file in sorted(folder.glob("__consumer_offsets-*/*.log")) if file.stat().st_size]
    dumped = java_tools.run(
        "kafka-dump-log", ["--files", ",".join(map(str, files)), "--offsets-decoder", "--deep-iteration"]
    )
    assert (dumped.status, dumped.err) == (0, "")
    text = dumped.out
    for pattern in (TIMES, HASH, IMAGE):
        text = pattern.sub(r"\1 0", text)
    text = RANDOM.sub("random", text)
    return [(key, _in_order(value)) for key, value in RECORD.findall(text)]


def _in_order(value: str) -> str:
    """Put the entries of lists in one order: Kafka's goes by the hashes of topic ids."""
    if not value.startswith("{"):
        return value
    return json.dumps(_sorted(json.loads(value)), sort_keys=True)


# Any: what JSON may hold.
def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=repr)
    return value
