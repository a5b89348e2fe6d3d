"""Tests of groups/failures.py."""

import pytest

from wirekafka.groups.classic.responses import join_error, sync_error
from wirekafka.groups.failures import client_code, failed
from wirekafka.protocol.apis.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from wirekafka.protocol.apis.delete_groups import DeletableGroupResult
from wirekafka.protocol.apis.heartbeat import HeartbeatResponse
from wirekafka.protocol.apis.join_group import JoinGroupResponse
from wirekafka.protocol.apis.leave_group import LeaveGroupResponse
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from wirekafka.protocol.apis.offset_delete import OffsetDeleteResponse
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode


def test_errors_of_the_log_become_errors_of_a_coordinator() -> None:
    """Kafka: clients look for the coordinator again, or give up, but never see a storage error."""
    assert client_code(ErrorCode.KAFKA_STORAGE_ERROR) is ErrorCode.NOT_COORDINATOR
    assert client_code(ErrorCode.NOT_ENOUGH_REPLICAS) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert client_code(ErrorCode.MESSAGE_TOO_LARGE) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert client_code(ErrorCode.COORDINATOR_NOT_AVAILABLE) is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_answers_turn_into_refusals() -> None:
    """No promise of the answer is left in it."""
    joined = JoinGroupResponse(
        error_code=ErrorCode.NONE, generation_id=3, protocol_name="p", leader="a", member_id="a", members=[]
    )
    synced = SyncGroupResponse(error_code=ErrorCode.NONE, assignment=b"x")
    code = ErrorCode.NOT_COORDINATOR

    assert failed(joined, code) == join_error(code)
    assert failed(synced, code) == sync_error(code)
    assert failed(OffsetDeleteResponse(), code) == OffsetDeleteResponse(error_code=code)
    assert failed(DeletableGroupResult(group_id="g"), code) == DeletableGroupResult(
        group_id="g", error_code=code
    )
    beaten = ConsumerGroupHeartbeatResponse(member_id="m", member_epoch=3)
    assert failed(beaten, code) == ConsumerGroupHeartbeatResponse(error_code=code)
    assert failed(LeaveGroupResponse(error_code=ErrorCode.NONE), code) == LeaveGroupResponse(error_code=code)


def test_refusals_stay_as_they_are() -> None:
    """What did not rest on the records still holds."""
    refused = join_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "a")

    assert failed(refused, ErrorCode.NOT_COORDINATOR) == refused
    held = HeartbeatResponse(error_code=ErrorCode.NONE)
    assert failed(held, ErrorCode.NOT_COORDINATOR) is held


def test_only_the_partitions_that_would_have_been_stored_fail() -> None:
    """An OffsetCommit has a code for each partition."""
    partitions = [
        OffsetCommitResponsePartition(partition_index=0, error_code=ErrorCode.NONE),
        OffsetCommitResponsePartition(partition_index=1, error_code=ErrorCode.OFFSET_METADATA_TOO_LARGE),
    ]
    response = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=partitions)])
    answer = failed(response, ErrorCode.NOT_COORDINATOR)

    assert isinstance(answer, OffsetCommitResponse)
    assert [one.error_code for one in answer.topics[0].partitions] == [16, 12]


def test_other_answers_are_our_own_mistake() -> None:
    """A shard gives no other kind of reply."""
    with pytest.raises(TypeError, match="str"):
        failed("hello", ErrorCode.NOT_COORDINATOR)
