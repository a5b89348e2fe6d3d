"""The form of a ConsumerGroupHeartbeat: what must be in it, whoever it is from.

Called by `heartbeat`, before anything is looked up.

Source: Kafka's GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid.
"""

from collections.abc import Sequence

from wirekafka.groups.consumer.member import JOINING_EPOCH, LEAVING_EPOCH, STATIC_LEAVING_EPOCH
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_BLANKS = "".join(map(chr, range(ord(" ") + 1)))
"""What Java's trim takes away."""


def check(
    request: ConsumerGroupHeartbeatRequest, assignors: Sequence[str], *, member_id_required: bool
) -> None:
    """Refuse a request of the wrong form, with INVALID_REQUEST or UNSUPPORTED_ASSIGNOR."""
    epoch = request.member_epoch
    if member_id_required or epoch > JOINING_EPOCH or epoch == LEAVING_EPOCH:
        _check_not_blank(request.member_id, "MemberId")
    _check_not_blank(request.group_id, "GroupId")
    _check_not_blank(request.instance_id, "InstanceId")
    _check_not_blank(request.rack_id, "RackId")
    if epoch == JOINING_EPOCH:
        _check_first(request)
    elif epoch == STATIC_LEAVING_EPOCH and request.instance_id is None:
        raise _invalid("InstanceId can't be null for a member that leaves for a while.")
    elif epoch < STATIC_LEAVING_EPOCH:
        raise _invalid(f"MemberEpoch {epoch} means nothing.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not one of {', '.join(assignors)}.",
        )


def _check_first(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be in the first request of a member.")
    if request.topic_partitions is None or request.topic_partitions:
        raise _invalid("TopicPartitions must be empty in the first request of a member.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise _invalid("SubscribedTopicNames or SubscribedTopicRegex must be in a member's first request.")


def _check_not_blank(value: str | None, field: str) -> None:
    if value is not None and not value.strip(_BLANKS):
        raise _invalid(f"{field} can't be empty.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
