"""The fields that may differ between two brokers, and how each is made comparable.

A rule replaces a value by what it stands for; a value that stands for nothing is compared as it is, so
that "no id" against "an id" is still seen. Called by `plain`.
Source: what Kafka draws at random, reads from a clock, or words in free text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Plain = None | bool | int | str | list["Plain"] | dict[str, "Plain"]
"""An answer without classes: what is compared, and printed."""

UUID_TEXT = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
MEMBER_ID_MADE = re.compile(r"[\w-]{22}")
"""A random id in base64, as Kafka gives it to a member of a consumer group; ours is a UUID's text."""
_LEAST_TIME_MS = 1_500_000_000_000

MAY_DIFFER: Mapping[str, str] = {
    "topic_id": "drawn at random; stands for the topic's name",
    "member_id": "ends in a random UUID; members are numbered as they appear (so is `leader` of JoinGroup)",
    "producer_id": "handed out by the broker; numbered as they appear",
    "session_id": "drawn at random; fetch sessions are numbered as they appear",
    "cluster_id": "the cluster's own",
    "port": "the broker's own",
    "log_append_time_ms": "the broker's clock; so are max_timestamp and crc of a batch with that time",
    "finalized_features_epoch": "an offset in the metadata log",
    "error_message": "free text: that there is one is compared, not its words",
}

ORDERED = frozenset({"synonyms", "record_errors", "records", "replica_nodes", "isr_nodes"})
"""Lists whose order means something; any other is sorted by what names its entries."""
NAMED_BY = (
    "topic_id", "name", "topic", "key", "resource_type", "resource_name", "partition_index", "partition",
    "index", "group_id", "api_key", "member_id", "node_id", "broker_id",
)  # fmt: skip


class Text(str):
    """A message for people: equal to any other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return 0


@dataclass(slots=True)
class Stands:
    """What the random values of one broker stand for."""

    topics: dict[bytes, str] = field(default_factory=dict)
    numbered: dict[str, dict[object, str]] = field(default_factory=dict)

    def begin(self) -> None:
        """Count from one again: what one scenario draws more of, shifts no number in the next."""
        self.numbered.clear()

    def for_bytes(self, name: str, value: bytes) -> Plain:
        if name == "topic_id":
            return self.topics.get(value, "no topic" if not any(value) else value.hex())
        return value.hex()

    def for_text(self, name: str, value: str) -> Plain:
        if name in ("error_message", "batch_index_error_message"):
            return Text(value)
        if name == "cluster_id":
            return "the cluster" if value else value
        if name in ("member_id", "leader") and MEMBER_ID_MADE.fullmatch(value):
            return self._number("uuid", value)
        return UUID_TEXT.sub(lambda found: self._number("uuid", found.group()), value)

    def for_number(self, name: str, value: int) -> Plain:
        if name in ("producer_id", "session_id") and value > 0:
            return self._number(name, value)
        if name == "port" and value > 0:
            return "a port"
        if name == "log_append_time_ms" and value > _LEAST_TIME_MS:
            return "a time"
        if name == "finalized_features_epoch" and value >= 0:
            return "an epoch"
        return value

    def _number(self, kind: str, value: object) -> str:
        known = self.numbered.setdefault(kind, {})
        return known.setdefault(value, f"{kind} {len(known) + 1}")
