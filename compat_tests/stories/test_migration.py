"""Stories of groups that move between the classic protocol and that of KIP-848 while they are at work.

Source: Apache Kafka 4.4; KIP-848 (online upgrade and downgrade), group.consumer.migration.policy.
"""

from __future__ import annotations

import pytest

from compat_tests.clients.adapter import Capability, Client, Consumer, Received
from compat_tests.conftest import MakeTopic, OpenConsumer
from compat_tests.stories.members import ONE_PER_PARTITION, produce_one_per_partition, settle, sorted_values
from compat_tests.stories.waiting import poll_until

CLASSIC, CONSUMER = "roundrobin", "consumer"

pytestmark = pytest.mark.needs(Capability.SERVER_SIDE_ASSIGNOR, Capability.GROUP_FILTERS)


def read_and_commit(client: Client, topic: str, members: list[Consumer]) -> list[bytes]:
    """Produce a record for each partition, have the members read and commit them; give what they read."""
    produce_one_per_partition(client, topic)
    received: list[Received] = []
    poll_until(members, lambda: len(received) >= len(ONE_PER_PARTITION), received)
    for member in members:
        held = member.assignment()
        read = {(record.topic, record.partition): record.offset + 1 for record in received}
        member.commit({partition: offset for partition, offset in read.items() if partition in held})
    return sorted_values(received)


@pytest.mark.parametrize(
    ("before", "after"),
    [pytest.param(CLASSIC, CONSUMER, id="upgrade"), pytest.param(CONSUMER, CLASSIC, id="downgrade")],
)
def test_members_restart_one_by_one(
    client: Client, make_topic: MakeTopic, group: str, open_consumer: OpenConsumer, before: str, after: str
) -> None:
    """Members restart one by one with the other protocol: each record is read once, commits are kept."""
    topic = make_topic(partition_count=4)
    members = [open_consumer(group=group, assignor=before) for _ in range(2)]
    for member in members:
        member.subscribe([topic])
    settle(members, [2, 2])
    rounds = [read_and_commit(client, topic, members)]
    for number in range(2):
        members[number].close()
        members[number] = open_consumer(group=group, assignor=after)
        members[number].subscribe([topic])
        settle(members, [2, 2])
        rounds.append(read_and_commit(client, topic, members))
    kind = "classic" if after == CLASSIC else "consumer"

    assert rounds == [ONE_PER_PARTITION] * 3
    assert {members[0].committed((topic, partition)) for partition in range(4)} == {3}
    assert group in client.admin().find_groups(kind=kind)
