"""Tests of the judge: everything it has to find is found, and a right log is found right."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.torture.churn import found_wrong_with_topics
from tests.torture.judging import Read, Rule, found_wrong
from tests.torture.oracle import ENTRY, Acknowledged, OracleFile, name_of, value_of

PRODUCERS, PARTITIONS, SEQUENCES = 2, 2, 6


def right_log() -> tuple[Acknowledged, Read]:
    """Two producers in turn, all acknowledged but the last of each, which is there all the same."""
    told, read = Acknowledged(), Read()
    for partition in range(PARTITIONS):
        for offset in range(PRODUCERS * SEQUENCES):
            sequence, producer = divmod(offset, PRODUCERS)
            read.records[partition].append((offset, producer, sequence))
            if sequence < SEQUENCES - 1:
                told.add(producer, partition, sequence, offset)
    return told, read


Damage = Callable[[Acknowledged, Read], object]


def lose(*offsets: int) -> Damage:
    def damage(_: Acknowledged, read: Read) -> None:
        read.records[1] = [record for record in read.records[1] if record[0] not in offsets]

    return damage


def replace(offset: int, record: tuple[int, int, int]) -> Damage:
    def damage(_: Acknowledged, read: Read) -> None:
        read.records[1][offset] = record

    return damage


DAMAGES: dict[str, tuple[Damage, str]] = {
    "one-lost": (lose(4), "a hole between sequence 1 at offset 2 and 3 at 6"),
    "end-lost": (lose(6, 8, 10), "2 acknowledged records lost, sequences 3 to 4"),
    "start-lost": (lose(0), "begins with sequence 1"),
    "all-lost": (lose(*range(12)), "5 acknowledged records lost, sequences 0 to 4"),
    "doubled": (lambda _, read: read.records[1].append((12, 0, 3)), "3 at offset 12 stands behind 5 at 10"),
    "out-of-order": (
        lambda _, read: read.records[1].sort(key=lambda r: (-r[2], r[0])),
        "delivered out of the order of offsets",
    ),
    "swapped": (replace(2, (2, 1, 1)), "producer 1, partition 1: sequence 1 at offset 3 stands behind"),
    "elsewhere": (
        lambda told, _: told.add(0, 1, 2, 40),
        "sequence 2 was acknowledged at offset 40, and stands at 4",
    ),
    "never-sent": (lambda _, read: read.forged.append("nobody sent that"), "nobody sent that"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_every_kind_of_damage_is_found(name: str) -> None:
    """A judge that cannot find fault acquits everybody."""
    told, read = right_log()
    assert found_wrong(told, read, Rule.KEPT) == []
    damage, sentence = DAMAGES[name]

    damage(told, read)

    assert sentence in " | ".join(found_wrong(told, read, Rule.KEPT))


def test_what_was_not_acknowledged_may_be_missing_from_the_end() -> None:
    """But there is no hole before what is there."""
    told, read = right_log()

    lose(10, 11)(told, read)

    assert found_wrong(told, read, Rule.KEPT) == []


def test_retention_may_drop_only_what_lies_before_the_start() -> None:
    """The start offset says how far; a record behind it that is missing is lost."""
    told, read = right_log()
    lose(0, 1, 2, 3)(told, read)

    read.start_offsets[1] = 4
    assert found_wrong(told, read, Rule.RETAINED) == []
    read.start_offsets[1] = 2
    assert "1 acknowledged records lost, sequences 1 to 1" in " ".join(found_wrong(told, read, Rule.RETAINED))
    assert found_wrong(told, read, Rule.KEPT) != []


def test_compaction_may_drop_only_what_has_a_later_record_of_its_key() -> None:
    """With three keys a producer, sequences 0 to 2 are superseded by 3 to 5; 3 of key 0 is not."""
    told, read = right_log()
    lose(0, 2, 4)(told, read)
    assert found_wrong(told, read, Rule.COMPACTED, keys=3) == []

    lose(6)(told, read)

    assert found_wrong(told, read, Rule.COMPACTED, keys=3) == [
        "producer 0, partition 1: key 0: acknowledged up to sequence 3, there is None"
    ]


def test_a_value_names_itself_and_no_other_does() -> None:
    """Any changed byte makes it one that was never sent."""
    value = value_of(3, 49, 1234, 100)

    assert (len(value), name_of(value)) == (100, (3, 49, 1234))
    for place in range(len(value)):
        changed = bytearray(value)
        changed[place] ^= 1
        assert name_of(bytes(changed)) is None
    assert name_of(b"") is None


def test_the_oracle_reads_on_and_waits_for_whole_entries(tmp_path: Path) -> None:
    """The load may be in the middle of one."""
    path = tmp_path / "acknowledged"
    oracle = OracleFile(path)
    assert oracle.look().count == 0
    entries = ENTRY.pack(0, 1, 2, 3) + ENTRY.pack(0, 1, 3, 4)

    path.write_bytes(entries[:-1])
    assert oracle.look().offsets == {(0, 1): {2: 3}}
    path.write_bytes(entries)

    assert oracle.look().offsets == {(0, 1): {2: 3, 3: 4}}


def test_a_topic_that_was_created_has_to_be_there_and_one_that_was_deleted_has_not() -> None:
    """One whose deletion was asked for and not answered may be either."""
    told = "created 1\ndelete 1\ndeleted 1\ncreated 2\ncreated 3\ndelete 3\n"

    assert found_wrong_with_topics(told, {"churned-2"}, ["churned-1-0.abc-stray"]) == []
    assert found_wrong_with_topics(told, {"churned-2", "churned-3"}, []) == []
    assert found_wrong_with_topics(told, {"churned-1"}, ["churned-2-1.abc-stray"]) == [
        "the topic churned-2 was created and is not there",
        "the topic churned-1 was deleted and is there",
        "the folder churned-2-1.abc-stray was set aside",
    ]
