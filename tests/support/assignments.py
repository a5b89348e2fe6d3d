"""Groups for tests of assignors: drawn by Hypothesis, and those of which Kafka's answer is kept."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from wirekafka.groups.consumer.assignment import Assignment
from wirekafka.groups.consumer.assignors.assignor import Assignments, AssignorMember
from wirekafka.groups.topics import TopicFacts

KAFKA_CASES = Path(__file__).parent / "kafka_assignments" / "cases.jsonl"


@dataclass(frozen=True)
class Group:
    members: dict[str, AssignorMember]
    topics: dict[bytes, TopicFacts]

    def with_targets(self, assignments: Mapping[str, Assignment]) -> "Group":
        """The same group when `assignments` has become its target."""
        members = {name: replace(one, assigned=assignments[name]) for name, one in self.members.items()}
        return replace(self, members=members)

    def without(self, member_id: str) -> "Group":
        return replace(self, members={name: one for name, one in self.members.items() if name != member_id})

    def subscribers(self, topic_id: bytes) -> list[str]:
        return [name for name, one in self.members.items() if topic_id in one.subscribed]


def topic(number: int, partition_count: int) -> TopicFacts:
    return TopicFacts(f"topic-{number}", number.to_bytes(16, "big"), partition_count, ())


def member(
    member_id: str,
    subscribed: Iterable[bytes],
    assigned: Assignment | None = None,
    instance_id: str | None = None,
) -> AssignorMember:
    return AssignorMember(member_id, instance_id, None, frozenset(subscribed), assigned or {})


def group(members: list[AssignorMember], topics: list[TopicFacts]) -> Group:
    return Group({one.member_id: one for one in members}, {one.topic_id: one for one in topics})


def kafka_cases() -> Iterator[tuple[Group, dict[str, Assignments]]]:
    """Give each group that is kept, with the answers of Kafka's assignors by their names."""
    for line in KAFKA_CASES.read_text().splitlines():
        case = json.loads(line)
        topics = [
            TopicFacts(name, _topic_id(text), partition_count, ())
            for text, (name, partition_count) in case["topics"].items()
        ]
        members = [
            member(
                one["id"], map(_topic_id, one["subscribed"]), _assignment(one["assigned"]), one["instance"]
            )
            for one in sorted(case["members"], key=lambda one: one["id"])
        ]
        yield (
            group(members, topics),
            {name: {one: _assignment(of) for one, of in case[name].items()} for name in ("uniform", "range")},
        )


def _topic_id(text: str) -> bytes:
    return bytes.fromhex(text.zfill(32))


def _assignment(topics: Mapping[str, Any]) -> Assignment:
    return {_topic_id(text): frozenset(partitions) for text, partitions in topics.items() if partitions}


@st.composite
def groups(draw: st.DrawFn, *, alike: bool = False) -> Group:
    """Some members, some topics, and targets from nowhere in which no partition has two owners."""
    topics = [topic(number, draw(st.integers(1, 9))) for number in range(draw(st.integers(1, 5)))]
    topic_ids = st.frozensets(st.sampled_from([one.topic_id for one in topics]))
    names = [f"member-{number}" for number in range(draw(st.integers(1, 7)))]
    targets: dict[str, dict[bytes, frozenset[int]]] = {name: {} for name in names}
    for one in topics:
        for partition in range(one.partition_count):
            owner = draw(st.sampled_from([None, *names]))
            if owner is not None:
                had = targets[owner].get(one.topic_id, frozenset())
                targets[owner][one.topic_id] = had | {partition}
    shared = draw(topic_ids)
    members = [
        member(
            name,
            shared if alike else draw(topic_ids),
            targets[name],
            instance_id=draw(st.sampled_from([None, f"instance-{name}"])),
        )
        for name in names
    ]
    return group(members, topics)
