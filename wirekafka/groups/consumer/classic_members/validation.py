"""What must be true of a request of the classic protocol before a consumer group listens to it.

Called by `joining`, `syncing` and `liveness`.

Source: Kafka's GroupMetadataManager (validateConsumerGroupMember and its throwIf methods for classic
members) and ConsumerGroup.supportsClassicProtocols.
"""

from collections import Counter

from wirekafka.groups.config import GroupConfig, MigrationPolicy
from wirekafka.groups.consumer import admission
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE
from wirekafka.protocol.apis.join_group import JoinGroupRequest
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata


def check_migration(config: GroupConfig, group: ConsumerGroup) -> None:
    """Raise INCONSISTENT_GROUP_PROTOCOL where groups are not to be mixed at all."""
    if config.group_consumer_migration_policy is MigrationPolicy.DISABLED:
        raise _inconsistent(
            f"Cannot join the consumer group {group.group_id} with the classic protocol because the group "
            "migration is disabled."
        )


def check_protocols(group: ConsumerGroup, request: JoinGroupRequest) -> None:
    """Raise INCONSISTENT_GROUP_PROTOCOL unless there is a protocol that all classic members offer."""
    offers = [
        {protocol.name for protocol in member.classic.supported_protocols}
        for member in group.members.values()
        if member.classic is not None
    ]
    counts = Counter(name for offered in offers for name in offered)
    is_common = any(counts[protocol.name] == len(offers) for protocol in request.protocols)
    if request.protocol_type != CONSUMER_PROTOCOL_TYPE or not is_common:
        names = ", ".join(protocol.name for protocol in request.protocols) or "none"
        raise _inconsistent(
            f"Group {group.group_id} of type consumer has members that do not know the protocols ({names}) "
            f"of type {request.protocol_type!r}."
        )


def find_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation_id: int
) -> tuple[ConsumerMember, ClassicMemberMetadata]:
    """Find the member that sent a Heartbeat or SyncGroup.

    Raises UNKNOWN_MEMBER_ID, also for a member of the consumer protocol, FENCED_INSTANCE_ID, and
    ILLEGAL_GENERATION for a generation that is not its epoch.
    """
    if instance_id is None:
        member = admission.existing_member(group, member_id)
    else:
        member = admission.existing_static_member(group, instance_id, member_id)
    if member.classic is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol."
        )
    if generation_id != member.member_epoch:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION,
            f"Generation {generation_id} is not the epoch {member.member_epoch} of member {member_id}.",
        )
    return member, member.classic


def check_chosen_protocol(
    classic: ClassicMemberMetadata, protocol_type: str | None, protocol_name: str | None
) -> None:
    """Raise INCONSISTENT_GROUP_PROTOCOL for another protocol than the member was told when it joined."""
    if protocol_type not in (None, CONSUMER_PROTOCOL_TYPE):
        raise _inconsistent(f"The protocol type of a consumer group is not {protocol_type}.")
    if protocol_name not in (None, chosen_protocol(classic)):
        raise _inconsistent(f"The member's protocol is {chosen_protocol(classic)}, not {protocol_name}.")


def chosen_protocol(classic: ClassicMemberMetadata) -> str:
    """Name the protocol that the member is told: the one it likes best, since nobody else assigns by it."""
    return classic.supported_protocols[0].name


def _inconsistent(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, message)
