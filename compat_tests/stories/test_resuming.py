"""Stories of groups that go on from committed offsets.

What a restart of the broker has to do with it is in `test_restart`.
Source: Apache Kafka 4.4, OffsetCommit and OffsetFetch.
"""

from __future__ import annotations

import pytest

from compat_tests.clients.adapter import Capability, Client, Consumer, Received, Record
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.members import PROTOCOLS, settle, sizes
from compat_tests.stories.waiting import poll_until, read, values


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


@pytest.mark.parametrize("assignor", PROTOCOLS)
def test_group_resumes_after_everyone_left(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, assignor: str
) -> None:
    """When all members have left, those that come later read on where they stopped."""
    topic = make_topic(partition_count=4)
    rounds: list[set[bytes | None]] = []
    for number in range(2):
        members = [open_consumer(group=group, auto_commit=True, assignor=assignor) for _ in range(2)]
        for member in members:
            member.subscribe([topic])
        rounds.append(_read_round(client, topic, members, number))
        # One after the other: who leaves in the middle of a rebalance may not be able to commit.
        while members:
            members.pop(0).close()
            settle(members, [4] * len(members))

    assert rounds == [{b"%d, %d" % (number, partition) for partition in range(4)} for number in range(2)]


def _read_round(client: Client, topic: str, members: list[Consumer], number: int) -> set[bytes | None]:
    """Produce a record to each of four partitions, and give what is read until all of them have come."""
    received: list[Received] = []
    settle(members, [2, 2], received)
    written = {b"%d, %d" % (number, partition): partition for partition in range(4)}
    for value, partition in written.items():
        client.produce(topic, [Record(value)], partition=partition)
    poll_until(members, lambda: written.keys() <= set(values(received)), received)
    return set(values(received))
