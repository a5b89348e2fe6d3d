"""The body of a Fetch answer without errors, written by hand for the versions of today's clients.

Called by `handlers.fetch`. The quick twin of the compiled codec of FetchResponse, to which tests hold it:
seven of a partition's fields are told, and these are one call of `struct`.

v12: topics go by name. v13 to v18: by id. Earlier versions are left to the codec.

Source: Kafka's FetchResponse.json; KIP-482 (compact forms).
"""

import struct
from collections.abc import Sequence, Sized
from itertools import groupby
from typing import NamedTuple

from wirekafka.protocol.compiler import varint_bytes

OLDEST, NEWEST = 12, 18
"""The versions that can be written here."""

_TOP = struct.Struct(">ihi")
_PARTITION = struct.Struct(">ihqqqbi")
_NO_TAGS = b"\0"


class PlainPartition(NamedTuple):
    """What is told of one partition, whose topic is a name or an id."""

    topic: bytes | str
    partition: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    records: Sized


def plain_body(
    session_id: int, partitions: Sequence[PlainPartition], *, aborted_is_null: bool
) -> list[Sized]:
    """The body, neighbours of one topic together: bytes, and what is not bytes, in order.

    No transaction was aborted: none is told, or null where none were asked for.
    """
    out = bytearray(_TOP.pack(0, 0, session_id))
    if len(partitions) == 1:
        out.append(2)
        _begin_topic(out, partitions[0].topic, 1)
        parts, out = _partition(out, partitions[0], aborted_is_null)
        out += _NO_TAGS + _NO_TAGS
        return [*parts, out]
    return _of_several(out, partitions, aborted_is_null)


def _of_several(out: bytearray, partitions: Sequence[PlainPartition], aborted_is_null: bool) -> list[Sized]:
    parts: list[Sized] = []
    topics = [list(group) for _, group in groupby(partitions, key=lambda told: told.topic)]
    out += varint_bytes(len(topics) + 1)
    for of_topic in topics:
        _begin_topic(out, of_topic[0].topic, len(of_topic))
        for told in of_topic:
            before, out = _partition(out, told, aborted_is_null)
            parts += before
        out += _NO_TAGS
    out += _NO_TAGS
    return [*parts, out]


def _begin_topic(out: bytearray, topic: bytes | str, count: int) -> None:
    if isinstance(topic, str):
        name = topic.encode()
        out += varint_bytes(len(name) + 1)
        out += name
    else:
        out += topic
    out += varint_bytes(count + 1)


def _partition(
    out: bytearray, told: PlainPartition, aborted_is_null: bool
) -> tuple[tuple[Sized, ...], bytearray]:
    """Write a partition; give the parts that are closed by it, and the bytes that go on."""
    _, index, high_watermark, stable, start, records = told
    aborted = 0 if aborted_is_null else 1
    out += _PARTITION.pack(index, 0, high_watermark, stable, start, aborted, -1)
    size = len(records)
    out += varint_bytes(size + 1)
    if not size:
        out += _NO_TAGS
        return (), out
    return (out, records), bytearray(_NO_TAGS)
