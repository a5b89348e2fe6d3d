"""ConsumerGroupHeartbeat and ConsumerGroupDescribe over TCP, at both versions.

The rules are tested in tests/groups/consumer; here it is what versions and the wire make of them.
"""

import uuid
from typing import Any

import pytest

from tests.handlers.support import AS_BROKER_SENDS_NO_OPERATIONS, fresh, make_coordinator, new_topic
from tests.support.consumer_protocol import assigned_by, subscription_bytes
from tests.support.raw_client import RawClient
from tests.support.requests import create_topic
from wirekafka.groups import GroupShard
from wirekafka.ids import uuid_text
from wirekafka.protocol.apis.consumer_group_describe import ConsumerGroupDescribeRequest
from wirekafka.protocol.apis.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatTopicPartitions,
)
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from wirekafka.protocol.apis.leave_group import LeaveGroupRequest
from wirekafka.protocol.apis.sync_group import SyncGroupRequest
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import running_broker

both_forms = pytest.mark.parametrize("version", [0, 1])
GROUP = 32


@pytest.fixture(autouse=True)
def coordinator(raw: RawClient) -> None:
    make_coordinator(raw)


def beat(raw: RawClient, version: int, group: str, member: str, epoch: int, **said: Any) -> Any:
    request = ConsumerGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=epoch, **said)
    return raw.ask(request, version)


def join(raw: RawClient, version: int, group: str, member: str, topic: str, **said: Any) -> Any:
    return beat(
        raw,
        version,
        group,
        member,
        0,
        **{
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_names": [topic],
            "topic_partitions": [],
            **said,
        },
    )


def describe(raw: RawClient, version: int, *groups: str, operations: bool = False) -> Any:
    request = ConsumerGroupDescribeRequest(group_ids=list(groups), include_authorized_operations=operations)
    return raw.ask(request, version).groups


def assigned(answer: Any) -> dict[bytes, list[int]]:
    return {topic.topic_id: topic.partitions for topic in answer.assignment.topic_partitions}


@both_forms
def test_member_is_given_its_partitions_by_its_first_heartbeat(raw: RawClient, version: int) -> None:
    (topic, topic_id), group = new_topic(raw, partitions=3), fresh("group")

    answer = join(raw, version, group, "member", topic)

    assert (answer.error_code, answer.error_message, answer.throttle_time_ms) == (0, None, 0)
    assert (answer.member_id, answer.heartbeat_interval_ms > 0) == ("member", True)
    assert assigned(answer) == {topic_id: [0, 1, 2]}
    again = beat(raw, version, group, "member", answer.member_epoch)
    assert (again.member_epoch, again.assignment) == (answer.member_epoch, None)


def test_member_id_may_be_the_brokers_to_choose_in_version_0_only(raw: RawClient) -> None:
    """KIP-1082."""
    topic, _ = new_topic(raw)

    old = join(raw, 0, fresh("group"), "", topic)
    new = join(raw, 1, fresh("group"), "", topic)

    assert (old.error_code, len(old.member_id)) == (0, 22)
    assert new.error_code == ErrorCode.INVALID_REQUEST
    assert new.error_message


def test_regular_expression_is_known_since_version_1(raw: RawClient) -> None:
    topic, topic_id = new_topic(raw, partitions=2)

    answer = join(
        raw, 1, fresh("group"), "member", topic, subscribed_topic_names=[], subscribed_topic_regex=topic
    )
    malformed = join(raw, 1, fresh("group"), "member", topic, subscribed_topic_regex="(")

    assert assigned(answer) == {topic_id: [0, 1]}
    assert malformed.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert malformed.error_message


@both_forms
def test_refusal_has_a_sentence(raw: RawClient, version: int) -> None:
    answer = beat(raw, version, fresh("group"), "member", 5)

    assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert answer.error_message


@both_forms
def test_group_is_described_with_its_members(raw: RawClient, version: int) -> None:
    """KIP-1099: from v1 on with the members' types."""
    (topic, topic_id), group = new_topic(raw, partitions=2), fresh("group")
    epoch = join(raw, version, group, "member", topic, rack_id="r").member_epoch

    (told,) = describe(raw, version, group)

    assert (told.error_code, told.error_message, told.group_id) == (0, None, group)
    assert (told.group_state, told.assignor_name) == ("Stable", "uniform")
    assert (told.group_epoch, told.assignment_epoch) == (epoch, epoch)
    assert told.authorized_operations == AS_BROKER_SENDS_NO_OPERATIONS
    (member,) = told.members
    assert (member.member_id, member.rack_id, member.member_epoch) == ("member", "r", epoch)
    assert (member.client_id, member.client_host) == ("raw", "/127.0.0.1")
    assert member.subscribed_topic_names == [topic]
    assert member.member_type == (1 if version >= 1 else -1)
    for assignment in (member.assignment, member.target_assignment):
        topics = [(one.topic_id, one.topic_name, one.partitions) for one in assignment.topic_partitions]
        assert topics == [(topic_id, topic, [0, 1])]


@both_forms
def test_operations_are_told_when_asked_for(raw: RawClient, version: int) -> None:
    """KIP-430. Not for a group that is not there."""
    topic, _ = new_topic(raw)
    group = fresh("group")
    join(raw, version, group, "member", topic)

    known, unknown = describe(raw, version, group, fresh("group"), operations=True)

    assert known.authorized_operations > 0
    assert unknown.authorized_operations == AS_BROKER_SENDS_NO_OPERATIONS


@both_forms
def test_groups_that_cannot_be_described_each_have_their_error(raw: RawClient, version: int) -> None:
    empty, unknown = describe(raw, version, "", group := fresh("group"))

    assert (empty.group_id, empty.error_code) == ("", ErrorCode.INVALID_GROUP_ID)
    assert (unknown.group_id, unknown.error_code) == (group, ErrorCode.GROUP_ID_NOT_FOUND)
    assert (unknown.group_state, unknown.members) == ("", [])
    assert unknown.error_message


def test_groups_own_settings_hold_from_the_next_heartbeat_on(raw: RawClient) -> None:
    """IncrementalAlterConfigs of a GROUP resource."""
    topic, _ = new_topic(raw)
    group = fresh("group")
    before = join(raw, 1, group, "member", topic)
    resource = IncrementalAlterConfigsResource(
        resource_type=GROUP,
        resource_name=group,
        configs=[
            IncrementalAlterConfigsEntry(
                name="consumer.heartbeat.interval.ms", config_operation=0, value="7654"
            )
        ],
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    assert raw.ask(request, 1).responses[0].error_code == 0

    after = beat(raw, 1, group, "member", before.member_epoch)

    assert before.heartbeat_interval_ms != after.heartbeat_interval_ms == 7654


def test_topic_of_a_subscription_is_taken_up_when_it_is_made(raw: RawClient) -> None:
    """With the next heartbeat, however long it takes until the topic is there."""
    wanted, group = fresh("wanted"), fresh("group")
    first = join(raw, 1, group, "member", wanted)
    _, other_id = new_topic(raw)
    unmoved = beat(raw, 1, group, "member", first.member_epoch)
    create_topic(raw, wanted)
    moved = beat_until_moved(raw, group, unmoved.member_epoch)

    assert (assigned(first), unmoved.member_epoch) == ({}, first.member_epoch)
    assert list(assigned(moved).values()) == [[0]]
    assert other_id not in assigned(moved)


def beat_until_moved(raw: RawClient, group: str, epoch: int) -> Any:
    """Beat until the epoch is another: a target holds for a second at least (KIP-1263)."""
    while (answer := beat(raw, 1, group, "member", epoch)).member_epoch == epoch:
        assert answer.error_code == 0
    return answer


@pytest.mark.parametrize("version", range(10))
def test_classic_member_takes_part_in_a_consumer_group(raw: RawClient, version: int) -> None:
    """KIP-848, online migration: by JoinGroup of every version, beside one that reads another topic."""
    (topic, _), (other, _), group = new_topic(raw, partitions=2), new_topic(raw), fresh("group")
    epoch = join(raw, 1, group, "member", other).member_epoch

    joined = join_classic(raw, version, group, topic)

    assert (joined.error_code, joined.generation_id > epoch) == (0, True)
    assert (joined.protocol_name, joined.protocol_type) == ("range", "consumer" if version >= 7 else None)
    assert (joined.leader, joined.members, joined.skip_assignment) == ("", [], False)
    sync_version = min(version, 5)
    request = SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[],
    )
    synced = raw.ask(request, sync_version)
    assert (synced.error_code, assigned_by(synced.assignment)) == (0, {topic: [0, 1]})
    assert synced.protocol_name == ("range" if sync_version >= 5 else None)
    who = {"group_id": group, "member_id": joined.member_id}
    beaten = raw.ask(HeartbeatRequest(generation_id=joined.generation_id, **who), min(version, 4))
    assert beaten.error_code == 0
    (described,) = describe(raw, 1, group)
    assert {one.member_id: one.member_type for one in described.members} == {
        "member": 1,
        joined.member_id: 0,
    }
    assert raw.ask(LeaveGroupRequest(**who), min(version, 2)).error_code == 0


def join_classic(raw: RawClient, version: int, group: str, topic: str) -> Any:
    """Join by the classic protocol, with the member id that is given first from v4 on; as soon as the
    target may be computed anew (KIP-1263)."""
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=30_000,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=subscription_bytes([topic]))],
    )
    answer = raw.ask(request, version)
    if version >= 4:
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
        request.member_id = answer.member_id
        answer = raw.ask(request, version)
    request.member_id = answer.member_id
    while not is_up_to_date(raw, group):
        answer = raw.ask(request, version)
    return raw.ask(request, version)


def is_up_to_date(raw: RawClient, group: str) -> bool:
    (described,) = describe(raw, 1, group)
    return bool(described.assignment_epoch == described.group_epoch)


def test_without_the_consumer_protocol_there_are_no_such_groups() -> None:
    """group.coordinator.rebalance.protocols."""
    settings = {"group.coordinator.rebalance.protocols": "classic"}
    with running_broker(settings=settings) as broker, RawClient(broker.bootstrap) as raw:
        make_coordinator(raw)
        heartbeat = join(raw, 1, "group", "member", "topic")
        (described,) = describe(raw, 1, "group")

    assert heartbeat.error_code == described.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert heartbeat.error_message


def test_more_topics_than_a_record_can_hold_are_refused_unread(
    raw: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UNKNOWN_SERVER_ERROR, as by Kafka, which finds out when it would write them."""
    group = fresh("group")
    names = [f"topic-{number:010}" for number in range(100_000)]
    owned = [HeartbeatTopicPartitions(topic_id=b"t" * 16, partitions=list(range(300_000)))]
    monkeypatch.setattr(GroupShard, "consumer_heartbeat", None)

    by_names = join(raw, 1, group, "member", "", subscribed_topic_names=names)
    by_partitions = beat(raw, 1, group, "member", 1, topic_partitions=owned)

    for answer in (by_names, by_partitions):
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
        assert "(max.message.bytes)" in answer.error_message


def test_chance_is_asked_only_for_who_brings_no_id(raw: RawClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs a call of the system, and most heartbeats need none."""
    (topic, _), group = new_topic(raw), fresh("group")
    drawn: list[uuid.UUID] = []
    draw = uuid.uuid4

    def noted() -> uuid.UUID:
        drawn.append(draw())
        return drawn[-1]

    monkeypatch.setattr(uuid, "uuid4", noted)
    epoch = join(raw, 0, group, "member", topic).member_epoch
    beat(raw, 0, group, "member", epoch)
    assert drawn == []
    made = join(raw, 0, group, "", topic).member_id

    assert [uuid_text(one.bytes) for one in drawn] == [made]
