"""Static members: rejoining by instance, fencing the one before, leaving by instance.

Called by `run`. Source: KIP-345, KIP-814 (v9 skips the assignment); Kafka's ClassicGroup.
"""

from __future__ import annotations

from compat_tests.differential.groups import MANY_IN_LEAVE, Asker, await_groups
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)


def static_members(side: Side) -> None:
    """Go through the life of a static member in every version that has instances."""
    await_groups(side)
    for version in range(5, 10):
        side.stands.begin()
        asker = Asker(side, f"static-{version}", version)
        before = asker.join("join", instance="i").member_id
        answer = asker.join("rejoin before sync", instance="i")
        member, generation = answer.member_id, answer.generation_id
        asker.sync("sync of the one before", before, generation, instance="i")
        asker.sync("sync", member, generation, instance="i")
        answer = asker.join("rejoin when stable", instance="i")
        _fenced(asker, before=member, member=answer.member_id, generation=answer.generation_id)
        answer = asker.join("rejoin with other protocols", instance="i", protocols=(("range", b"new"),))
        asker.sync("sync after other protocols", answer.member_id, answer.generation_id, instance="i")
        _left(asker, answer.member_id, answer.generation_id)


def _fenced(asker: Asker, *, before: str, member: str, generation: int) -> None:
    asker.join("join of the one before", before, instance="i")
    asker.join("join with unknown instance", member, instance="unknown")
    asker.join("join without instance", member)
    asker.heartbeat("heartbeat of the one before", before, generation, instance="i")
    asker.heartbeat("heartbeat", member, generation, instance="i")
    asker.heartbeat("heartbeat without instance", member, generation)
    asker.heartbeat("heartbeat of unknown instance", member, generation, instance="unknown")
    asker.sync("sync of the one fenced", before, generation, instance="i")
    asker.sync("sync of the stable", member, generation, instance="i")
    asker.sync("sync of unknown instance", member, generation, instance="unknown")
    for label, who, instance, at in (
        ("commit of the one before", before, "i", generation),
        ("commit", member, "i", generation),
        ("commit of unknown instance", member, "unknown", generation),
        ("commit of wrong generation", member, "i", generation + 7),
    ):
        _commit(asker, label, who, instance, at)
    asker.describe("describe", operations=True)


def _commit(asker: Asker, label: str, member: str, instance: str, generation: int) -> None:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata="")
    request = OffsetCommitRequest(
        group_id=asker.group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        group_instance_id=instance,
        topics=[OffsetCommitRequestTopic(name="__consumer_offsets", partitions=[partition])],
    )
    asker.ask(label, request, min(asker.version + 2, 9))


def _left(asker: Asker, member: str, generation: int) -> None:
    assert min(asker.version, 5) >= MANY_IN_LEAVE
    asker.leave("leave of unknown instance", ("", "unknown"))
    asker.leave("leave of another member id", ("unknown", "i"))
    asker.leave("leave by instance", ("", "i"))
    asker.leave("leave again", ("", "i"))
    asker.heartbeat("heartbeat after leaving", member, generation, instance="i")
    asker.describe("describe the empty group")
    asker.join("join after leaving", instance="i")
    asker.leave("leave before sync", ("", "i"))
