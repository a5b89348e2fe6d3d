"""Groups of types that are not served here, share and streams groups: that they are there, and no more.

Made by `applying` from the log of a broker that serves them, in whose folder this one has been started. Their
ids are taken: whoever would join one is refused, and nothing is written for them, so that such a broker finds
them again as it left them. Read by all that looks for a group by its id.

Source: Kafka's Group.GroupType, ShareGroup and StreamsGroup; KIP-932, KIP-1071.
"""

from dataclasses import dataclass
from enum import Enum


class ForeignGroupType(Enum):
    """What such a group is; the values are Kafka's words for its type, and for its protocol type."""

    SHARE = "share"
    """Its members share the records of a partition."""
    STREAMS = "streams"
    """Its members are instances of a Kafka Streams application."""


class ForeignGroupState(Enum):
    """What such a group is doing."""

    UNKNOWN = "Unknown"
    """Nobody looks after its members here."""


@dataclass(frozen=True, slots=True)
class ForeignGroup:
    """A group that is left alone."""

    group_id: str
    group_type: ForeignGroupType

    @property
    def state(self) -> ForeignGroupState:
        return ForeignGroupState.UNKNOWN
