"""The life of a group with one member, and every mistake on the way.

Called by `run`. Source: the classic group protocol; Kafka's GroupMetadataManager and ClassicGroup.
"""

from __future__ import annotations

from compat_tests.differential.asked_versions import every, spread
from compat_tests.differential.groups import (
    INSTANCE_IN_HEARTBEAT,
    INSTANCE_IN_JOIN,
    MANY_IN_LEAVE,
    MEMBER_ID_REQUIRED,
    PROTOCOL_IN_SYNC,
    TIMEOUT_IN_JOIN,
    Asker,
    await_groups,
)
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.join_group import JoinGroupRequest
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

SECONDS_OF_SILENCE = 1.0


def joining(side: Side) -> None:
    """Join, sync, beat, rejoin, commit and leave in every version of JoinGroup."""
    await_groups(side)
    for version in every(JoinGroupRequest):
        side.stands.begin()
        asker = Asker(side, f"joining-{version}", version)
        _mistaken(asker)
        answer = asker.join_fully("join")
        member = answer.member_id
        _before_sync(asker, member)
        asker.sync("sync", member)
        asker.sync("sync again", member)
        _stable(asker, member)
        _rejoined(asker, member)
        _left(asker, member)
    _one_protocol_twice(side)


def _mistaken(asker: Asker) -> None:
    asker.join("empty group", group="")
    asker.join("session too short", session_ms=5)
    asker.join("session too long", session_ms=10**9)
    asker.join("session -1", session_ms=-1)
    asker.join("no protocols", protocols=())
    asker.join("no protocol type", protocol_type="")
    asker.join("no protocols and an unknown member", "unknown", protocols=())
    asker.join("unknown member", "unknown")
    asker.join("empty protocol name", group=f"{asker.group}-noname", protocols=(("", b""),))
    if asker.version >= TIMEOUT_IN_JOIN:
        asker.join("rebalance timeout -1", group=f"{asker.group}-timeout", rebalance_ms=-1)
    if asker.version >= INSTANCE_IN_JOIN:
        asker.join("empty instance", group=f"{asker.group}-instance", instance="")
        asker.join("unknown member with instance", "unknown", instance="i")
    asker.describe("describe before anybody is in")


def _before_sync(asker: Asker, member: str) -> None:
    asker.heartbeat("heartbeat before sync", member)
    asker.describe("describe before sync")
    _commit(asker, "commit before sync", member, 1)
    asker.sync("sync of unknown group", member, group="unknown")
    asker.sync("sync of empty group", member, group="")
    asker.sync("sync of wrong generation", member, 7)
    asker.sync("sync of generation -1", member, -1)
    asker.sync("sync of unknown member", "unknown")
    asker.sync("sync of empty member", "")
    if asker.version >= PROTOCOL_IN_SYNC:
        asker.sync("sync with wrong type", member, protocol=("other", "range"))
        asker.sync("sync with wrong protocol", member, protocol=("consumer", "other"))
        asker.sync("sync with null type", member, protocol=(None, "range"))
        asker.sync("sync with null protocol", member, protocol=("consumer", None))


def _stable(asker: Asker, member: str) -> None:
    asker.heartbeat("heartbeat", member)
    asker.heartbeat("heartbeat of wrong generation", member, 3)
    asker.heartbeat("heartbeat of generation -1", member, -1)
    asker.heartbeat("heartbeat of unknown member", "unknown")
    asker.heartbeat("heartbeat of empty member", "")
    asker.heartbeat("heartbeat of unknown group", member, group="unknown")
    asker.heartbeat("heartbeat of empty group", member, group="")
    if asker.version >= INSTANCE_IN_HEARTBEAT:
        asker.heartbeat("heartbeat of unknown instance", member, instance="i")
        asker.heartbeat("heartbeat of empty instance", member, instance="")
    asker.describe("describe", asker.group, "unknown", "", operations=True)
    asker.join("another type", member, protocol_type="other")
    asker.join("protocols of nobody", "", protocols=(("other", b""),))
    asker.join("no protocol in common", member, protocols=(("other", b""),), group="unknown")
    if asker.version >= PROTOCOL_IN_SYNC:
        asker.sync("sync of the stable with wrong type", member, protocol=("other", "range"))


def _rejoined(asker: Asker, member: str) -> None:
    answer = asker.join("rejoin, same protocols", member)
    generation = answer.generation_id
    asker.sync("sync after rejoin", member, generation)
    answer = asker.join("rejoin, other protocols", member, protocols=(("range", b"y"), ("other", b"z")))
    asker.heartbeat("heartbeat of the generation before", member, generation)
    generation = answer.generation_id
    asker.heartbeat("heartbeat after rejoin", member, generation)
    _commit(asker, "commit before sync after rejoin", member, generation)
    asker.sync("sync without assignments", member, generation, assignments=())
    asker.describe("describe after sync")
    _commit(asker, "commit", member, generation)
    _commit(asker, "commit of wrong generation", member, generation + 5)
    _commit(asker, "commit of the generation before", member, generation - 1)
    _commit(asker, "commit of unknown member", "unknown", generation)
    _commit(asker, "commit of nobody", "", -1)
    _commit(asker, "commit of generation -1", member, -1)


def _commit(asker: Asker, label: str, member: str, generation: int) -> None:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=5, committed_metadata="m")
    topic = OffsetCommitRequestTopic(name="__consumer_offsets", partitions=[partition])
    request = OffsetCommitRequest(
        group_id=asker.group, generation_id_or_member_epoch=generation, member_id=member, topics=[topic]
    )
    asker.ask(label, request, min(2 + asker.version, 9))


def _left(asker: Asker, member: str) -> None:
    asker.leave("leave of unknown member", ("unknown", None))
    asker.leave("leave of unknown group", ("unknown", None), group="unknown")
    asker.leave("leave of empty group", ("unknown", None), group="")
    asker.leave("leave of empty member", ("", None))
    if asker.version >= MANY_IN_LEAVE:
        asker.leave("leave of none")
        asker.leave("leave of unknown instance", ("", "i"))
        asker.leave("leave of member with instance", (member, "i"))
        asker.leave("leave of many", ("unknown", None), (member, None), ("other", "i"), (member, None))
    else:
        asker.leave("leave", (member, None))
    asker.leave("leave again", (member, None))
    asker.describe("describe the empty group")
    asker.heartbeat("heartbeat after leaving", member, 3)
    asker.sync("sync after leaving", member, 3)
    asker.join("join after leaving", member)
    answer = asker.join_fully("join as another")
    asker.leave("leave before sync", (answer.member_id, None))


def _one_protocol_twice(side: Side) -> None:
    for version in spread(JoinGroupRequest, 3, 4):
        side.stands.begin()
        asker = Asker(side, f"joining-twice-{version}", version)
        request = asker.join_request(protocols=(("range", b"x"), ("range", b"y")))
        answer = side.ask("protocol twice", request, version, patience_seconds=SECONDS_OF_SILENCE)
        if answer is not None and answer.error_code == MEMBER_ID_REQUIRED:
            request.member_id = answer.member_id
            side.ask(
                "protocol twice, with the member id",
                request,
                version,
                patience_seconds=SECONDS_OF_SILENCE,
            )
