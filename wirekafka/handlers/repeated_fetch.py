"""Fetch requests that are as an earlier one of their connection but for where the reader is by now.

`server.connection` asks for an answer before it takes the next request, by way of `repeated`, and shows each
request that was answered the usual way. One that is alike is found by its bytes (`protocol.alike`), and
answered if there are records enough and nothing is out of the ordinary; if there are none, it waits as
`fetch` does. Else nothing has been changed, and the request goes the usual way, through `fetch`, which is the
slow twin: tests hold the answers to it.

Source: ours; what is answered is what Kafka's KafkaApis.handleFetchRequest would say.
"""

from collections.abc import Sequence, Sized
from typing import NamedTuple

from wirekafka.broker import (
    NO_SESSION,
    FetchKey,
    FetchLimits,
    FetchPlan,
    FetchSession,
    Partition,
    read_one_plainly,
)
from wirekafka.handlers.context import ClientConnection, RequestContext
from wirekafka.handlers.fetch import Fetching
from wirekafka.handlers.registry import Later
from wirekafka.protocol.alike import AlikeFetch, FetchLikeness, FetchLikenesses, may_be_repeated
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchResponse
from wirekafka.protocol.connection import ReceivedRequest
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.framing import FrameBuffer
from wirekafka.protocol.plain_fetch import PlainPartition

_NO_SESSION_EPOCH = -1
_MOST_CHARACTERS = 512
"""Of client id, cluster id, rack and topic name together, so that what is known of a peer stays small."""
_MOST_SAID = 64


class Waiting(NamedTuple):
    """A request that was not parsed, and is answered when there is more."""

    request: ReceivedRequest
    later: Later[FetchResponse]


class RepeatedFetch:
    """What one connection has fetched so far, and the answers to more of it."""

    __slots__ = ("_broker", "_client", "_likenesses", "_said", "_was_like")

    def __init__(self, client: ClientConnection) -> None:
        self._client, self._broker = client, client.broker
        self._likenesses = FetchLikenesses()
        self._said: set[tuple[object, ...]] = set()
        """What was said once, and is to be known when it is said again."""
        self._was_like = False
        """Whether the last request asked for is known, be it answered or not."""

    def answer(self, frames: FrameBuffer) -> Sequence[Sized] | Waiting | None:
        """Take the request at hand if it is alike and plain; give the frame that answers it, in parts.

        Or what has to be waited for.
        """
        found = self._likenesses.find(*frames.unread())
        self._was_like = found is not None
        if found is None:
            return None
        answer = self._answer(found)
        if answer is not None:
            frames.pass_over(found.end)
        return answer

    def _answer(self, found: AlikeFetch) -> Sequence[Sized] | Waiting | None:
        likeness, epoch = found.likeness, found.session_epoch
        message, wanted = likeness.message, likeness.wanted
        key = FetchKey(likeness.topic, wanted.partition)
        session = None
        if message.session_id != NO_SESSION:
            session = self._broker.fetch_sessions.next_of(message.session_id, epoch)
            if (
                session is None
                or not session.reading.has_nothing_besides(key)
                or key not in session.partitions
            ):
                return None
            partition = session.partitions[key].found
        else:
            partition = self._find(key) if epoch == _NO_SESSION_EPOCH else None
        wanted.fetch_offset = found.fetch_offset
        max_bytes = min(message.max_bytes, self._broker.settings.get_int("fetch.max.bytes"))
        told = read_one_plainly(
            key,
            partition,
            wanted,
            min(wanted.partition_max_bytes, max_bytes),
            committed_only=likeness.committed_only,
            is_first=True,
        )
        if told is None:
            return None
        if 0 < len(told.records) >= min(message.min_bytes, max_bytes):
            if session is not None:
                self._go_on(session, key, wanted, told)
            return likeness.answer(found.correlation_id, told)
        if told.records or message.max_wait_ms <= 0:
            return None
        if session is None:
            plan = FetchPlan.of({key: wanted}, by_topic_id=isinstance(key.topic, bytes))
            plan.partitions[key].found = partition
        else:
            session.reading.want(key, wanted)
            plan = self._broker.fetch_sessions.plan_next(session, self._broker.clock.now_ms())
        return self._wait(found, plan, max_bytes)

    def _wait(self, found: AlikeFetch, plan: FetchPlan, max_bytes: int) -> Waiting:
        """Have it wait; there is nothing now."""
        likeness = found.likeness
        message, request = likeness.message, likeness.request
        limits = FetchLimits(
            min_bytes=min(message.min_bytes, max_bytes),
            max_bytes=max_bytes,
            max_wait_ms=message.max_wait_ms,
            committed_only=likeness.committed_only,
        )
        context = RequestContext(self._client, request.version, request.client_id)
        received = ReceivedRequest(
            request.api, request.version, found.correlation_id, request.client_id, message
        )
        return Waiting(received, Fetching(plan, limits, context).later(dict.fromkeys(plan.partitions, 0)))

    def _find(self, key: FetchKey) -> Partition | None:
        """The partition; None where there is none: `fetch` finds out why."""
        partitions, topic = self._broker.partitions, key.topic
        try:
            if isinstance(topic, str):
                return partitions.find(topic, key.partition)
            partition = partitions.find(partitions.name_of(topic), key.partition)
        except KafkaError:
            return None
        return partition if partition.log.topic_id == topic else None

    def _go_on(
        self, session: FetchSession, key: FetchKey, wanted: FetchPartition, told: PlainPartition
    ) -> None:
        """Have the session take note of what it is told, as the usual way does."""
        session.reading.want(key, wanted)
        self._broker.fetch_sessions.go_on(session, self._broker.clock.now_ms())
        session.must_tell_plain(session.partitions[key], told, has_records=True)

    def learn(self, request: ReceivedRequest) -> None:
        """Know the likes of a Fetch that was answered the usual way, from its second time on."""
        message = request.message
        if self._was_like or not isinstance(message, FetchRequest):
            return
        if not may_be_repeated(message, request.version) or _characters(message, request) > _MOST_CHARACTERS:
            return
        said = _said(message, request)
        if said not in self._said:
            if len(self._said) == _MOST_SAID:
                self._said.clear()
            self._said.add(said)
        else:
            self._likenesses.add(FetchLikeness(request))


def _characters(message: FetchRequest, request: ReceivedRequest) -> int:
    texts = (request.client_id, message.cluster_id, message.rack_id, message.topics[0].topic)
    return sum(len(text) for text in texts if text is not None)


def _said(message: FetchRequest, request: ReceivedRequest) -> tuple[object, ...]:
    """What makes it likely that the next is alike; what is left out is found out by the bytes."""
    (topic,) = message.topics
    (wanted,) = topic.partitions
    return request.version, message.session_id, topic.topic, topic.topic_id, wanted.partition
