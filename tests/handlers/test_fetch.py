"""Fetch over TCP, in every form, held against Kafka 4.4."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from trio.testing import MockClock

from tests.handlers.one_topic import NOW_MS, TOPIC_ID, a_topic, joined
from tests.handlers.one_topic import Topic as OneTopic
from tests.handlers.support import NO_ID, UNKNOWN_ID, batch, new_topic, produce
from tests.support.raw_client import RawClient, parse_response, request_frame
from tests.support.requests import create_topic
from wirekafka.broker import FetchKey, FetchLimits, FetchPlan, Partition
from wirekafka.broker.fetching import _read_all, failed_fetch
from wirekafka.handlers import HANDLERS, Later, RequestContext
from wirekafka.handlers.fetch import _OLDEST_WITH_STORAGE_ERROR, _say_not_leader
from wirekafka.ids import TopicPartition
from wirekafka.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.fetch import (
    FETCH,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from wirekafka.protocol.connection import ReceivedRequest, response_parts
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import batches_in, decode_records
from wirekafka.storage import FileSlice, LogConfig
from wirekafka.testing import running_broker

MUCH = 1 << 20
every_form = pytest.mark.parametrize("version", [4, 5, 7, 9, 11, 12, 13, 15, 16, 17, 18])
session_forms = pytest.mark.parametrize("version", [7, 12, 13, 18])
Topic = tuple[str, bytes]


def wanted(topic: Topic, *partitions: FetchPartition) -> FetchTopic:
    return FetchTopic(topic=topic[0], topic_id=topic[1], partitions=list(partitions))


def at(offset: int, partition: int = 0, max_bytes: int = MUCH, **more: Any) -> FetchPartition:
    return FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes, **more)


def fetch(raw: RawClient, version: int, *topics: FetchTopic, **more: Any) -> Any:
    request = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": MUCH, **more}
    return raw.ask(FetchRequest(topics=list(topics), **request), version)


def only(answer: Any) -> Any:
    [topic] = answer.responses
    [partition] = topic.partitions
    return partition


def offsets(data: Any) -> list[int]:
    """The offsets of the records that came."""
    return [record.offset for one in batches_in(bytes(data.records)) for record in decode_records(one)]


@pytest.fixture
def topic(raw: RawClient) -> Topic:
    """Two partitions; the first has three batches of two records."""
    made = new_topic(raw, partitions=2)
    for _ in range(3):
        produce(raw, made, batch(2))
    return made


@every_form
def test_records_come_from_the_batch_that_holds_the_offset(
    raw: RawClient, topic: Topic, version: int
) -> None:
    """Clients pass over what is before it."""
    data = only(fetch(raw, version, wanted(topic, at(3))))

    assert offsets(data) == [2, 3, 4, 5]
    assert (data.error_code, data.high_watermark, data.last_stable_offset) == (0, 6, 6)
    assert data.log_start_offset == (-1 if version < 5 else 0)
    assert (data.aborted_transactions, data.preferred_read_replica) == (None, -1)


@every_form
def test_answer_names_the_topic_as_the_request_does(raw: RawClient, topic: Topic, version: int) -> None:
    [answered] = fetch(raw, version, wanted(topic, at(0))).responses

    assert (answered.topic, answered.topic_id) == ((topic[0], NO_ID) if version < 13 else ("", topic[1]))


@every_form
def test_end_of_the_log_is_empty_and_never_null(raw: RawClient, topic: Topic, version: int) -> None:
    """Clients fail at null records."""
    data = only(fetch(raw, version, wanted(topic, at(6))))

    assert (data.error_code, bytes(data.records)) == (0, b"")


@every_form
@pytest.mark.parametrize("offset", [-1, 7])
def test_offset_out_of_range(raw: RawClient, topic: Topic, version: int, offset: int) -> None:
    data = only(fetch(raw, version, wanted(topic, at(offset)), max_wait_ms=5000, min_bytes=1))

    assert (data.error_code, data.high_watermark, data.last_stable_offset) == (1, -1, -1)
    assert (bytes(data.records), data.aborted_transactions) == (b"", None)


@every_form
def test_unknown_partition(raw: RawClient, topic: Topic, version: int) -> None:
    data = only(fetch(raw, version, wanted(topic, at(0, 9)), max_wait_ms=5000, min_bytes=1))

    assert (data.partition_index, data.error_code) == (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert (bytes(data.records), data.aborted_transactions) == (b"", [])


@every_form
@pytest.mark.parametrize("unknown", [("nowhere", UNKNOWN_ID), ("", NO_ID)])
def test_unknown_topic(raw: RawClient, version: int, unknown: Topic) -> None:
    """By id it is another code, and per partition."""
    answer = fetch(raw, version, wanted(unknown, at(0)))

    expected = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if version < 13 else ErrorCode.UNKNOWN_TOPIC_ID
    assert (answer.error_code, only(answer).error_code) == (0, expected)


@every_form
def test_nothing_asked_is_answered_at_once(raw: RawClient, topic: Topic, version: int) -> None:
    assert fetch(raw, version, max_wait_ms=5000, min_bytes=1).responses == []
    assert fetch(raw, version, wanted(topic), max_wait_ms=5000, min_bytes=1).responses == []


@every_form
def test_first_batch_comes_whole_and_no_other_does(raw: RawClient, topic: Topic, version: int) -> None:
    """KIP-74."""
    produce(raw, topic, batch(2), partition=1)

    answer = fetch(raw, version, wanted(topic, at(0, 0, 1), at(0, 1, 1)))
    by_request = fetch(raw, version, wanted(topic, at(0, 0), at(0, 1)), max_bytes=1)

    for one in (answer, by_request):
        assert [offsets(data) for data in one.responses[0].partitions] == [[0, 1], []]


@every_form
def test_read_committed_is_told_of_aborted_transactions(raw: RawClient, topic: Topic, version: int) -> None:
    data = only(fetch(raw, version, wanted(topic, at(0)), isolation_level=1))

    assert (offsets(data), data.aborted_transactions) == ([0, 1, 2, 3, 4, 5], [])


@every_form
def test_followers_are_refused(raw: RawClient, topic: Topic, version: int) -> None:
    """The broker is alone; Kafka says the same to a replica it does not know."""
    replica = {"replica_id": 7} if version < 15 else {"replica_state": ReplicaState(replica_id=7)}

    assert only(fetch(raw, version, wanted(topic, at(0)), **replica)).error_code == 6


@pytest.mark.parametrize("version", [9, 12, 13, 18])
@pytest.mark.parametrize(("epoch", "code"), [(-1, 0), (0, 0), (1, ErrorCode.UNKNOWN_LEADER_EPOCH), (-2, 0)])
def test_leader_epochs_since_v9(raw: RawClient, topic: Topic, version: int, epoch: int, code: int) -> None:
    """KIP-320."""
    assert only(fetch(raw, version, wanted(topic, at(0, current_leader_epoch=epoch)))).error_code == code


@pytest.mark.parametrize("version", [12, 18])
def test_divergence_since_v12(raw: RawClient, topic: Topic, version: int) -> None:
    """KIP-595: a reader beyond the end of its epoch is told where that is."""
    data = only(fetch(raw, version, wanted(topic, at(9, last_fetched_epoch=0))))
    same = only(fetch(raw, version, wanted(topic, at(4, last_fetched_epoch=0))))
    empty = only(fetch(raw, version, wanted(topic, at(0, 1, last_fetched_epoch=0))))
    unknown = only(fetch(raw, version, wanted(topic, at(4, last_fetched_epoch=5))))

    assert (data.error_code, data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 0, 6)
    assert bytes(data.records) == b""
    assert (offsets(same), same.diverging_epoch.end_offset) == ([4, 5], -1)
    assert (empty.error_code, empty.diverging_epoch.end_offset) == (0, -1)
    assert unknown.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(("version", "code"), [(4, 6), (5, 6), (6, 56), (13, 56)])
def test_storage_error_has_another_name_before_v6(version: int, code: int) -> None:
    """Older clients do not know KAFKA_STORAGE_ERROR; on NOT_LEADER_OR_FOLLOWER they ask again."""
    data = failed_fetch(0, ErrorCode.KAFKA_STORAGE_ERROR)
    if version < _OLDEST_WITH_STORAGE_ERROR:
        _say_not_leader([data])

    assert data.error_code == code


def test_broker_has_a_limit_of_its_own() -> None:
    """fetch.max.bytes, whatever a client asks for."""
    with (
        running_broker(settings={"fetch.max.bytes": "1024"}) as broker,
        RawClient(broker.bootstrap) as raw,
    ):
        made = new_topic(raw)
        for _ in range(3):
            produce(raw, made, batch(value=b"v" * 500))

        data = only(fetch(raw, 12, wanted(made, at(0)), min_bytes=MUCH, max_wait_ms=5000))

    assert len(data.records) == 1024


class Session:
    """One fetch session, over one topic."""

    def __init__(self, raw: RawClient, topic: Topic, version: int) -> None:
        self.raw, self.topic, self.version = raw, topic, version
        self.id = 0
        self.epoch = 0

    def fetch(self, *partitions: FetchPartition, forget: tuple[int, ...] = (), **more: Any) -> Any:
        """The next fetch of the session."""
        forgotten = ForgottenTopic(topic=self.topic[0], topic_id=self.topic[1], partitions=list(forget))
        named = {"session_id": self.id, "session_epoch": self.epoch, **more}
        answer = fetch(
            self.raw,
            named.pop("version", self.version),
            *([wanted(self.topic, *partitions)] if partitions else []),
            forgotten_topics_data=[forgotten] if forget else [],
            **named,
        )
        if not answer.error_code:
            self.id, self.epoch = answer.session_id, self.epoch + 1
        return answer


def told(answer: Any) -> list[tuple[int, int]]:
    """Partition and error code of each that the answer tells of."""
    return [
        (data.partition_index, data.error_code) for topic in answer.responses for data in topic.partitions
    ]


@session_forms
def test_session_tells_only_what_is_new(raw: RawClient, topic: Topic, version: int) -> None:
    """KIP-227."""
    session = Session(raw, topic, version)

    opened = session.fetch(at(6), at(0, 1))
    quiet = session.fetch()
    produce(raw, topic, batch(), partition=1)
    news = session.fetch()
    moved = session.fetch(at(1, 1))

    assert opened.session_id > 0
    assert [told(one) for one in (opened, quiet, news, moved)] == [[(0, 0), (1, 0)], [], [(1, 0)], []]
    assert {one.session_id for one in (quiet, news, moved)} == {opened.session_id}


@session_forms
def test_session_wakes_on_records_of_any_of_its_partitions(
    raw: RawClient, topic: Topic, version: int
) -> None:
    """A fetch that names no partition waits for all of the session's."""
    session = Session(raw, topic, version)
    session.fetch(at(6), at(0, 1))
    produce(raw, topic, batch(), partition=1)

    assert told(session.fetch(max_wait_ms=5000, min_bytes=1)) == [(1, 0)]


@session_forms
def test_error_of_a_session_is_told_until_it_ends(raw: RawClient, topic: Topic, version: int) -> None:
    session = Session(raw, topic, version)
    session.fetch(at(99))

    again = session.fetch()
    mended = session.fetch(at(6))
    quiet = session.fetch()

    assert [told(one) for one in (again, mended, quiet)] == [[(0, 1)], [(0, 0)], []]


@session_forms
def test_session_forgets_and_ends_empty(raw: RawClient, topic: Topic, version: int) -> None:
    session = Session(raw, topic, version)
    session.fetch(at(0), at(0, 1))

    forgot = session.fetch(forget=(0, 5))
    ended = session.fetch(forget=(1,))

    assert told(forgot) == []
    assert (told(ended), ended.session_id, ended.error_code) == ([], 0, 0)


@session_forms
def test_session_errors_answer_the_whole(raw: RawClient, topic: Topic, version: int) -> None:
    session = Session(raw, topic, version)
    session.fetch(at(0))

    unknown = session.fetch(session_id=session.id ^ 1)
    stale = session.fetch(session_epoch=9)
    other_form = session.fetch(version=12 if version >= 13 else 13)

    assert [one.error_code for one in (unknown, stale, other_form)] == [
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    ]
    assert all((one.session_id, one.responses) == (0, []) for one in (unknown, stale, other_form))
    assert session.fetch().error_code == 0


@session_forms
def test_session_is_closed_by_the_final_epoch(raw: RawClient, topic: Topic, version: int) -> None:
    session = Session(raw, topic, version)
    opened = session.fetch(at(0)).session_id

    closing = session.fetch(at(0), session_epoch=-1)

    assert (closing.session_id, told(closing)) == (0, [(0, 0)])
    assert (
        session.fetch(session_id=opened, session_epoch=1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    )


@session_forms
def test_session_without_partitions_may_be_opened(raw: RawClient, topic: Topic, version: int) -> None:
    session = Session(raw, topic, version)

    opened = session.fetch()
    added = session.fetch(at(0))

    assert opened.session_id > 0
    assert (told(added), added.session_id) == ([(0, 0)], opened.session_id)


def delete(raw: RawClient, topic: Topic) -> None:
    state = DeleteTopicState(name=topic[0], topic_id=NO_ID)
    raw.ask(DeleteTopicsRequest(topics=[state], timeout_ms=1000), 6)


@session_forms
def test_deleted_topic_is_an_error_of_its_session(raw: RawClient, version: int) -> None:
    """By its name, which the session has kept, when it has gone by id too."""
    topic = new_topic(raw)
    session = Session(raw, topic, version)
    session.fetch(at(0))
    delete(raw, topic)

    gone = session.fetch(max_wait_ms=5000, min_bytes=1)

    assert told(gone) == [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]


@session_forms
def test_topic_made_anew_is_another_to_a_session_by_id(raw: RawClient, version: int) -> None:
    topic = new_topic(raw)
    session = Session(raw, topic, version)
    session.fetch(at(0))
    delete(raw, topic)
    create_topic(raw, topic[0])

    other = session.fetch(max_wait_ms=5000, min_bytes=0)

    expected = ErrorCode.NONE if version < 13 else ErrorCode.INCONSISTENT_TOPIC_ID
    assert told(other) in ([(0, expected)], [] if not expected else None)


@session_forms
def test_busy_partition_does_not_starve_the_others_of_its_session(raw: RawClient, version: int) -> None:
    """What was served goes to the end, so that each partition has its turn under max_bytes.

    As in Kafka the first answer, which opens the session, leaves the order as it was asked for.
    """
    topic = new_topic(raw, partitions=3)
    for partition in (0, 0, 0, 0, 0, 0, 1, 2):
        produce(raw, topic, batch(1), partition=partition)
    session = Session(raw, topic, version)
    at_offset = {0: 0, 1: 0, 2: 0}
    served: list[int] = []

    for _ in range(6):
        answer = session.fetch(
            *(at(offset, partition) for partition, offset in at_offset.items()), max_bytes=1
        )
        for data in (data for answered in answer.responses for data in answered.partitions if data.records):
            served.append(data.partition_index)
            at_offset[data.partition_index] += 1

    assert served == [0, 0, 1, 2, 0, 0]


# --- the plain way and its twin, the waiting between


@contextlib.contextmanager
def every_message_made() -> Iterator[None]:
    """Have all fetches answered by the handler's own function, as those that are not plain are."""
    plain = HANDLERS[FETCH.key]
    HANDLERS[FETCH.key] = dataclasses.replace(plain, at_once=None)
    try:
        yield
    finally:
        HANDLERS[FETCH.key] = plain


@every_form
@pytest.mark.parametrize("isolation_level", [0, 1])
def test_plain_answers_are_those_of_the_twin(
    raw: RawClient, topic: Topic, version: int, isolation_level: int
) -> None:
    """Whole and empty answers, of one partition and of several, and errors among them."""
    other = new_topic(raw, partitions=3)
    produce(raw, other, batch(40), partition=1)
    questions = [
        [wanted(topic, at(0))],
        [wanted(topic, at(6))],
        [wanted(topic, at(2, max_bytes=1), at(0, 1)), wanted(other, at(0, 2), at(3, 1), at(0))],
        [wanted(topic, at(0), at(7, 1)), wanted(other, at(0, 9))],
        [wanted(topic, at(0)), wanted(other, at(0, 1)), wanted(topic, at(0, 1))],
    ]

    for asked in questions:
        for max_bytes in (1, 200, MUCH):
            plain = fetch(raw, version, *asked, max_bytes=max_bytes, isolation_level=isolation_level)
            with every_message_made():
                made = fetch(raw, version, *asked, max_bytes=max_bytes, isolation_level=isolation_level)
            assert plain == made


@session_forms
def test_idle_partition_that_begins_later_is_told_of(raw: RawClient, topic: Topic, version: int) -> None:
    session = Session(raw, topic, version)
    session.fetch(at(6), at(0, 1))
    quiet = session.fetch()
    deleted = DeleteRecordsTopic(
        name=topic[0], partitions=[DeleteRecordsPartition(partition_index=0, offset=4)]
    )
    raw.ask(DeleteRecordsRequest(topics=[deleted], timeout_ms=1000), 2)

    news = session.fetch()

    assert (told(quiet), told(news)) == ([], [(0, 0)])
    assert only(news).log_start_offset == 4


@session_forms
def test_request_that_was_overtaken_is_answered_with_that(raw: RawClient, topic: Topic, version: int) -> None:
    """Two connections with one session: the one that waits loses it."""
    session = Session(raw, topic, version)
    session.fetch(at(6))
    waiting = FetchRequest(
        max_wait_ms=60_000, min_bytes=1, max_bytes=MUCH, session_id=session.id, session_epoch=1, topics=[]
    )
    with RawClient("{}:{}".format(*raw.socket.getpeername())) as other:
        other.send(request_frame(waiting, version))
        while session.fetch(session_epoch=2).error_code:
            pass  # the other has not come yet
        _, overtaken = parse_response(FETCH, version, other.receive_frame())

    assert overtaken.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


@session_forms
def test_rest_of_an_older_segment_is_enough(raw: RawClient, version: int) -> None:
    """No read goes from one segment to the next: who wants more at once would wait in vain."""
    topic = new_topic(raw, segment_bytes=str(MUCH))
    for _ in range(3):
        produce(raw, topic, batch(value=bytes(600_000)))
    waiting: dict[str, Any] = {"max_wait_ms": 600_000, "min_bytes": 900_000}
    session = Session(raw, topic, version)

    answers = [fetch(raw, version, wanted(topic, at(0)), **waiting)]
    answers += [session.fetch(at(0), **waiting), session.fetch(**waiting)]

    assert [offsets(only(answer)) for answer in answers] == [[0], [0], [0]]


# --- whatever happens, a session tells what one would that looks at all of its partitions each time


class Everything:
    """A reader of a session whose every partition is looked at by each request."""

    def __init__(self, topic: OneTopic) -> None:
        self._topic = topic
        self._partitions: dict[int, tuple[FetchPartition, tuple[int, int] | None]] = {}

    def plan(self, request: FetchRequest) -> FetchPlan:
        """Take up what the request says of the session, and find its partitions."""
        if request.session_epoch == 0:
            self._partitions = {}
        for asked in (asked for topic in request.topics for asked in topic.partitions):
            _, known = self._partitions.get(asked.partition, (None, None))
            self._partitions[asked.partition] = asked, known
        for index in (index for topic in request.forgotten_topics_data for index in topic.partitions):
            self._partitions.pop(index, None)
        plan = FetchPlan.of(
            {FetchKey(TOPIC_ID, index): asked for index, (asked, _) in self._partitions.items()},
            by_topic_id=True,
        )
        for key, fetched in plan.partitions.items():
            try:
                fetched.found = self._topic.find("t", key.partition)
            except KafkaError as error:
                fetched.found = error
        return plan

    def told(self, plan: FetchPlan, limits: FetchLimits, *, is_full: bool) -> list[tuple[Any, ...]]:
        """What there is to tell of what can be read now, in order; it is known from then on."""
        told = []
        for key, data in _read_all(plan, limits)[0].items():
            asked, known = self._partitions[key.partition]
            offsets = -1 if data.error_code else data.high_watermark, data.log_start_offset
            if is_full or data.error_code or data.records or offsets != known:
                told.append(what_is_told(data))
                self._partitions[key.partition] = asked, offsets
            if data.records and not is_full:
                self._partitions[key.partition] = self._partitions.pop(key.partition)
        return told


def what_is_told(data: Any) -> tuple[Any, ...]:
    records = data.records.read() if isinstance(data.records, FileSlice) else bytes(data.records)
    return data.partition_index, data.error_code, data.high_watermark, data.log_start_offset, records


COUNT = 3
SEGMENT_BYTES = 180
_MEANWHILE_SECONDS = 0.25


class SessionHistory:
    """A session of a broker of three partitions, and what `Everything` would say in its place.

    A segment holds two batches, and every partition has three at first.
    """

    def __init__(self, topic: OneTopic) -> None:
        self._topic = topic
        self._everything = Everything(topic)
        self._session = self._epoch = 0
        topic.partitions += [self._made(index) for index in range(len(topic.partitions), COUNT)]
        for index in 3 * [*range(COUNT)]:
            self.happen("append", index, 0)
        topic.find = self._find  # type: ignore[method-assign]

    def _made(self, index: int) -> Partition:
        log = self._topic.directory.open_log(
            TopicPartition("t", index), TOPIC_ID, LogConfig(segment_bytes=SEGMENT_BYTES), now_ms=NOW_MS
        )
        return Partition(log, 0)

    def _find(self, topic: str, index: int) -> Partition:
        found = self._topic.partitions[index]
        if found.is_deleted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return found

    def _end(self, index: int) -> int:
        return self._topic.partitions[index].log.log_end_offset

    def happen(self, what: str, index: int, number: int) -> None:
        partition = self._topic.partitions[index]
        if what == "made" and partition.is_deleted:
            self._topic.partitions[index] = self._made(index)
        elif partition.is_deleted or what == "made":
            return
        elif what == "append":
            partition.append(bytearray(batch(1 + number % 2, timestamp_ms=NOW_MS)), now_ms=NOW_MS)
        elif what == "append at once":
            records = memoryview(bytearray(batch(timestamp_ms=NOW_MS)))
            partition.append_at_once(records, now_ms=NOW_MS, zstd_allowed=True)
        elif what == "move start":
            partition.move_start(max(0, partition.log.log_end_offset - number))
        elif what == "reconfigure":
            partition.reconfigure(LogConfig(segment_bytes=SEGMENT_BYTES + number))
        else:
            partition.mark_deleted()
            self._topic.directory.delete_log(partition.log)

    async def fetch(
        self,
        asked: list[tuple[int, int, int]],
        forgotten: list[int],
        how: tuple[int, int, int, int],
        meanwhile: tuple[str, int, int] | None,
        is_full: bool,
    ) -> None:
        max_bytes, min_bytes, max_wait_ms, isolation_level = how
        is_full = is_full or not self._session
        if not asked and (is_full or forgotten):
            return  # a session without partitions is another matter
        if is_full:
            self._epoch = 0
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            isolation_level=isolation_level,
            session_id=self._session,
            session_epoch=self._epoch,
            topics=[
                FetchTopic(
                    topic_id=TOPIC_ID,
                    partitions=[at(self._end(index) - back, index, most) for index, back, most in asked],
                )
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic_id=TOPIC_ID, partitions=[*{*forgotten} - {one[0] for one in asked}])
            ],
        )
        limits = FetchLimits(min(min_bytes, max_bytes), max_bytes, max_wait_ms, isolation_level == 1)
        plan = self._everything.plan(request)
        handler, context = HANDLERS[FETCH.key], RequestContext(self._topic.client, 17, "")
        assert handler.at_once is not None
        begun = trio.current_time()
        expected_at = begun + max_wait_ms / 1000
        answer = handler.at_once(request, context)
        if not _read_all(plan, limits)[1]:
            assert isinstance(answer, Later)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._meanwhile, meanwhile)
                answer = await answer.rest()
                is_early = trio.current_time() < expected_at
                assert is_early == _read_all(plan, limits)[1]
                assert trio.current_time() == (begun + _MEANWHILE_SECONDS if is_early else expected_at)
        elif isinstance(answer, Later):
            answer = await answer.rest()
            assert trio.current_time() == begun
        told = self._everything.told(plan, limits, is_full=is_full)
        self._agree(request, answer, told)

    async def _meanwhile(self, event: tuple[str, int, int] | None) -> None:
        await trio.sleep(_MEANWHILE_SECONDS)
        if event is not None:
            self.happen(*event)

    def _agree(self, request: FetchRequest, answer: Any, told: list[tuple[Any, ...]]) -> None:
        sent = joined(response_parts(ReceivedRequest(FETCH, 17, 1, "", request), answer))
        _, parsed = parse_response(FETCH, 17, sent[4:])
        assert [what_is_told(data) for topic in parsed.responses for data in topic.partitions] == told
        self._session, self._epoch = parsed.session_id, self._epoch + 1


INDEXES = st.integers(0, COUNT - 1)
EVENTS = st.tuples(
    st.sampled_from(["append", "append", "append at once", "move start", "reconfigure", "delete", "made"]),
    INDEXES,
    st.integers(0, 4),
)
BACK = st.sampled_from([0, 0, 0, 1, 2, 5, -1])
"""How far from the end somebody reads."""
ASKED = st.lists(st.tuples(INDEXES, BACK, st.sampled_from([1, 100, MUCH])), max_size=3)
HOW = st.tuples(
    st.sampled_from([1, 150, MUCH]),
    st.sampled_from([1, 1, 200]),
    st.sampled_from([0, 1000]),
    st.integers(0, 1),
)
AT_ONCE = MUCH, 1, 0, 0
FETCHES = st.tuples(ASKED, st.lists(INDEXES, max_size=1), HOW, EVENTS, st.sampled_from([False] * 9 + [True]))


@given(st.lists(EVENTS | FETCHES, max_size=40))
@hypothesis_settings(deadline=None, derandomize=True)
def test_session_tells_what_who_looks_at_everything_would(steps: list[Any]) -> None:
    """At the same time, in the same order: no partition rests for too long, or is told of twice."""

    async def live() -> None:
        with a_topic(segment_bytes=SEGMENT_BYTES) as topic:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(topic.timeouts.run)
                await live_with(topic)
                nursery.cancel_scope.cancel()

    async def live_with(topic: OneTopic) -> None:
        history = SessionHistory(topic)
        await history.fetch([(index, 0, MUCH) for index in range(COUNT)], [], AT_ONCE, None, True)
        await history.fetch([], [], AT_ONCE, None, False)
        for step in steps:
            if isinstance(step[0], str):
                history.happen(*step)
            else:
                await history.fetch(*step)

    trio.run(live, clock=MockClock(autojump_threshold=0))
