"""The contract of every state machine: decide, record, apply, reply.

A machine is asked by `broker.journal`: it *decides* from its present state and the time it is
given, and answers with a `Decision`. The journal appends the decision's records to the machine's
partition, hands each to `apply`, and only then releases the replies. After a restart the same
`apply` runs over the log, so what a reply promised is what recovery finds.

What must survive a restart changes in `apply` alone. What need not (who waits for a reply, when a
member was last heard of) a machine may change while it decides.

Source: the shape of Kafka's coordinator runtime (CoordinatorResult and replay).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, NewType, Protocol, TypeVar

from wirekafka.protocol.error_codes import KafkaError

Ticket = NewType("Ticket", int)
"""Names one request that waits for its reply; drawn by the journal, never used twice."""

R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one ticket: a response message, or the error to answer with."""

    ticket: Ticket
    response: object


@dataclass(slots=True)
class Decision(Generic[R]):
    """What a machine wants done, in order: append `records`, apply them, release `replies`."""

    records: list[R] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    may_be_split: bool = False
    """Whether every record stands for itself. Else they are written together or not at all."""


class Machine(Protocol[R]):
    """A state machine whose durable state is what its records say."""

    def apply(self, record: R, /) -> None:
        """Change the durable state by one record; the only place where that happens."""

    def wake_at_ms(self) -> int | None:
        """The earliest time at which `on_time` has something to decide; None when nothing waits."""

    def on_time(self, now_ms: int) -> Decision[R]:
        """Decide everything that fell due by `now_ms`."""

    def on_append_failed(self, decision: Decision[R], error: KafkaError, now_ms: int) -> Decision[R]:
        """The decision's records could not be written: undo what was volatile, answer its tickets.

        The decision that comes back has no records.
        """


class Records(Protocol[R]):
    """How a machine's records look in its log."""

    def encode(self, record: R, now_ms: int) -> "KeyValue": ...

    def decode(self, item: "KeyValue") -> R | None:
        """None for a record this version does not know, which is then passed over."""


@dataclass(frozen=True, slots=True)
class KeyValue:
    """One record of a machine's log as bytes; a null value deletes the key (a tombstone)."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int = -1


KeyValues = Sequence[KeyValue]
