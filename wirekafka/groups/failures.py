"""What a reply becomes when the records that it rests on could not be written.

Called by `groups.shard` in `on_append_failed`.

Source: Kafka's GroupMetadataManager.appendGroupMetadataErrorToResponseError and
CoordinatorOperationExceptionHelper.
"""

from wirekafka.groups.classic.responses import join_error, sync_error
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from wirekafka.protocol.apis.delete_groups import DeletableGroupResult
from wirekafka.protocol.apis.heartbeat import HeartbeatResponse
from wirekafka.protocol.apis.join_group import JoinGroupResponse
from wirekafka.protocol.apis.leave_group import LeaveGroupResponse
from wirekafka.protocol.apis.offset_commit import OffsetCommitResponse
from wirekafka.protocol.apis.offset_delete import OffsetDeleteResponse
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode

_AS_CLIENTS_KNOW_IT = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def client_code(code: ErrorCode) -> ErrorCode:
    """Say an error of the log as one that a group's client knows what to do about."""
    return _AS_CLIENTS_KNOW_IT.get(code, code)


def failed(response: object, code: ErrorCode) -> object:
    """Make the answer that takes the place of `response`; errors that it has already are kept.

    A Heartbeat rests on no record: one that was held is answered beside those that do.
    """
    match response:
        case JoinGroupResponse():
            return join_error(code) if response.error_code == ErrorCode.NONE else response
        case SyncGroupResponse():
            return sync_error(code) if response.error_code == ErrorCode.NONE else response
        case LeaveGroupResponse():
            return LeaveGroupResponse(error_code=code)
        case OffsetCommitResponse():
            return _failed_commit(response, code)
        case HeartbeatResponse():
            return response
        case ConsumerGroupHeartbeatResponse():
            return ConsumerGroupHeartbeatResponse(error_code=code)
        case OffsetDeleteResponse():
            return OffsetDeleteResponse(error_code=code)
        case DeletableGroupResult():
            return DeletableGroupResult(group_id=response.group_id, error_code=code)
        case _:
            raise TypeError(f"a group shard does not answer with {type(response).__name__}")


def _failed_commit(response: OffsetCommitResponse, code: ErrorCode) -> OffsetCommitResponse:
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.error_code == ErrorCode.NONE:
                partition.error_code = code
    return response
