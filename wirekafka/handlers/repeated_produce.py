"""Produce requests that are as an earlier one of their connection but for the records: many at a time.

`server.connection` asks for `answers` before it takes the next request, and shows each request that was
answered the usual way. Those at hand that are alike are found by their bytes (`protocol.alike`), and the
plain batches for one partition among them are written by one call (`Partition.begin_run`), before any of
them is answered. The first that is not so, and all behind it, go the usual way, through `produce`, which is
the slow twin: tests hold answers and log to it.

Source: ours; what is answered is what Kafka's KafkaApis.handleProduceRequest would say.
"""

import dataclasses

from wirekafka.broker import MOST_BATCHES, NOT_PLAIN, Partition
from wirekafka.handlers.context import ClientConnection
from wirekafka.handlers.produce import produce
from wirekafka.ids import NO_TOPIC_ID
from wirekafka.metadata import is_internal
from wirekafka.protocol.alike import AlikeProduce, ProduceLikeness, ProduceLikenesses
from wirekafka.protocol.apis.produce import ProduceRequest
from wirekafka.protocol.connection import ReceivedRequest, response_parts
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.framing import FrameBuffer

_OLDEST_VERSION = 7
"""Before it a batch may not be compressed with zstd."""
_ACKS_ALL = -1
_ACKS = (_ACKS_ALL, 0, 1)
_NONE = (0, b"")
_MOST_LIKENESSES = 256
_MOST_CHARACTERS = 512
"""Of client id and topic name together, so that what is known of a peer stays small whatever it sends."""


class _UnderWay:
    """Requests that are alike, and what has become of them so far."""

    __slots__ = ("answers", "done", "found", "writing")

    def __init__(self, found: list[AlikeProduce]) -> None:
        self.found = found
        self.answers: list[bytes] = []
        self.done = 0
        """So many are answered, or have no answer."""
        self.writing = 0
        """So many behind those are being written."""

    def taken(self, frames: FrameBuffer) -> tuple[int, bytes]:
        """Take those that are done; give how many, and their answers."""
        if self.done:
            frames.pass_over(self.found[self.done - 1][3])
        return self.done, b"".join(self.answers)


class RepeatedProduce:
    """What one connection has produced so far, and the answers to more of it."""

    __slots__ = ("_broker", "_likenesses", "_most", "_said", "_under_way")

    def __init__(self, client: ClientConnection) -> None:
        self._broker = client.broker
        self._likenesses = ProduceLikenesses()
        self._most = MOST_BATCHES
        """How many are looked for: one, when the last was not plain: the next may not be either."""
        self._said: set[tuple[object, ...]] = set()
        """What the requests say that have a likeness."""
        self._under_way: _UnderWay | None = None
        """What `answers` is about: if that fails, `answers_after` goes on from there."""

    def answers(self, frames: FrameBuffer) -> tuple[int, bytes]:
        """Take the requests at hand that are alike and plain; give how many, and the frames that answer them.

        Raises CloseConnection for a failed write of what is not answered. When anything else is raised
        nothing is taken, and `answers_after` is to be called.
        """
        found = self._likenesses.find(frames, self._most)
        if not found:
            return _NONE
        self._under_way = under_way = _UnderWay(found)
        now_ms = self._broker.clock.wall_ms()
        while under_way.done < len(found) and (count := self._append(under_way, now_ms)):
            under_way.done += count
            under_way.writing = 0
        self._most = MOST_BATCHES if under_way.done else 1
        self._under_way = None
        return under_way.taken(frames)

    def answers_after(self, error: KafkaError, frames: FrameBuffer) -> tuple[int, bytes]:
        """Give what `answers` would have given, had it not failed in the middle.

        Those of which it is not known how far they were written are answered with the error. Those behind
        them are as they came: they go the usual way. Raises CloseConnection where none is awaited.
        """
        under_way, self._under_way, self._most = self._under_way, None, 1
        if under_way is None:
            return _NONE
        for likeness, correlation_id, _, _ in under_way.found[under_way.done :][: under_way.writing]:
            under_way.answers.append(_refusal(likeness, correlation_id, error))
        under_way.done += under_way.writing
        return under_way.taken(frames)

    def _append(self, under_way: _UnderWay, now_ms: int) -> int:
        """Append the next batches that go to one partition; answer, and give how many."""
        found, first = under_way.found, under_way.done
        likeness = found[first][0]
        if likeness.acks == 0 and under_way.answers:
            return 0  # they go out first: the connection may have to be closed
        partition = self._partition_of(likeness)
        run = partition and partition.begin_run(now_ms=now_ms, acks_all=likeness.acks == _ACKS_ALL)
        if not partition or not run:
            return 0
        taken: list[tuple[int, int]] = []
        for other, correlation_id, records, _ in found[first:] if first else found:
            if other is not likeness or (base_offset := run.take(records)) == NOT_PLAIN:
                break
            taken.append((correlation_id, base_offset))
        if not taken:
            return 0
        under_way.writing = len(taken)
        try:
            partition.end_run(run)
        except KafkaError as error:
            under_way.answers += [_refusal(likeness, correlation_id, error) for correlation_id, _ in taken]
        else:
            if likeness.acks != 0:
                answer, log_start_offset = likeness.answer, partition.log.log_start_offset
                under_way.answers += [
                    answer(correlation_id, offset, log_start_offset) for correlation_id, offset in taken
                ]
        return len(taken)

    def _partition_of(self, likeness: ProduceLikeness) -> Partition | None:
        """Look the partition up; None where there is none, or few may write: `produce` finds out again."""
        partitions, topic = self._broker.partitions, likeness.topic
        try:
            name = topic.name if topic.topic_id == NO_TOPIC_ID else partitions.name_of(topic.topic_id)
            return None if is_internal(name) else partitions.find(name, likeness.partition)
        except KafkaError:
            return None

    def learn(self, request: ReceivedRequest) -> None:
        """Know the likes of a Produce that was answered the usual way, if they can be answered here."""
        message = request.message
        if not isinstance(message, ProduceRequest) or not _may_be_repeated(message, request.version):
            return
        topic = message.topic_data[0]
        if len(request.client_id or "") + len(topic.name) > _MOST_CHARACTERS:
            return
        said = (
            request.version, request.client_id, message.acks, message.timeout_ms,
            topic.name, topic.topic_id, topic.partition_data[0].index,
        )  # fmt: skip
        if said not in self._said and len(self._said) < _MOST_LIKENESSES:
            self._said.add(said)
            self._likenesses.add(ProduceLikeness(request))


def _may_be_repeated(message: ProduceRequest, version: int) -> bool:
    """Whether it is a request for one partition, as any client may send it."""
    if version < _OLDEST_VERSION or message.acks not in _ACKS or message.transactional_id is not None:
        return False
    topics = message.topic_data
    return len(topics) == 1 and len(topics[0].partition_data) == 1


def _refusal(likeness: ProduceLikeness, correlation_id: int, error: KafkaError) -> bytes:
    """The frame that tells of a failed write. Raises CloseConnection where none is awaited."""
    request = dataclasses.replace(likeness.request, correlation_id=correlation_id)
    assert isinstance(request.message, ProduceRequest)
    parts = response_parts(request, produce.refusal(request.message, error))
    return b"".join(part for part in parts if isinstance(part, bytes | bytearray))
