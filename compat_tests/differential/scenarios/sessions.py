"""Fetch sessions: opened, gone on with, added to, forgotten from, closed, mistaken.

Called by `run`. Source: KIP-227; Kafka's FetchManager, FetchContext and FetchSession.
"""

from __future__ import annotations

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
from wirekafka.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic

LATEST = -1
FIRST_WITH_SESSIONS = 7


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
