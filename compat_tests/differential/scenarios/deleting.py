"""DeleteTopics: by name, by id, twice, unknown.

Called by `run`. Source: KIP-516 (ids), KIP-599 (messages); Kafka's ControllerApis.deleteTopics.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from compat_tests.differential.topics import NO_ID, UNKNOWN_ID, create_topic
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic

FIRST_WITH_IDS = 6


def deleting(side: Side) -> None:
    """Delete topics that are there and that are not."""
    for version in every(DeleteTopicsRequest):
        if version < FIRST_WITH_IDS:
            _by_name(side, version)
        else:
            _by_id(side, version)


def _by_name(side: Side, version: int) -> None:
    def ask(label: str, *names: str) -> None:
        side.ask(label, DeleteTopicsRequest(topic_names=list(names), timeout_ms=10_000), version)

    one, two = (create_topic(side, f"deleted-{version}-{n}").name for n in "ab")
    ask("unknown", "unknown")
    ask("invalid name", "not/valid")
    ask("empty name", "")
    ask("no names", *())
    ask("twice", one, one)
    ask("unknown twice", "unknown", "unknown")
    ask("good and unknown", one, "unknown")
    _await_gone(side, one)
    ask("again", one)
    ask("another twice and good", two, "unknown", "unknown")
    create_topic(side, one, 2)
    ask("created again", one)


def _by_id(side: Side, version: int) -> None:
    def ask(label: str, *topics: tuple[str | None, bytes]) -> None:
        wanted = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in topics]
        side.ask(label, DeleteTopicsRequest(topics=wanted, timeout_ms=10_000), version)

    one, two, three = (create_topic(side, f"deleted-{version}-{n}") for n in "abc")
    ask("unknown", ("unknown", NO_ID))
    ask("unknown id", (None, UNKNOWN_ID))
    ask("unknown id twice", (None, UNKNOWN_ID), (None, UNKNOWN_ID))
    ask("unknown twice", ("unknown", NO_ID), ("unknown", NO_ID))
    ask("invalid name", ("not/valid", NO_ID))
    ask("empty name", ("", NO_ID))
    ask("name and id", (one.name, one.topic_id))
    ask("neither name nor id", (None, NO_ID))
    ask("name twice", (one.name, NO_ID), (one.name, NO_ID))
    ask("id twice", (None, one.topic_id), (None, one.topic_id))
    ask("name, and its id", (one.name, NO_ID), (None, one.topic_id))
    ask("no topics", *())
    ask("name, and an unknown", (two.name, NO_ID), ("unknown", NO_ID))
    ask("id", (None, three.topic_id))
    _await_gone(side, three.name)
    ask("id again", (None, three.topic_id))


def _await_gone(side: Side, name: str) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    side.arrange_until(request, 12, lambda answer: answer.topics[0].error_code != 0)
