"""Two members of one group: the vote, waiting joins and syncs, one leaving, one unheard of.

Called by `run`. Source: the classic group protocol; Kafka's ClassicGroup.
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.groups import (
    MEMBER_ID_REQUIRED,
    NEWEST_SYNC,
    Asker,
    Protocols,
    await_groups,
)
from compat_tests.differential.side import Side
from compat_tests.differential.wire import Connection, framed, request_body
from wirekafka.protocol.apis.sync_group import SyncGroupRequest

JOIN_KEY, SYNC_KEY = 11, 14
ONE: Protocols = (("sticky", b"1"), ("range", b"1"))
TWO: Protocols = (("other", b"2"), ("range", b"2"), ("sticky", b"2"))


def rebalancing(side: Side) -> None:
    """Let a second member in, and the first one out again."""
    await_groups(side)
    for version in (0, 3, 4, 7, 9):
        side.stands.begin()
        asker = Asker(side, f"rebalancing-{version}", version)
        other = side.another()
        try:
            _two_members(asker, other)
        finally:
            other.close()


def _two_members(asker: Asker, other: Connection) -> None:
    first = asker.join_fully("first joins", protocols=ONE).member_id
    asker.sync("first syncs", first, protocol=("consumer", "sticky"))
    asker.join("second, nothing in common", protocols=(("odd", b""),))
    second = _second_waits(asker, other, first)
    answer = asker.join("first rejoins", first, protocols=ONE)
    joined = _receive(asker, "second has joined", other, JOIN_KEY, asker.version)
    second = second or joined.member_id
    protocol = ("consumer", answer.protocol_name)
    _sync_both(asker, other, first, second, protocol)
    asker.heartbeat("second beats", second, 2)
    asker.describe("two members")
    asker.leave("first leaves", (first, None))
    asker.heartbeat("second hears of it", second, 2)
    asker.sync("second syncs too early", second, 2, protocol=protocol)
    answer = asker.join("second rejoins", second, protocols=TWO)
    asker.heartbeat("first is unknown", first, answer.generation_id)
    asker.leave("second leaves", (second, None))


def _second_waits(asker: Asker, other: Connection, first: str) -> str:
    """Send the second's join, and wait until the first hears of it; give its member id where it is known."""
    second = ""
    asked = (
        asker.side.arrange(asker.join_request(protocols=TWO), asker.version) if asker.version >= 4 else None
    )
    if asked is not None and asked.error_code == MEMBER_ID_REQUIRED:
        second = asked.member_id
    asker.join_waiting(other, second, protocols=TWO)
    asker.await_rebalance(first, 1)
    asker.heartbeat("first hears of the second", first)
    asker.describe("first has not rejoined")
    asker.sync("first syncs while joining", first, protocol=("consumer", "sticky"))
    return second


def _sync_both(
    asker: Asker, other: Connection, first: str, second: str, protocol: tuple[str, str | None]
) -> None:
    request = SyncGroupRequest(
        group_id=asker.group,
        generation_id=2,
        member_id=second,
        protocol_type=protocol[0],
        protocol_name=protocol[1],
        assignments=[],
    )
    version = min(asker.version, NEWEST_SYNC)
    other.send(framed(request_body(request, version)))
    asker.heartbeat("first beats before it syncs", first, 2)
    given = ((first, b"F"), (second, b"S"), ("unknown", b"U"))
    asker.sync("first syncs for both", first, 2, protocol=protocol, assignments=given)
    _receive(asker, "second has synced", other, SYNC_KEY, version)


# Any: as for Side.ask.
def _receive(asker: Asker, label: str, other: Connection, api_key: int, version: int) -> Any:
    return asker.side.receive(asker.told(label, version), other, api_key, version)
