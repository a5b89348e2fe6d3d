"""Tests of storage.cleaning.reading."""

import pytest

from tests.storage.cleaning.support import put
from tests.storage.support import Store
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogConfig, PartitionLog
from wirekafka.storage.cleaning.reading import Unreadable, naming, whole_batches
from wirekafka.storage.cleaning.work import unhurried


def filled(store: Store, *sizes: int) -> PartitionLog:
    store.config = LogConfig(max_message_bytes=1 << 24)
    log = store.open()
    for size in sizes:
        put(log, ("k", "v" * size))
    return log


def read(log: PartitionLog) -> list[int]:
    """The base offsets of the batches; each is whole."""
    found = []
    for position, batch in whole_batches(log.segments.active, log.log_end_offset, unhurried):
        assert len(bytes(batch)) == batch.size_in_bytes
        assert position == sum(len(bytes(b)) for b in log.batches(0) if b.base_offset < batch.base_offset)
        found.append(batch.base_offset)
    return found


def test_batches_of_any_size_come_whole(store: Store) -> None:
    """Also those larger than what is read at once, and those at its edge."""
    log = filled(store, 10, 700_000, 700_000, 3_000_000, 5, 1_048_576, 1)

    assert read(log) == list(range(7))


def test_an_empty_segment_has_none(store: Store) -> None:
    """Compaction may have emptied it."""
    assert read(filled(store)) == []


def test_the_pace_is_told_of_what_is_read(store: Store) -> None:
    """It may raise to end the reading."""
    log = filled(store, 10, 2_000_000)
    told: list[int] = []

    list(whole_batches(log.segments.active, log.log_end_offset, told.append))

    assert sum(told) >= log.size_bytes


@pytest.mark.parametrize(
    ("at", "byte", "why"),
    [(-1, 1, "CRC"), (16, 1, "no whole batch"), (8, 0x7F, "no whole batch"), (11, 3, "no whole batch")],
)
def test_what_is_not_right_is_told_with_its_place(store: Store, at: int, byte: int, why: str) -> None:
    """A flipped record, another magic, a length past the file, a length that no batch has."""
    log = filled(store, 10, 10, 10)
    size = log.size_bytes // 3
    data = bytearray(store.log_path().read_bytes())
    data[size + (at if at >= 0 else size + at)] ^= byte if at in (-1, 16) else 0
    if at in (8, 11):
        data[size + 8 : size + 12] = bytes(4) if at == 11 else b"\x7f\0\0\0"
    store.log_path().write_bytes(data)

    with pytest.raises(Unreadable, match=f"position {size} of {0:020d}.log is not right: .*{why}"):
        read(log)


@pytest.mark.parametrize(("base_offset", "position"), [(0, 1), (2, 2), (3, 1), (1 << 40, 1)])
def test_an_offset_out_of_order_is_told(store: Store, base_offset: int, position: int) -> None:
    """No CRC covers a base offset: a flipped bit there must not make newer records look outdated."""
    log = filled(store, 10, 10, 10)
    size = log.size_bytes // 3
    data = bytearray(store.log_path().read_bytes())
    data[size : size + 8] = base_offset.to_bytes(8, "big")
    store.log_path().write_bytes(data)

    with pytest.raises(Unreadable, match=f"position {position * size} .*it has offsets"):
        read(log)


def test_the_file_is_read_to_its_end(store: Store) -> None:
    """Whatever the segment, whose indexes may just be read beside it, thinks of its size."""
    log = filled(store, 10, 10, 10)
    log.segments.active.size = 0

    assert [b.base_offset for _, b in whole_batches(log.segments.active, 3, unhurried)] == [0, 1, 2]


def test_records_that_cannot_be_decoded_are_told_with_their_place(store: Store) -> None:
    """Whatever decoding says is wrong with them."""
    segment = filled(store, 1).segments.active

    with pytest.raises(Unreadable, match=r"position 7 .*log is not right: too short"), naming(segment, 7):
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "too short")
