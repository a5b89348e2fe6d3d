"""Tests of storage.producers.snapshot."""

from crc32c import crc32c

from wirekafka.storage.producers.snapshot import decode_snapshot, encode_snapshot
from wirekafka.storage.producers.state import AppendedBatch, Producer


def producer() -> Producer:
    known = Producer(epoch=2, coordinator_epoch=5, last_timestamp_ms=1000, transaction_start=40)
    known.batches.append(AppendedBatch(3, 30, 3, 900))
    known.batches.append(AppendedBatch(8, 44, 4, 1000))
    return known


ENTRY = "0000000000000007000200000008000000000000002c0000000400000000000003e8000000050000000000000028"


def test_a_snapshot_has_kafkas_bytes() -> None:
    """Version, CRC-32C of the rest, count, entries with the last batch only (ProducerSnapshot.json)."""
    covered = bytes.fromhex("00000001" + ENTRY)

    data = encode_snapshot({7: producer()})

    assert data == bytes.fromhex("0001") + crc32c(covered).to_bytes(4, "big") + covered


def test_a_producer_comes_back_with_its_last_batch() -> None:
    """The four batches before it are not kept, as in Kafka."""
    loaded = decode_snapshot(encode_snapshot({7: producer()}))

    assert loaded is not None
    ((producer_id, known),) = loaded
    assert (producer_id, known.epoch, known.coordinator_epoch) == (7, 2, 5)
    assert (known.last_timestamp_ms, known.transaction_start) == (1000, 40)
    assert list(known.batches) == [AppendedBatch(8, 44, 4, 1000)]


def test_a_producer_without_batches_comes_back_without() -> None:
    """It has an epoch from a marker alone."""
    loaded = decode_snapshot(encode_snapshot({1: Producer(epoch=3)}))

    assert loaded is not None
    assert (list(loaded[0][1].batches), loaded[0][1].transaction_start) == ([], -1)


def test_a_snapshot_damaged_anywhere_is_none() -> None:
    """Cut at any byte, or any byte changed."""
    data = encode_snapshot({7: producer()})

    for position in range(len(data)):
        assert decode_snapshot(data[:position]) is None
        assert decode_snapshot(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]) is None


def test_an_empty_snapshot_is_valid() -> None:
    """No producers is something to know, too."""
    assert decode_snapshot(encode_snapshot({})) == []
