"""The targets that the server-side assignors make, as members with many subscriptions come and go.

Called by `run`. Source: KIP-848; UniformAssignor and RangeAssignor of Apache Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Sequence

from compat_tests.differential.consumer_groups import (
    LEAVES,
    ConsumerGroup,
    create_topic_for_groups,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side

VERSION = 1
PARTITION_COUNTS = {"aimed-seven": 7, "aimed-five": 5, "aimed-one": 1, "aimed-four": 4}
SEVEN, FIVE, ONE, FOUR = PARTITION_COUNTS
NOWHERE = "aimed-nowhere"
Subscriptions = Sequence[tuple[str, ...]]
KINDS: dict[str, tuple[str, Subscriptions]] = {
    "uniform-alike": ("uniform", [(SEVEN,)] * 8),
    "uniform-unlike": ("uniform", [(SEVEN,), (), (SEVEN,), (SEVEN,), (NOWHERE,), (SEVEN,), (), (SEVEN,)]),
    "range-alike": ("range", [(SEVEN, FIVE, ONE)] * 8),
    "range-unlike": (
        "range",
        [
            (SEVEN,),
            (SEVEN, FIVE),
            (FIVE, ONE, FOUR),
            (),
            (ONE,),
            (SEVEN, FIVE, ONE, FOUR),
            (FOUR,),
            (ONE, SEVEN),
        ],
    ),
}
"""Assignors, and what each member reads.

The uniform assignor takes topics in an order that goes by their ids, which are random: one topic has to do.
"""
NAMES = ("m-0", "m-1", "consumer-4", "zebra", "A", "1c9b2c4e-22cd-4a9e-8b33-1b0f1c6c1a11", "m-10", "Ω")
INSTANCES = {"zebra": "i-1", "A": "i-0"}


def assigning(side: Side) -> None:
    """Describe the group after every change; nobody gives anything up, for targets do not wait."""
    await_groups(side)
    for name, count in PARTITION_COUNTS.items():
        create_topic_for_groups(side, name, count)
    for kind, (assignor, subscriptions) in KINDS.items():
        _come_and_go(ConsumerGroup(side, f"aimed-{kind}", VERSION), assignor, subscriptions)


def _come_and_go(group: ConsumerGroup, assignor: str, subscriptions: Sequence[tuple[str, ...]]) -> None:
    def told(label: str) -> str:
        return f"{group.name}, {label}"

    members = {name: group.member(name) for name in NAMES}
    for (name, member), topics in zip(members.items(), subscriptions, strict=True):
        member.join(told(f"{name} joins"), *topics, assignor=assignor, instance=INSTANCES.get(name))
        group.describe(told(f"describe with {name}"))
    for name in ("m-1", "A", "m-0"):
        group.beat(told(f"{name} leaves"), name, LEAVES, instance=INSTANCES.get(name))
        # Who leaves makes no new target: the next beat does.
        members["zebra"].beat(told(f"zebra beats without {name}"))
        group.describe(told(f"describe without {name}"))
    members["m-10"].beat(
        told("m-10 wants other topics"), topics=[] if assignor == "uniform" else [FOUR, FIVE]
    )
    members["Ω"].beat(told("Ω wants none"), topics=[NOWHERE])
    group.describe(told("describe other wishes"))
    for name in ("m-1", "m-0"):
        members[name].join(told(f"{name} comes back"), SEVEN)
        group.describe(told(f"describe with {name} back"))
