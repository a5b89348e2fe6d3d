"""`ConsumerTurn`: a turn that knows of consumer groups, of topics, and of the groups' own settings.

`groups.shard` opens one for each request and deadline; the files of this folder read and write it, and those
of `classic` know the part of it that is a `Turn`.

Source: what Kafka's GroupMetadataManager has at hand beside one group: its groups, CoordinatorMetadataImage
and GroupConfigManager.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirekafka.groups.classic.turn import Turn
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.settings import ConsumerSettings, OverridesOf, no_overrides, settings_of
from wirekafka.groups.deadlines import (
    MemberJoinDeadline,
    MemberSyncDeadline,
    RevocationDeadline,
    SessionDeadline,
)
from wirekafka.groups.topics import NO_TOPICS, Topics


@dataclass(slots=True)
class ConsumerTurn(Turn):
    """What a function that decides about consumer groups is given."""

    consumer_groups: Mapping[str, ConsumerGroup] = field(default_factory=dict)
    """As the log has them; to be read only."""
    topics: Topics = NO_TOPICS
    overrides_of: OverridesOf = no_overrides
    calls_for_target: bool = False
    """Whether the group needs a new target, also where the member that is decided about changes nothing."""

    def expect_no_more_of(self, group_id: str, member_id: str) -> None:
        """Take back all deadlines of a member that goes."""
        for deadline in (SessionDeadline, RevocationDeadline, MemberJoinDeadline, MemberSyncDeadline):
            self.cancel(deadline(group_id, member_id))

    def settings_of(self, group_id: str) -> ConsumerSettings:
        """The times that hold for a consumer group."""
        return settings_of(self.config, self.overrides_of(group_id))
