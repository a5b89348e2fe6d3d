"""Stories of consumer groups: sharing, leaving, dying, and going on from committed offsets.

Source: Apache Kafka 4.4; KIP-429 (cooperative rebalancing), KIP-848 (the new group protocol).
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from compat_tests.clients.adapter import Capability, Client, Consumer, Received, Record
from compat_tests.conftest import MakeTopic, OpenConsumer, OpenMortalConsumer
from compat_tests.stories.waiting import poll_until, read, values

ASSIGNORS = [
    pytest.param(capability.value, marks=pytest.mark.needs(capability), id=capability.value)
    for capability in (
        Capability.RANGE,
        Capability.ROUND_ROBIN,
        Capability.STICKY,
        Capability.COOPERATIVE_STICKY,
        Capability.SERVER_SIDE_ASSIGNOR,
    )
]
ONE_PER_PARTITION = [b"%d" % partition for partition in range(4)]


def produce_one_per_partition(client: Client, topic: str) -> None:
    """Give each of four partitions one record that names it."""
    for partition, value in enumerate(ONE_PER_PARTITION):
        client.produce(topic, [Record(value)], partition=partition)


def sizes(members: Sequence[Consumer]) -> list[int]:
    """Give how many partitions each member holds."""
    return [len(member.assignment()) for member in members]


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_two_members_share_four_partitions(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """A second member takes half of the first one's partitions, and together they read everything."""
    topic = make_topic(partition_count=4)
    first = open_consumer(group=group, assignor=assignor)
    first.subscribe([topic])
    poll_until([first], lambda: sizes([first]) == [4])
    second = open_consumer(group=group, assignor=assignor)
    second.subscribe([topic])
    received = poll_until([first, second], lambda: sizes([first, second]) == [2, 2])
    held = [first.assignment(), second.assignment()]
    produce_one_per_partition(client, topic)
    poll_until([first, second], lambda: len(received) >= 4, received)

    assert held[0] | held[1] == {(topic, partition) for partition in range(4)}
    assert sorted(record.value or b"" for record in received) == ONE_PER_PARTITION


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_leaving_member_hands_over(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """When a member leaves, the other takes all partitions at once."""
    topic = make_topic(partition_count=4)
    stays = open_consumer(group=group, assignor=assignor)
    leaves = open_consumer(group=group, assignor=assignor)
    stays.subscribe([topic])
    leaves.subscribe([topic])
    poll_until([stays, leaves], lambda: sizes([stays, leaves]) == [2, 2])
    leaves.close()
    poll_until([stays], lambda: sizes([stays]) == [4])
    produce_one_per_partition(client, topic)

    assert sorted(record.value or b"" for record in read(stays, 4)) == ONE_PER_PARTITION


def test_dead_member_is_replaced(
    client: Client,
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    open_mortal_consumer: OpenMortalConsumer,
    short_session_ms: int,
) -> None:
    """When a member dies without leaving, the other takes over after the session time-out."""
    topic = make_topic(partition_count=4)
    stays = open_consumer(group=group, session_timeout_ms=short_session_ms)
    dies = open_mortal_consumer(group=group, session_timeout_ms=short_session_ms)
    stays.subscribe([topic])
    dies.subscribe([topic])
    poll_until([stays, dies], lambda: sizes([stays, dies]) == [2, 2])
    dies.kill()
    poll_until([stays], lambda: sizes([stays]) == [4])
    produce_one_per_partition(client, topic)

    assert sorted(record.value or b"" for record in read(stays, 4)) == ONE_PER_PARTITION


@pytest.mark.needs(Capability.COMMIT)
def test_committed_offset_is_kept(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """A committed offset is what any later consumer of the group is told; another group is told nothing."""
    client.produce(topic, [Record(b"%d" % number) for number in range(5)], partition=0)
    writer = open_consumer(group=group)
    writer.assign(topic, {0: "beginning"})
    before = writer.committed((topic, 0))
    writer.commit({(topic, 0): 3})
    reader = open_consumer(group=group)
    stranger = open_consumer(group=f"{group}-other")

    assert before is None
    assert reader.committed((topic, 0)) == 3
    assert stranger.committed((topic, 0)) is None


@pytest.mark.needs(Capability.COMMIT)
def test_group_resumes_from_its_commit(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """A new member of the group starts where the group committed, not where the last member had read."""
    client.produce(topic, [Record(b"%d" % number) for number in range(5)], partition=0)
    first = open_consumer(group=group)
    first.subscribe([topic])
    read(first, 5)
    first.commit({(topic, 0): 3})
    first.close()
    second = open_consumer(group=group)
    second.subscribe([topic])

    assert values(read(second, 2)) == [b"3", b"4"]


def test_leaving_member_commits_what_it_read(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """With automatic commits, a member that leaves commits first, and the next goes on from there."""
    client.produce(topic, [Record(b"old")], partition=0)
    first = open_consumer(group=group, auto_commit=True)
    first.subscribe([topic])
    old = read(first, 1)
    first.close()
    client.produce(topic, [Record(b"new")], partition=0)
    second = open_consumer(group=group, auto_commit=True)
    second.subscribe([topic])

    assert values(old) == [b"old"]
    assert values(read(second, 1)) == [b"new"]


def test_two_groups_read_independently(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """Each group gets every record."""
    client.produce(topic, [Record(b"%d" % number) for number in range(5)], partition=0)
    received: list[list[Received]] = []
    for name in (f"{group}-a", f"{group}-b"):
        consumer = open_consumer(group=name)
        consumer.subscribe([topic])
        received.append(read(consumer, 5))

    assert values(received[0]) == values(received[1]) == [b"%d" % number for number in range(5)]


def test_group_without_commit_starts_at_the_end(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """A group that never committed starts at the end when the reset is `latest`."""
    client.produce(topic, [Record(b"old")], partition=0)
    consumer = open_consumer(group=group, reset="latest")
    consumer.subscribe([topic])
    received: list[Received] = []
    poll_until([consumer], lambda: sizes([consumer]) == [1], received)

    # The start is fixed some time after the assignment: go on producing until something comes.
    def produced_and_received() -> bool:
        client.produce(topic, [Record(b"new")], partition=0)
        return bool(received)

    poll_until([consumer], produced_and_received, received)

    assert set(values(received)) == {b"new"}


def test_member_of_two_topics(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer
) -> None:
    """A member may subscribe to several topics and gets the partitions of all."""
    topics = [make_topic(partition_count=2), make_topic()]
    for topic in topics:
        client.produce(topic, [Record(topic.encode())], partition=0)
    consumer = open_consumer(group=group)
    consumer.subscribe(topics)
    received = read(consumer, 2)

    assert sizes([consumer]) == [3]
    assert sorted(record.value or b"" for record in received) == sorted(topic.encode() for topic in topics)


@pytest.mark.needs(Capability.GROUP_ADMIN)
def test_group_is_listed_and_described(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer
) -> None:
    """A group is Stable with its members while they live, and Empty after they left."""
    consumer = open_consumer(group=group)
    consumer.subscribe([topic])
    poll_until([consumer], lambda: sizes([consumer]) == [1])
    admin = client.admin()
    listed = admin.list_groups()
    alive = admin.describe_group(group)
    client.produce(topic, [Record(b"a")], partition=0)
    if Capability.COMMIT not in client.not_supported:
        consumer.commit({(topic, 0): 1})
    consumer.close()
    left = admin.describe_group(group)

    assert group in listed
    assert (alive.state, alive.member_count) == ("Stable", 1)
    assert (left.state, left.member_count) == ("Empty", 0)
