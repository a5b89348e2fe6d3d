"""Fetch sessions: opened, gone on with, added to, forgotten from, closed, mistaken.

Called by `run`. Source: KIP-227; Kafka's FetchManager, FetchContext and FetchSession.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compat_tests.differential.asked_versions import spread
from compat_tests.differential.batches import batch
from compat_tests.differential.requests import (
    IDS_IN_FETCH,
    at,
    fetch,
    fetch_topic,
    forgotten,
    list_offsets,
    part,
    produce,
)
from compat_tests.differential.side import NotReady, Side
from compat_tests.differential.topics import UNKNOWN, Topic, create_topic
from compat_tests.differential.wire import framed, request_body
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest
from wirekafka.protocol.apis.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic

LATEST = -1
FIRST_WITH_SESSIONS = 7
WAIT_MS = 700


@dataclass(slots=True)
class Reader:
    """Asks with session ids and epochs, in one version."""

    side: Side
    version: int
    topic: Topic
    other: Topic
    ends: list[int]

    def ask(
        self,
        label: str,
        session_id: int,
        epoch: int,
        *topics: FetchTopic,
        forget: Sequence[ForgottenTopic] = (),
        version: int | None = None,
    ) -> int:
        """Ask, and give the session id of the answer; 0 without one."""
        request = fetch(
            *topics, session_id=session_id, session_epoch=epoch, forgotten_topics_data=list(forget)
        )
        answer: Any = self.side.ask(label, request, self.version if version is None else version)
        return 0 if answer is None else int(answer.session_id)

    def of(self, *parts: FetchPartition) -> FetchTopic:
        return fetch_topic(self.version, self.topic, *parts)

    def put(self, *partitions: int) -> None:
        for partition in partitions:
            self.side.arrange(produce(9, self.topic, (partition, batch())), 9)

    def part(self, partition: int, beyond: int = 0) -> FetchPartition:
        """A partition from where it ended as the version began, and so many offsets on."""
        return part(partition, self.ends[partition] + beyond)


def sessions(side: Side) -> None:
    """Go through the life of a session in the versions where the form changes."""
    topic, other = create_topic(side, "sessions", 3), create_topic(side, "sessions-too", 2)
    wanted = [at(LATEST, partition) for partition in range(3)]
    for version in spread(FetchRequest, 7, 12, 13, 16):
        if version < FIRST_WITH_SESSIONS:
            continue
        answer = side.arrange(list_offsets(topic.name, *wanted), 7)
        ends = [partition.offset for partition in answer.topics[0].partitions]
        if len(ends) != len(wanted):
            raise NotReady(f"{side.name} lists {answer}")
        reader = Reader(side, version, topic, other, ends)
        reader.put(0)
        _mistaken(reader)
        _life(reader)
        _endings(reader)
        _in_turn(reader)
        _overtaken(reader)
        _gone(reader)


def _mistaken(reader: Reader) -> None:
    wanted = reader.of(reader.part(0))
    for label, session_id, epoch in (
        ("sessionless", 0, -1),
        ("sessionless, with an id", 5, -1),
        ("new, with an id", 5, 0),
        ("unknown id", 5, 1),
        ("epoch 1 without id", 0, 1),
        ("epoch -2", 0, -2),
        ("negative id", -5, 1),
    ):
        reader.ask(label, session_id, epoch, wanted)


def _life(reader: Reader) -> None:
    version, topic, other = reader.version, reader.topic, reader.other
    opened = reader.ask("opened", 0, 0, reader.of(*(reader.part(p) for p in range(3))))
    reader.ask("nothing asked", opened, 1)
    reader.ask("gone on", opened, 2, reader.of(reader.part(0, 1)))
    reader.put(1, 2)
    reader.ask("news", opened, 3)
    reader.ask("epoch again", opened, 3)
    reader.ask("epoch ahead", opened, 9)
    reader.ask("two gone on", opened, 4, reader.of(reader.part(1, 1), reader.part(2, 1)))
    reader.ask("nothing new", opened, 5)
    reader.ask("added", opened, 6, fetch_topic(version, other, part(0, 0)))
    reader.ask("added unknown partition", opened, 7, fetch_topic(version, other, part(9, 0)))
    reader.ask("the unknown stays", opened, 8)
    drop = [forgotten(version, other, 9), forgotten(version, topic, 0)]
    reader.ask("two forgotten", opened, 9, forget=drop)
    reader.ask("unknown forgotten", opened, 10, forget=[forgotten(version, UNKNOWN, 9)])
    reader.ask("added unknown topic", opened, 11, fetch_topic(version, UNKNOWN, part(0, 0)))
    reader.ask("unknown topic stays", opened, 12)
    reader.ask("unknown topic forgotten", opened, 13, forget=[forgotten(version, UNKNOWN, 0)])
    reader.ask("out of range", opened, 14, reader.of(part(1, 10**6)))
    reader.ask("out of range still", opened, 15)
    reader.ask("back in range", opened, 16, reader.of(reader.part(1, 1)))
    reader.ask("nothing new again", opened, 17)
    other_form = 12 if version >= IDS_IN_FETCH else 13
    reader.ask(f"the form of v{other_form} in a session of v{version}", opened, 18, version=other_form)
    reader.ask("after the other form", opened, 18)
    reader.ask("after that", opened, 19)
    drop = [forgotten(version, other, 0), forgotten(version, topic, 1, 2)]
    reader.ask("all forgotten", opened, 20, forget=drop)
    reader.ask("after all is forgotten", opened, 21)


def _endings(reader: Reader) -> None:
    opened = reader.ask("opened to be closed", 0, 0, reader.of(reader.part(0)))
    reader.ask("closed", opened, -1, reader.of(reader.part(0, 1)))
    reader.ask("after it is closed", opened, 1)
    opened = reader.ask("opened to be replaced", 0, 0, reader.of(reader.part(0)))
    reader.ask("replaced", opened, 0, reader.of(reader.part(0, 1)))
    reader.ask("the replaced one", opened, 1)
    reader.ask("opened with nothing", 0, 0)
    reader.ask("opened with an unknown topic", 0, 0, fetch_topic(reader.version, UNKNOWN, part(0, 0)))
    opened = reader.ask("opened with one twice", 0, 0, reader.of(reader.part(0), reader.part(0, 1)))
    again = [forgotten(reader.version, reader.topic, 1)]
    reader.ask("added and forgotten at once", opened, 1, reader.of(reader.part(1)), forget=again)
    reader.ask("after that at once", opened, 2)


def _in_turn(reader: Reader) -> None:
    """What was served goes to the end, so that each comes first in its turn."""
    for _ in range(3):
        reader.put(0, 1, 2)
    first = [part(p, 0, 1) for p in range(3)]
    opened = reader.ask("opened, one byte of each", 0, 0, reader.of(*first))
    for epoch in range(1, 7):
        request = fetch(session_id=opened, session_epoch=epoch, max_bytes=1)
        answer = reader.side.ask(f"in turn, {epoch}", request, reader.version)
        order = [p.partition_index for topic in answer.responses for p in topic.partitions if p.records]
        reader.side.note(f"in turn, {epoch}: served", "Fetch", reader.version, ", ".join(map(str, order)))
    reader.ask("in turn, moved", opened, 7, reader.of(reader.part(1, 1)))


def _overtaken(reader: Reader) -> None:
    """A second request of a session, over another connection, while the first one waits."""
    side, version = reader.side, reader.version
    answer = side.arrange(list_offsets(reader.topic.name, at(LATEST, 0)), 7)
    end = answer.topics[0].partitions[0].offset
    opened = reader.ask("opened, to be overtaken", 0, 0, reader.of(part(0, end)))
    waits = fetch(session_id=opened, session_epoch=1, max_wait_ms=WAIT_MS, min_bytes=1)
    other = side.another()
    try:
        other.send(framed(request_body(waits, version)))
        time.sleep(0.3)  # Kafka has no sign of a request that waits
        reader.ask("overtakes", opened, 2)
        side.receive("overtaken", other, FETCH.key, version)
    finally:
        other.close()
    reader.ask("after it was overtaken", opened, 3)


def _gone(reader: Reader) -> None:
    """A topic that is deleted, and made anew, while a session holds it."""
    side, version = reader.side, reader.version
    name = f"sessions-gone-{version}"
    topic = create_topic(side, name)
    opened = reader.ask("opened, to be deleted", 0, 0, fetch_topic(version, topic, part(0, 0)))
    side.arrange(DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000), 5)
    known = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    side.arrange_until(known, 9, lambda answer: answer.topics[0].error_code != 0)
    reader.ask("deleted", opened, 1)
    reader.ask("deleted, asked for again", opened, 2, fetch_topic(version, topic, part(0, 0)))
    create_topic(side, name)
    reader.ask("made anew", opened, 3)
    reader.ask("made anew, still", opened, 4)
    reader.ask("made anew, asked for by the old id", 0, -1, fetch_topic(version, topic, part(0, 0)))
