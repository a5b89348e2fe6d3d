"""Members of groups: by which assignor and protocol they share, what each holds, what they are given to read.

Called by the stories of groups; calls consumers and the clients that produce for them.
Source: Apache Kafka 4.4's assignors; KIP-848 (`consumer` stands for its protocol).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from compat_tests.clients.adapter import Capability, Client, Consumer, Received, Record
from compat_tests.stories.waiting import poll_until


def _assignors(*capabilities: Capability, thorough: Collection[Capability] = ()) -> list[object]:
    """Give the variants of a story; those that are `thorough` show the broker nothing that others do not."""
    variants: list[object] = []
    for capability in capabilities:
        marks = [pytest.mark.needs(capability)]
        if capability in thorough:
            marks.append(pytest.mark.thorough)
        variants.append(pytest.param(capability.value, marks=marks, id=capability.value))
    return variants


ASSIGNORS = _assignors(
    Capability.RANGE,
    Capability.ROUND_ROBIN,
    Capability.STICKY,
    Capability.COOPERATIVE_STICKY,
    Capability.SERVER_SIDE_ASSIGNOR,
    thorough=(Capability.RANGE, Capability.STICKY),
)
# The one assignor of the classic protocol that every client has, and the protocol of KIP-848.
PROTOCOLS = _assignors(Capability.ROUND_ROBIN, Capability.SERVER_SIDE_ASSIGNOR)
# All of a member's partitions stop in a rebalance, or only those that move.
_MANNERS = (Capability.ROUND_ROBIN, Capability.COOPERATIVE_STICKY, Capability.SERVER_SIDE_ASSIGNOR)
MANNERS = _assignors(*_MANNERS)
# To a member that stalls the broker does the same in either manner of the classic protocol.
MANNERS_OF_STALLING = _assignors(*_MANNERS, thorough=(Capability.COOPERATIVE_STICKY,))
ONE_PER_PARTITION = [b"%d" % partition for partition in range(4)]


def produce_one_per_partition(client: Client, topic: str) -> None:
    """Give each of four partitions one record that names it."""
    for partition, value in enumerate(ONE_PER_PARTITION):
        client.produce(topic, [Record(value)], partition=partition)


def sizes(members: Sequence[Consumer]) -> list[int]:
    """Give how many partitions each member holds."""
    return [len(member.assignment()) for member in members]


def settle(
    members: Sequence[Consumer], wanted: Sequence[int], received: list[Received] | None = None
) -> None:
    """Poll until the members hold as many partitions as is wanted, whichever member holds how many."""
    poll_until(members, lambda: sorted(sizes(members)) == sorted(wanted), received)


def held_by_one_each(members: Sequence[Consumer]) -> bool:
    """Tell whether no partition has two holders among these members."""
    held = [partition for member in members for partition in member.assignment()]
    return len(held) == len(set(held))


def sorted_values(received: Sequence[Received]) -> list[bytes]:
    """Give the values of these records, sorted."""
    return sorted(record.value or b"" for record in received)
