"""Stories of members that share the partitions of topics.

Source: Apache Kafka 4.4; KIP-429 (cooperative rebalancing), KIP-848 (the new group protocol).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_tests.clients.adapter import (
    Capability,
    Client,
    Code,
    Consumer,
    ConsumerSettings,
    Received,
    Record,
)
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.members import (
    ASSIGNORS,
    ONE_PER_PARTITION,
    PROTOCOLS,
    held_by_one_each,
    produce_one_per_partition,
    settle,
    sizes,
    sorted_values,
)
from compat_tests.stories.waiting import poll_until, read, refusal_while_polling, values

SHARES = ((1, [4]), (2, [2, 2]), (4, [1, 1, 1, 1]), (5, [1, 1, 1, 1, 0]))
PER_PARTITION = 50


def _shares_of(count: int) -> list[int]:
    """Give the even shares of four partitions among so many members."""
    return [len(range(number, 4, count)) for number in range(count)]


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
    assert sorted_values(received) == ONE_PER_PARTITION


@pytest.mark.parametrize("assignor", PROTOCOLS)
@pytest.mark.needs(Capability.SHORT_POLLS)
def test_one_two_four_and_five_members(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """Four partitions are read by one member, two, four, and five, of which one is idle, and by fewer."""
    topic = make_topic(partition_count=4)
    members: list[Consumer] = []
    shared: list[bool] = []
    for count, shares in SHARES:
        while len(members) < count:
            members.append(open_consumer(group=group, assignor=assignor))
            members[-1].subscribe([topic])
        settle(members, shares)
        shared.append(held_by_one_each(members))
    produce_one_per_partition(client, topic)
    received: list[Received] = []
    # The fifth may still be joining, and what moves then is read twice, as nobody commits.
    poll_until(members, lambda: set(sorted_values(received)) == set(ONE_PER_PARTITION), received)
    settle(members, SHARES[-1][1])
    for count, shares in reversed(SHARES[:-1]):
        while len(members) > count:
            members.pop(0).close()
            settle(members, shares if len(members) == count else _shares_of(len(members)))

    assert shared == [True] * len(SHARES)


@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_order_within_a_partition(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """Each partition's records come once and in order; of those of different partitions nothing is said."""
    topic = make_topic(partition_count=4)
    members = [open_consumer(group=group, assignor=assignor) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    settle(members, [2, 2])
    for partition in range(4):
        records = [Record(b"%d" % number) for number in range(PER_PARTITION)]
        client.produce(topic, records, partition=partition)
    received: list[Received] = []
    poll_until(members, lambda: len(received) >= 4 * PER_PARTITION, received)
    offsets = [
        [record.offset for record in received if record.partition == partition] for partition in range(4)
    ]

    assert offsets == [list(range(PER_PARTITION))] * 4


@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_two_groups_read_independently(
    client: Client, topic: str, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """Each group gets every record."""
    client.produce(topic, [Record(b"%d" % number) for number in range(5)], partition=0)
    received: list[list[Received]] = []
    for name in (f"{group}-a", f"{group}-b"):
        consumer = open_consumer(group=name, assignor=assignor)
        consumer.subscribe([topic])
        received.append(read(consumer, 5))

    assert values(received[0]) == values(received[1]) == [b"%d" % number for number in range(5)]


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
    assert sorted_values(received) == sorted(topic.encode() for topic in topics)


@pytest.mark.needs(Capability.GROWTH)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_added_partitions_are_taken_up(
    client: Client,
    administrator: Client,
    make_topic: MakeTopic,
    group: str,
    open_consumer: OpenConsumer,
    assignor: str,
) -> None:
    """Partitions that are added are shared among the members within a refresh of metadata."""
    topic = make_topic(partition_count=2)
    members = [open_consumer(group=group, assignor=assignor, metadata_max_age_ms=500) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    settle(members, [1, 1])
    administrator.admin().create_partitions(topic, 4)
    settle(members, [2, 2])
    produce_one_per_partition(client, topic)
    received: list[Received] = []
    # Members hear of the new partitions one by one, and what moves then is read twice, as nobody commits.
    poll_until(members, lambda: set(values(received)) == set(ONE_PER_PARTITION), received)

    assert {record.partition for record in received} == {0, 1, 2, 3}


@pytest.mark.needs(Capability.FULL_GROUP)
@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_full_group_takes_nobody(
    client_class: type[Client],
    strict_bootstrap: str,
    strict_administrator: Client,
    close_at_end: Callable[..., object],
    unique_name: Callable[[str], str],
    assignor: str,
) -> None:
    """Who comes when a group has group(.consumer).max.size members is told so, and disturbs nobody."""
    topic, group, client = unique_name("topic"), unique_name("group"), client_class(strict_bootstrap)
    close_at_end(client)
    strict_administrator.admin().create_topic(topic, 4, {})
    members = [client.consumer(ConsumerSettings(group, assignor=assignor)) for _ in range(3)]
    for member in members:
        close_at_end(member)
    for member in members[:2]:
        member.subscribe([topic])
    settle(members[:2], [2, 2])
    members[2].subscribe([topic])
    refusal = refusal_while_polling(members)

    assert refusal == Code.GROUP_MAX_SIZE_REACHED
    assert sizes(members) == [2, 2, 0]


@pytest.mark.needs(Capability.SERVER_SIDE_ASSIGNOR)
@pytest.mark.parametrize(
    ("server_assignor", "together"),
    [
        pytest.param("range", True, id="range"),
        pytest.param("uniform", False, id="uniform"),
    ],
)
def test_assignor_of_the_broker(
    make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, server_assignor: str, together: bool
) -> None:
    """The broker assigns as it is asked: range a share of each topic, uniform an even share of all."""
    topics = [make_topic(partition_count=3), make_topic(partition_count=3)]
    members = [
        open_consumer(group=group, assignor="consumer", server_assignor=server_assignor) for _ in range(2)
    ]
    for member in members:
        member.subscribe(topics)
    # Range: 2 and 1 of each topic; uniform: as even as can be.
    settle(members, [4, 2] if together else [3, 3])

    assert held_by_one_each(members)
