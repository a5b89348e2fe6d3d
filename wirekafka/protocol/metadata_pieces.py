"""The body of a Metadata answer, put together of one piece a topic.

Called by `handlers.metadata`, which keeps the pieces: with thousands of topics, of which one has changed, the
others need not be written anew. Where the topics stand in a body is found out from two that the codec made,
and tests hold what is put together to what it makes.

Source: ours; the forms are those of `apis.metadata`.
"""

from collections.abc import Sequence
from functools import cache

from wirekafka.protocol.apis.metadata import METADATA, MetadataResponse, MetadataResponseTopic
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.compiler import varint_bytes

_WIDTH, _COMPACT_WIDTH = 4, 1
"""Bytes of the count of no topics, or of one."""


def piece_of(topic: MetadataResponseTopic, version: int) -> bytes:
    """What a body has of a topic."""
    before, behind = _bytes_around(version)
    body = _build(version, topic)
    return body[before : len(body) - behind]


def with_topics(response: MetadataResponse, pieces: Sequence[bytes], version: int) -> bytes:
    """The body of an answer with the topics of these pieces. `response` has none."""
    body = codec_for(MetadataResponse, version).build(response)
    at = len(body) - _bytes_around(version)[1]
    count = len(pieces)
    if METADATA.is_flexible(version):
        begin, told = at - _COMPACT_WIDTH, varint_bytes(count + 1)
    else:
        begin, told = at - _WIDTH, count.to_bytes(_WIDTH, "big")
    return b"".join((body[:begin], told, *pieces, body[at:]))


@cache
def _bytes_around(version: int) -> tuple[int, int]:
    """How much stands before the first topic where there are no brokers, and behind the last one."""
    none = _build(version)
    one = _build(version, MetadataResponseTopic(error_code=0, name="", partitions=[]))
    before = 1 + next(at for at in range(len(none)) if none[at] != one[at])  # the count ends there
    return before, len(none) - before


def _build(version: int, *topics: MetadataResponseTopic) -> bytes:
    return codec_for(MetadataResponse, version).build(MetadataResponse(brokers=[], topics=list(topics)))
