"""Fetch requests for one partition that say what an earlier one said, but for where the reader is by now.

A consumer that reads a partition sends the same bytes over and over: all that changes is the correlation id,
the epoch of its session and the offset, each of which has a fixed place. So the bytes around these are kept
(`FetchLikeness`), and a request that has them is not parsed. Of the answer to it all but the watermarks and
the records is kept likewise. Both are made by the codec, from the first such request, and tests hold them to
it. `alike.produce` is the same for Produce.

Called by `handlers.repeated_fetch`.

Source: ours; the forms are those of `apis.fetch`.
"""

import struct
from collections.abc import Callable, Sized
from typing import Any, NamedTuple

from wirekafka.protocol.alike.frames import first_difference, request_frame, response_frame
from wirekafka.protocol.apis.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from wirekafka.protocol.compiler import varint_bytes
from wirekafka.protocol.connection import ReceivedRequest, parse_request
from wirekafka.protocol.framing import LENGTH_BYTES
from wirekafka.protocol.plain_fetch import NEWEST, OLDEST, PlainPartition

_LENGTH = struct.Struct(">i")
_HEAD_BYTES = 12
"""Length, key and version, correlation id."""
_EPOCH_BYTES, _OFFSET_BYTES, _WATERMARKS_BYTES = 4, 8, 24
_NO_RECORDS = b"\1"
_NO_TAGS = bytes(3)
"""Behind the records: no tagged fields of the partition, the topic, the answer."""
_READ_COMMITTED = 1
_NO_REPLICA = -1
_MOST_LIKENESSES = 64


def may_be_repeated(message: FetchRequest, version: int) -> bool:
    """Whether a request asks for one partition and nothing besides, in a form that is answered plainly."""
    topics = message.topics
    return (
        OLDEST <= version <= NEWEST
        and len(topics) == 1
        and len(topics[0].partitions) == 1
        and not message.forgotten_topics_data
        and message.replica_id == message.replica_state.replica_id == _NO_REPLICA
    )


class FetchLikeness:
    """What such fetches have in common; made from one of them, of which `may_be_repeated` is true.

    `message` is the likeness's own, with `wanted` in it, and may be changed.
    """

    __slots__ = ("_before", "_between", "_pack", "_size_bytes", "message", "request", "topic", "wanted")

    def __init__(self, request: ReceivedRequest) -> None:
        self.request = parse_request(memoryview(request_frame(request))[LENGTH_BYTES:])
        """A copy of the request."""
        assert isinstance(self.request.message, FetchRequest)
        self.message = self.request.message
        (topic,) = self.message.topics
        self.topic: bytes | str = topic.topic or topic.topic_id
        (self.wanted,) = topic.partitions
        self._keep_answer()

    @property
    def committed_only(self) -> bool:
        return self.message.isolation_level == _READ_COMMITTED

    def _keep_answer(self) -> None:
        first, other = (self._answer_with(watermark) for watermark in (0, -1))
        at = first_difference(first, other)
        self._before = first[2 * LENGTH_BYTES : at]
        self._between = first[at + _WATERMARKS_BYTES : -len(_NO_RECORDS + _NO_TAGS)]
        form = struct.Struct(f">ii{len(self._before)}sqqq{len(self._between)}s")
        self._pack = form.pack
        self._size_bytes = form.size - LENGTH_BYTES + len(_NO_TAGS)

    def _answer_with(self, watermark: int) -> bytes:
        """An answer without records, all of whose watermarks are one number."""
        (topic,) = self.message.topics
        partition = PartitionData(
            partition_index=self.wanted.partition,
            error_code=0,
            high_watermark=watermark,
            last_stable_offset=watermark,
            log_start_offset=watermark,
            aborted_transactions=[] if self.committed_only else None,
            records=b"",
        )
        told = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=[partition])
        answer = FetchResponse(throttle_time_ms=0, session_id=self.message.session_id, responses=[told])
        return response_frame(self.request, answer)

    def answer(self, correlation_id: int, told: PlainPartition) -> tuple[bytes, Sized, bytes]:
        """The frame that tells of the partition, in three parts: the records are the second."""
        _, _, high_watermark, stable, start, records = told
        size = varint_bytes(len(records) + 1)
        head = self._pack(
            self._size_bytes + len(size) + len(records),
            correlation_id,
            self._before,
            high_watermark,
            stable,
            start,
            self._between,
        )
        return head + size, records, _NO_TAGS

    def frame_with(self, number: int) -> bytes:
        """Such a request that has one number for its session's epoch and for its offset."""
        self.message.session_epoch = self.wanted.fetch_offset = number
        return request_frame(self.request)


class AlikeFetch(NamedTuple):
    """A request that is like an earlier one; `end` is where the next frame begins."""

    likeness: FetchLikeness
    correlation_id: int
    session_epoch: int
    fetch_offset: int
    end: int


_Around = tuple[bytes, bytes, bytes, bytes]
"""Key and version; what stands before the session's epoch, between it and the offset, and behind."""
_Form = tuple[Callable[[memoryview, int], tuple[Any, ...]], dict[_Around, FetchLikeness]]
"""Takes a frame to pieces; those that are known whose frames fall into such pieces."""


class FetchLikenesses:
    """Those that are known, found by the bytes around what changes."""

    __slots__ = ("_count", "_forms")

    def __init__(self) -> None:
        self._forms: dict[int, dict[str, _Form]] = {}
        """By the length that stands before a frame, and by the pieces."""
        self._count = 0

    def add(self, likeness: FetchLikeness) -> None:
        """Know one more. When there are too many all others are forgotten: of sessions that have ended."""
        if self._count == _MOST_LIKENESSES:
            self._forms.clear()
            self._count = 0
        frame, pieces = _pieces(likeness)
        forms = self._forms.setdefault(len(frame) - LENGTH_BYTES, {})
        unpack, known = forms.setdefault(pieces, (struct.Struct(pieces).unpack_from, {}))
        key_and_version, _, before, _, between, _, last = unpack(memoryview(frame), 0)
        known[key_and_version, before, between, last] = likeness
        self._count += 1

    def find(self, view: memoryview, start: int, end: int) -> AlikeFetch | None:
        """The request that begins at `start`, if it is all there before `end` and like one that is known."""
        if end - start < LENGTH_BYTES:
            return None
        (length,) = _LENGTH.unpack_from(view, start)
        forms = self._forms.get(length)
        stop = start + LENGTH_BYTES + length
        if forms is None or stop > end:
            return None
        for unpack, known in forms.values():
            key_and_version, correlation_id, before, epoch, between, offset, last = unpack(view, start)
            likeness = known.get((key_and_version, before, between, last))
            if likeness is not None:
                return AlikeFetch(likeness, correlation_id, epoch, offset, stop)
        return None


def _pieces(likeness: FetchLikeness) -> tuple[bytes, str]:
    """A frame of it, and the form by which `struct` takes it to pieces, its length left out."""
    frame, other = (likeness.frame_with(number) for number in (0, -1))
    epoch_at = first_difference(frame, other, _HEAD_BYTES)
    between_at = epoch_at + _EPOCH_BYTES
    offset_at = first_difference(frame, other, between_at)
    last_at = offset_at + _OFFSET_BYTES
    before, between, last = epoch_at - _HEAD_BYTES, offset_at - between_at, len(frame) - last_at
    return frame, f">4x4si{before}si{between}sq{last}s"
