"""Tests of groups/applying.py: which kind of group a record makes, and which gives way."""

from wirekafka.groups.applying import Durable, apply
from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Member
from wirekafka.groups.classic.stored import new_group_value
from wirekafka.groups.classic.volatile import Volatile
from wirekafka.groups.client import Client
from wirekafka.groups.consumer import stored
from wirekafka.groups.deadlines import JoinDeadline, SessionDeadline, SyncDeadline
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.records import ForeignGroupMetadata, GroupMetadata, GroupRecord, OffsetCommit
from wirekafka.protocol.stored.consumer_offsets import OffsetCommitValue

OFFSET = OffsetCommit("g", "t", 0, OffsetCommitValue(offset=1, metadata="", commit_timestamp=1))
STREAMS = ForeignGroupMetadata("g", ForeignGroupType.STREAMS, b"")
EPOCH = stored.epoch_record("g", 2, 0)


def applied(*records: GroupRecord) -> tuple[Durable, Volatile]:
    durable, volatile = Durable(), Volatile()
    for record in records:
        apply(durable, volatile, record)
    return durable, volatile


def test_offset_of_an_unknown_group_makes_a_simple_one() -> None:
    """A consumer outside of group management committed it."""
    durable, volatile = applied(OFFSET)

    assert list(volatile.classic_groups) == ["g"]
    assert durable.classic_groups == {}
    assert list(durable.offsets.of_group("g")) == ["t"]


def test_deleted_offset_makes_no_group() -> None:
    """There is nothing that it could hold."""
    _, volatile = applied(OffsetCommit("g", "t", 0, None))

    assert volatile.classic_groups == {}


def test_consumer_group_takes_the_place_of_a_simple_one() -> None:
    """In a compacted log its offsets may come before its records, or after."""
    for records in ((OFFSET, EPOCH), (EPOCH, OFFSET)):
        durable, volatile = applied(*records)

        assert list(durable.consumer_groups) == ["g"]
        assert volatile.classic_groups == {}
        assert list(durable.offsets.of_group("g")) == ["t"]


def test_deleted_consumer_group_is_forgotten() -> None:
    """A group of the same name looks at its topics anew."""
    durable, volatile = applied(EPOCH)
    volatile.metadata_checks["g"] = 2
    for record in stored.tombstones(durable.consumer_groups["g"]):
        apply(durable, volatile, record)

    assert durable.consumer_groups == {}
    assert volatile.metadata_checks == {}


def test_classic_group_comes_and_goes_with_its_record() -> None:
    """Nothing of its rebalances comes any more; members live on in the consumer group that it became."""
    value = new_group_value(ClassicGroup("g"))
    durable, volatile = applied(GroupMetadata("g", value))
    assert list(volatile.classic_groups) == ["g"]
    volatile.classic_groups["g"].add(Member("m", None, Client("c", ""), 1, 1, (("range", b""),)))
    volatile.classic_groups["g"].pending_members.add("pending")
    for key in (SessionDeadline("g", "pending"), JoinDeadline("g"), SyncDeadline("g")):
        volatile.deadlines.schedule(key, 5)
    volatile.deadlines.schedule(SessionDeadline("g", "m"), 6)
    apply(durable, volatile, GroupMetadata("g", None))

    assert volatile.classic_groups == {}
    assert durable.classic_groups == {}
    assert (len(volatile.deadlines), SessionDeadline("g", "m") in volatile.deadlines) == (1, True)


def test_tombstone_for_a_group_that_is_not_there_does_nothing() -> None:
    """Compaction took the rest."""
    durable, volatile = applied(GroupMetadata("g", None))

    assert (durable, volatile.classic_groups) == (Durable(), {})


def test_group_that_is_not_served_takes_the_place_of_a_simple_one() -> None:
    """Its offsets may come before its record, or after; a tombstone of its own ends it."""
    for records in ((OFFSET, STREAMS), (STREAMS, OFFSET)):
        durable, volatile = applied(*records)

        assert durable.foreign_groups == {"g": ForeignGroup("g", ForeignGroupType.STREAMS)}
        assert volatile.classic_groups == {}
        assert list(durable.offsets.of_group("g")) == ["t"]
        apply(durable, volatile, ForeignGroupMetadata("g", ForeignGroupType.STREAMS, None))
        assert durable.foreign_groups == {}


def test_classic_group_that_was_written_down_is_kept_beside_one_that_is_not_served() -> None:
    """No broker writes so; what the log has of either is not to be lost."""
    durable, volatile = applied(GroupMetadata("g", new_group_value(ClassicGroup("g"))), STREAMS)

    assert (
        list(durable.classic_groups) == list(volatile.classic_groups) == list(durable.foreign_groups) == ["g"]
    )
