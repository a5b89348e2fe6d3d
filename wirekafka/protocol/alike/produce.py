"""Produce requests that say what an earlier one said but for their records, told by comparing bytes.

A producer of one partition sends the same bytes over and over: all that changes is the length, the
correlation id and the records. So what stands between those two is kept (`ProduceLikeness`), and a request
that has it is not parsed: a slice and a look into a dict find its records, or when it has the length of the
one before it, one call that takes it to pieces. The answer to it is kept likewise, with places for the
correlation id and the offsets. Both are made by the codec, from the first such request, and tests hold them
to it: a request that has the bytes would be parsed to the same values, an answer is the bytes that would be
built. Whatever looks otherwise, be it a header with tagged fields, is left to the codec.

Called by `handlers.repeated_produce`.

Source: ours; the forms are those of `apis.produce`.
"""

import struct

from wirekafka.protocol.alike.frames import first_difference, request_frame, response_frame
from wirekafka.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from wirekafka.protocol.compiler import rest_of_varint
from wirekafka.protocol.connection import ReceivedRequest
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.framing import LENGTH_BYTES, FrameBuffer

_HEAD = struct.Struct(">iIi")
"""Length, key and version, correlation id."""
_HEAD_BYTES = _HEAD.size
_LENGTH = struct.Struct(">i")
_NO_TIME = -1
_NO_TAGS = bytes(3)
"""Behind the records of a flexible version: no tagged fields of the partition, the topic, the request."""
_LEAST_BYTES = 8
"""What a length in any form and what stands behind the records may take; records of one byte are none."""
_NONE = (0, 0)
_MOST_LENGTHS = 4


class ProduceLikeness:
    """What the requests to one partition have in common; made from one of them.

    `start` is what stands between the correlation id and the length of the records.
    """

    __slots__ = (
        "_after_offsets",
        "_answer",
        "_before_offsets",
        "_length",
        "acks",
        "is_flexible",
        "key_and_version",
        "partition",
        "request",
        "start",
        "topic",
    )

    def __init__(self, request: ReceivedRequest) -> None:
        """`request` is a Produce for one partition, of v5 or newer, whose answers have a start offset."""
        message = request.message
        assert isinstance(message, ProduceRequest)
        (self.topic,) = message.topic_data
        self.partition = self.topic.partition_data[0].index
        self.acks = message.acks
        empty, null = (_with_records(request, records) for records in (memoryview(b""), None))
        self.request = null
        """Such a request without its records."""
        self.topic = _topic_of(null)
        self.is_flexible = request.api.is_flexible(request.version)
        self.key_and_version = request.api.key << 16 | request.version
        self.start = _start_of(empty, null)
        self._keep_answer()

    def _keep_answer(self) -> None:
        first, other = (_answer(self, log_start_offset) for log_start_offset in (0, -1))
        at = first_difference(first, other)
        self._before_offsets, self._after_offsets = first[2 * _LENGTH.size : at - 16], first[at + 8 :]
        form = struct.Struct(f">ii{len(self._before_offsets)}sqqq{len(self._after_offsets)}s")
        self._answer = form.pack
        self._length = form.size - LENGTH_BYTES

    def answer(self, correlation_id: int, base_offset: int, log_start_offset: int) -> bytes:
        """The frame that says where a batch went, to which the log has given no time of its own."""
        return self._answer(
            self._length,
            correlation_id,
            self._before_offsets,
            base_offset,
            _NO_TIME,
            log_start_offset,
            self._after_offsets,
        )

    def bounds_of_records(self, view: memoryview, at: int, stop: int) -> tuple[int, int]:
        """Where the records are in a frame that has its `start` up to `at`, and ends at `stop`.

        Two places one of which is not behind the other where there are none, or not these alone.
        """
        if stop - at < _LEAST_BYTES:
            return _NONE
        if not self.is_flexible:
            first = at + _LENGTH.size
            length: int = _LENGTH.unpack_from(view, at)[0]
            return (first, stop) if first + length == stop else _NONE
        count = view[at]
        at += 1
        if count >= 0x80:
            try:
                count, at = rest_of_varint(view, at, count)
            except MalformedMessage:
                return _NONE
        last = at + count - 1
        return (at, last) if view[last:stop] == _NO_TAGS else _NONE


AlikeProduce = tuple[ProduceLikeness, int, memoryview, int]
"""A request that is like an earlier one: its correlation id, its records, which are a view of the buffer, and
where the next frame begins, to be given to `FrameBuffer.pass_over`."""


class _Form:
    """What requests of one likeness and length have in common: where everything is, too."""

    __slots__ = ("first", "last", "likeness", "said", "size", "unpack")

    def __init__(self, likeness: ProduceLikeness, view: memoryview, first: int, last: int) -> None:
        """Made from one that begins where `view` does, with the places of its records in it."""
        size = LENGTH_BYTES + _LENGTH.unpack_from(view)[0]
        pieces = struct.Struct(f">8si{first - _HEAD_BYTES}s{last - first}x{size - last}s")
        self.unpack = pieces.unpack_from
        head, _, start, behind = self.unpack(view)
        self.said = head, start, behind
        self.likeness, self.first, self.last, self.size = likeness, first, last, size


class ProduceLikenesses:
    """Those that are known, found by their starts."""

    __slots__ = ("_by_start", "_form", "_last", "_lengths")

    def __init__(self) -> None:
        self._by_start: dict[bytes, ProduceLikeness] = {}
        self._lengths: tuple[int, ...] = ()
        self._form: _Form | None = None
        self._last: tuple[ProduceLikeness | None, int] = (None, 0)
        """Which one was found last, and its length; when both come again they have a form."""

    def add(self, likeness: ProduceLikeness) -> None:
        """Know one more; the fifth length of a start is one too many, and passed over."""
        length = len(likeness.start)
        if length not in self._lengths:
            if len(self._lengths) == _MOST_LENGTHS:
                return
            self._lengths += (length,)
        self._by_start[likeness.start] = likeness

    def find(self, frames: FrameBuffer, most: int) -> list[AlikeProduce]:
        """The requests at hand, at most so many, up to the first that is like none, or not all there.

        Nothing is taken.
        """
        found: list[AlikeProduce] = []
        if not self._lengths:
            return found
        view, position, end = frames.unread()
        end_of_largest = LENGTH_BYTES + frames.max_frame_bytes
        while end - position > _HEAD_BYTES and len(found) < most:
            form = self._form
            if form is not None and position + form.size <= end:
                head, correlation_id, start, behind = form.unpack(view, position)
                if (head, start, behind) == form.said:
                    records = view[position + form.first : position + form.last]
                    position += form.size
                    found.append((form.likeness, correlation_id, records, position))
                    continue
                self._form = None
            one = self._find_one(view, position, min(end, position + end_of_largest))
            if one is None:
                break
            found.append(one)
            position = one[3]
        return found

    def _find_one(self, view: memoryview, position: int, end: int) -> AlikeProduce | None:
        length, key_and_version, correlation_id = _HEAD.unpack_from(view, position)
        stop = position + LENGTH_BYTES + length
        if not position < stop <= end:
            return None
        likeness, at = self._like(view, position + _HEAD_BYTES)
        if likeness is None or likeness.key_and_version != key_and_version:
            return None
        first, last = likeness.bounds_of_records(view, at, stop)
        if first >= last:
            return None
        said = likeness, length
        if said == self._last:
            self._form = _Form(likeness, view[position:stop], first - position, last - position)
        self._last = said
        return likeness, correlation_id, view[first:last], stop

    def _like(self, view: memoryview, start: int) -> tuple[ProduceLikeness | None, int]:
        """The likeness that has the bytes from `start` on, and where they end."""
        for length in self._lengths:
            end = start + length
            likeness = self._by_start.get(bytes(view[start:end]))
            if likeness is not None:
                return likeness, end
        return None, start


def _with_records(request: ReceivedRequest, records: memoryview | None) -> ReceivedRequest:
    """The request with other records, or none."""
    message = request.message
    assert isinstance(message, ProduceRequest)
    (topic,) = message.topic_data
    (partition,) = topic.partition_data
    data = PartitionProduceData(index=partition.index, records=records)
    other = ProduceRequest(
        transactional_id=message.transactional_id,
        acks=message.acks,
        timeout_ms=message.timeout_ms,
        topic_data=[TopicProduceData(name=topic.name, topic_id=topic.topic_id, partition_data=[data])],
    )
    return ReceivedRequest(request.api, request.version, 0, request.client_id, other)


def _topic_of(request: ReceivedRequest) -> TopicProduceData:
    assert isinstance(request.message, ProduceRequest)
    return request.message.topic_data[0]


def _start_of(empty: ReceivedRequest, null: ReceivedRequest) -> bytes:
    """What the two have in common behind the correlation id: they differ from the records' length on."""
    one, other = (request_frame(request)[LENGTH_BYTES:] for request in (empty, null))
    return one[_HEAD_BYTES - LENGTH_BYTES : first_difference(one, other)]


def _answer(likeness: ProduceLikeness, log_start_offset: int) -> bytes:
    partition = PartitionProduceResponse(
        index=likeness.partition, error_code=0, base_offset=0, log_start_offset=log_start_offset
    )
    topic = TopicProduceResponse(
        name=likeness.topic.name, topic_id=likeness.topic.topic_id, partition_responses=[partition]
    )
    return response_frame(likeness.request, ProduceResponse(responses=[topic]))
