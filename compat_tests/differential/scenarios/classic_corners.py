"""Corners of the classic protocol: members that only have an id, that wait twice, that do not come back.

Called by `run`. Source: KIP-394 (pending members), KIP-345 (fencing those that wait), KIP-814 (v9);
Kafka's GroupMetadataManager.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from compat_tests.differential.groups import Asker, await_groups
from compat_tests.differential.side import Side
from compat_tests.differential.wire import Connection, framed, request_body
from wirekafka.protocol.apis.sync_group import SyncGroupRequest

JOIN_KEY, SYNC_KEY, SYNC = 11, 14, 5
SOON_MS = 500
SECONDS_OF_SILENCE = 1.0
TIES = (
    ("cooperative-sticky", "range"),
    ("range", "roundrobin"),
    ("sticky", "range"),
    ("default", "sessioned"),
    ("v1", "v2"),
    ("a", "b"),
    ("range", "roundrobin", "sticky"),
)
"""Protocols of which one member has the first at the top of its list, and the other the last.

No two have one hash: those would be told apart by the members' ids, which are random.
"""


def classic_corners(side: Side) -> None:
    """Go through each corner with a group of its own."""
    await_groups(side)
    for version in (4, 9):
        for corner in (_pending, _same_again, _not_back_in_time):
            side.stands.begin()
            asker = Asker(side, f"corner{corner.__name__}-{version}", version)
            with _another(side) as other:
                corner(asker, other)
    for corner in (
        _waits_twice,
        _static_that_waits,
        _leader_leaves,
        _follower_syncs_first,
        _assigned_in_part,
    ):
        side.stands.begin()
        with _another(side) as other:
            corner(Asker(side, f"corner{corner.__name__}", 9), other)

    for number, names in enumerate(TIES):
        side.stands.begin()
        with _another(side) as other:
            _tied_vote(Asker(side, f"corner-vote-{number}", 9), other, names)


@contextmanager
def _another(side: Side) -> Iterator[Connection]:
    other = side.another()
    try:
        yield other
    finally:
        other.close()


def _told(asker: Asker, label: str) -> str:
    return f"{asker.group}: {label}"


def _pending(asker: Asker, other: Connection) -> None:
    """Who has been given an id, and has not joined with it, is no member yet."""
    pending = asker.join(_told(asker, "is given an id")).member_id
    asker.heartbeat(_told(asker, "pending beats"), pending, 0)
    asker.sync(_told(asker, "pending syncs"), pending, 0)
    asker.describe(_told(asker, "describe with one pending"))
    asker.leave(_told(asker, "pending leaves"), (pending, None))
    asker.join(_told(asker, "joins with the id after leaving"), pending)
    first = asker.join_fully(_told(asker, "first joins")).member_id
    second = asker.join(_told(asker, "second is given an id")).member_id
    asker.sync(_told(asker, "first syncs"), first)
    asker.heartbeat(_told(asker, "second beats"), second)
    asker.join(_told(asker, "second joins by another type"), second, protocol_type="other")
    asker.join(_told(asker, "second joins with nothing in common"), second, protocols=(("other", b""),))
    asker.leave(_told(asker, "both leave"), (first, None), (second, None))


def _same_again(asker: Asker, other: Connection) -> None:
    """A follower that joins again unchanged is told of the generation there is; a leader begins a new one."""
    first, second = _two(asker, other)
    asker.join(_told(asker, "follower joins again"), second)
    asker.sync(_told(asker, "follower syncs again"), second, 2, assignments=())
    asker.heartbeat(_told(asker, "leader beats"), first, 2)
    asker.join_waiting(other, first)
    asker.await_rebalance(second, 2)
    asker.join(_told(asker, "follower joins after the leader"), second)
    asker.side.receive(_told(asker, "leader has joined"), other, JOIN_KEY, asker.version)
    asker.heartbeat(_told(asker, "follower beats before the sync"), second, 3)
    asker.join(_told(asker, "follower joins again before the sync"), second)
    asker.describe(_told(asker, "describe before the sync"))


def _waits_twice(asker: Asker, other: Connection) -> None:
    """A member joins while its own join waits: the new one takes the place of the old."""
    first, _ = _two(asker, other)
    third = asker.side.arrange(asker.join_request(), asker.version).member_id
    asker.join_waiting(other, third)
    asker.await_rebalance(first, 2)
    with _another(asker.side) as again:
        asker.join_waiting(again, third)
        asker.side.receive(
            _told(asker, "the join that waited first"),
            other,
            JOIN_KEY,
            asker.version,
            patience_seconds=SECONDS_OF_SILENCE,
        )


def _static_that_waits(asker: Asker, other: Connection) -> None:
    """A static member whose join waits is fenced by another of its name."""
    first, _ = _two(asker, other)
    asker.join_waiting(other, instance="i")
    asker.await_rebalance(first, 2)
    with _another(asker.side) as again:
        asker.join_waiting(again, instance="i")
        asker.side.receive(_told(asker, "the one before"), other, JOIN_KEY, asker.version)


def _not_back_in_time(asker: Asker, other: Connection) -> None:
    """Who does not rejoin within the rebalance time-out is out."""
    first = asker.join_fully(_told(asker, "first joins"), rebalance_ms=SOON_MS).member_id
    asker.sync(_told(asker, "first syncs"), first)
    given = asker.side.arrange(asker.join_request(rebalance_ms=SOON_MS), asker.version).member_id
    asker.join_waiting(other, given, rebalance_ms=SOON_MS)
    asker.side.receive(_told(asker, "second has joined alone"), other, JOIN_KEY, asker.version)
    asker.heartbeat(_told(asker, "first beats"), first, 1)
    asker.join(_told(asker, "first joins too late"), first)
    asker.describe(_told(asker, "describe the second alone"))


def _leader_leaves(asker: Asker, other: Connection) -> None:
    """A sync that waits is answered when the leader leaves."""
    first, second = _joined(asker, other)
    _sync_waits(asker, other, second)
    asker.leave(_told(asker, "leader leaves"), (first, None))
    asker.side.receive(_told(asker, "the sync that waited"), other, SYNC_KEY, SYNC)
    asker.join(_told(asker, "second rejoins"), second)


def _follower_syncs_first(asker: Asker, other: Connection) -> None:
    """A sync that waits is answered when the leader's comes."""
    first, second = _joined(asker, other)
    _sync_waits(asker, other, second)
    asker.heartbeat(_told(asker, "second beats while it waits"), second, 2)
    asker.sync(_told(asker, "leader syncs"), first, 2, assignments=((first, b"F"), (second, b"S")))
    asker.side.receive(_told(asker, "the sync that waited"), other, SYNC_KEY, SYNC)


def _assigned_in_part(asker: Asker, other: Connection) -> None:
    """A leader may leave members out, and name some that are not there."""
    first, second = _joined(asker, other)
    asker.sync(_told(asker, "follower's assignments do not count"), first, 2, assignments=(("x", b"X"),))
    asker.sync(_told(asker, "second syncs"), second, 2, assignments=((second, b"own"),))
    asker.describe(_told(asker, "describe what was assigned"))


def _tied_vote(asker: Asker, other: Connection, names: Sequence[str]) -> None:
    """Each protocol has as many votes: Kafka takes the one that comes first by its hash."""
    ours = tuple((name, b"1") for name in names)
    theirs = ours[::-1]
    first = asker.join_fully(_told(asker, "first joins"), protocols=ours).member_id
    asker.sync(_told(asker, "first syncs"), first, protocol=("consumer", None))
    given = asker.side.arrange(asker.join_request(protocols=theirs), asker.version).member_id
    asker.join_waiting(other, given, protocols=theirs)
    asker.await_rebalance(first, 1)
    asker.join(_told(asker, "first rejoins"), first, protocols=ours)
    asker.side.receive(_told(asker, "second has joined"), other, JOIN_KEY, asker.version)


def _two(asker: Asker, other: Connection) -> tuple[str, str]:
    """Let two members be in a stable group of generation 2; the first leads."""
    first, second = _joined(asker, other)
    asker.sync(_told(asker, "leader syncs"), first, 2, assignments=((first, b"F"), (second, b"S")))
    asker.sync(_told(asker, "follower syncs"), second, 2, assignments=())
    return first, second


def _joined(asker: Asker, other: Connection) -> tuple[str, str]:
    first = str(asker.join_fully(_told(asker, "first joins")).member_id)
    asker.sync(_told(asker, "first syncs"), first)
    second = str(asker.side.arrange(asker.join_request(), asker.version).member_id)
    asker.join_waiting(other, second)
    asker.await_rebalance(first, 1)
    asker.join(_told(asker, "first rejoins"), first)
    asker.side.receive(_told(asker, "second has joined"), other, JOIN_KEY, asker.version)
    return first, second


def _sync_waits(asker: Asker, other: Connection, member_id: str) -> None:
    """Send a sync, and wait until the broker has it: it answers what comes after it."""
    request = SyncGroupRequest(
        group_id=asker.group,
        generation_id=2,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[],
    )
    other.send(framed(request_body(request, SYNC)))
