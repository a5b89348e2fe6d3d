"""`Volatile`: all of a group shard that does not survive a restart.

The groups as they stand between two records (who has joined, who waits), the requests that wait, and when
each member or rebalance runs out of time. `groups.shard` holds it; who decides about a group of either kind
changes it meanwhile.

Source: what Kafka's GroupMetadataManager keeps in ClassicGroup and CoordinatorTimer only.
"""

from dataclasses import dataclass, field

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.classic.member import Parked
from wirekafka.groups.deadlines import Deadline, Deadlines, HeldDeadline
from wirekafka.machine import Ticket


@dataclass(slots=True)
class Volatile:
    """Lost at a restart, and made anew from the records and from what clients send."""

    classic_groups: dict[str, ClassicGroup] = field(default_factory=dict)
    parked: dict[Ticket, Parked] = field(default_factory=dict)
    held_heartbeats: dict[HeldDeadline, Parked] = field(default_factory=dict)
    deadlines: Deadlines[Deadline] = field(default_factory=Deadlines)
    metadata_checks: dict[str, int] = field(default_factory=dict)
    """Consumer group to the epoch at which its topics were last found as they are, or noted as such."""
    new_topics_generation: int = -1
    """The generation of `Topics` at which a topic was last made, as far as was heard."""
