"""Tests of groups/consumer/classic_members/validation.py: what is refused, and with which code."""

import pytest

from wirekafka.groups import GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.groups.consumer.classic_members import validation
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.consumer.member import ConsumerMember
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.consumer_groups import ClassicMemberMetadata, ClassicProtocol


def classic(*protocols: str) -> ClassicMemberMetadata:
    return ClassicMemberMetadata(
        session_timeout_ms=1,
        supported_protocols=[ClassicProtocol(name=name, metadata=b"") for name in protocols],
    )


def group_of(*members: ConsumerMember) -> ConsumerGroup:
    made = ConsumerGroup("g")
    for member in members:
        made.put_member(member)
    return made


def join_of(*protocols: str, protocol_type: str = "consumer") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=1,
        member_id="",
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=b"") for name in protocols],
    )


OLD = ConsumerMember("old", member_epoch=3, classic=classic("range", "sticky"))
STATIC = ConsumerMember("static", instance_id="i", member_epoch=3, classic=classic("sticky"))
NEW = ConsumerMember("new", member_epoch=3)


def test_migration_is_refused_where_it_is_disabled() -> None:
    group = group_of(NEW)
    validation.check_migration(GroupConfig(), group)

    with pytest.raises(KafkaError, match="disabled") as refusal:
        validation.check_migration(
            GroupConfig(group_consumer_migration_policy=MigrationPolicy.DISABLED), group
        )
    assert refusal.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    ("members", "request_", "is_good"),
    [
        ((NEW,), join_of("any"), True),
        ((NEW, OLD), join_of("range"), True),
        ((NEW, OLD, STATIC), join_of("x", "sticky"), True),
        ((NEW, OLD, STATIC), join_of("range"), False),
        ((NEW,), join_of(), False),
        ((OLD,), join_of("range", protocol_type="connect"), False),
        ((OLD,), join_of("range", protocol_type=""), False),
    ],
)
def test_protocol_must_be_offered_by_all_classic_members(
    members: tuple[ConsumerMember, ...], request_: JoinGroupRequest, is_good: bool
) -> None:
    """ConsumerGroup.supportsClassicProtocols."""
    if is_good:
        validation.check_protocols(group_of(*members), request_)
        return
    with pytest.raises(KafkaError) as refusal:
        validation.check_protocols(group_of(*members), request_)
    assert refusal.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(
    ("member_id", "instance_id", "generation_id", "code"),
    [
        ("who", None, 3, ErrorCode.UNKNOWN_MEMBER_ID),
        ("new", None, 3, ErrorCode.UNKNOWN_MEMBER_ID),
        ("old", None, 2, ErrorCode.ILLEGAL_GENERATION),
        ("old", None, 4, ErrorCode.ILLEGAL_GENERATION),
        ("old", "j", 3, ErrorCode.UNKNOWN_MEMBER_ID),
        ("old", "i", 3, ErrorCode.FENCED_INSTANCE_ID),
        ("static", "i", 2, ErrorCode.ILLEGAL_GENERATION),
    ],
)
def test_member_must_be_who_it_says(
    member_id: str, instance_id: str | None, generation_id: int, code: ErrorCode
) -> None:
    with pytest.raises(KafkaError) as refusal:
        validation.find_member(group_of(OLD, STATIC, NEW), member_id, instance_id, generation_id)
    assert refusal.value.code == code


@pytest.mark.parametrize(("member", "instance_id"), [(OLD, None), (STATIC, "i"), (STATIC, None)])
def test_member_is_found(member: ConsumerMember, instance_id: str | None) -> None:
    """A static one also without its instance id, which old versions do not say."""
    found, said = validation.find_member(group_of(OLD, STATIC, NEW), member.member_id, instance_id, 3)

    assert (found, said) == (member, member.classic)


@pytest.mark.parametrize(
    ("protocol_type", "protocol_name", "is_good"),
    [
        (None, None, True),
        ("consumer", "range", True),
        ("consumer", "sticky", False),
        ("connect", "range", False),
        ("", None, False),
    ],
)
def test_protocol_is_the_one_that_the_member_was_told(
    protocol_type: str | None, protocol_name: str | None, is_good: bool
) -> None:
    """KIP-559."""
    assert validation.chosen_protocol(classic("range", "sticky")) == "range"
    if is_good:
        validation.check_chosen_protocol(classic("range", "sticky"), protocol_type, protocol_name)
        return
    with pytest.raises(KafkaError) as refusal:
        validation.check_chosen_protocol(classic("range", "sticky"), protocol_type, protocol_name)
    assert refusal.value.code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
