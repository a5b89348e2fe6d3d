"""Tests of groups/consumer/classic_members/syncing.py: SyncGroup in a group of the consumer protocol."""

import pytest

from tests.support.consumer_playbook import ConsumerPlaybook
from tests.support.mixed_playbook import ClassicConsumer
from wirekafka.groups import GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.error_codes import ErrorCode


@pytest.fixture
def old() -> ClassicConsumer:
    """A classic member that has joined, beside one of the consumer protocol that has no topics.

    When that one is silent for too long, the group stays a consumer group.
    """
    play = ConsumerPlaybook(GroupConfig(group_consumer_migration_policy=MigrationPolicy.UPGRADE), t=2)
    play.consumer("new").join()
    play.pass_ms(1_000)
    member = ClassicConsumer(play, "old", "t")
    assert member.join().error_code == 0
    return member


def sync_as(old: ClassicConsumer, **said: object) -> SyncGroupResponse:
    given = {"member_id": old.member_id, "generation_id": old.generation, **said}
    response = old.play.answers[old.play.sync(**given)]  # type: ignore[arg-type]
    assert isinstance(response, SyncGroupResponse)
    return response


def test_member_is_told_what_it_has(old: ClassicConsumer) -> None:
    """At once, and as often as it asks."""
    answers = [old.sync() for _ in range(2)]

    assert [answer.error_code for answer in answers] == [0, 0]
    assert (answers[0].protocol_type, answers[0].protocol_name) == ("consumer", "range")
    assert old.has == {"t": [0, 1]}


def test_answer_names_the_protocol_as_the_request_does(old: ClassicConsumer) -> None:
    """Requests before v5 name none."""
    answer = sync_as(old)

    assert (answer.error_code, answer.protocol_type, answer.protocol_name) == (0, None, None)


REFUSALS = {
    "an unknown member": ({"member_id": "who"}, ErrorCode.UNKNOWN_MEMBER_ID),
    "a member of the other protocol": ({"member_id": "new"}, ErrorCode.UNKNOWN_MEMBER_ID),
    "another generation": ({"generation_id": 99}, ErrorCode.ILLEGAL_GENERATION),
    "another protocol": ({"protocol": ("consumer", "x")}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "no protocol though it is due": ({"protocol_required": True}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "an unknown instance": ({"instance": "i"}, ErrorCode.UNKNOWN_MEMBER_ID),
}


@pytest.mark.parametrize(("said", "code"), REFUSALS.values(), ids=REFUSALS.keys())
def test_sync_is_refused(old: ClassicConsumer, said: dict[str, object], code: ErrorCode) -> None:
    answer = sync_as(old, **said)

    assert (answer.error_code, answer.assignment) == (code, b"")


def test_member_that_is_behind_the_target_must_join_again(old: ClassicConsumer) -> None:
    """And is out when it has not done so within its rebalance time-out."""
    old.sync()
    old.play.pass_ms(1_000)
    third = old.play.consumer("third", "t")
    third.join()
    answer = old.sync()
    for _ in range(7):
        old.play.pass_ms(8_000)
        third.beat()
        assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.play.pass_ms(4_000)

    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert old.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_sync_is_a_sign_of_life(old: ClassicConsumer) -> None:
    """Its session begins anew, and it no longer has to sync by a certain time."""
    old.play.pass_ms(9_000)
    old.sync()
    old.play.pass_ms(9_000)

    assert old.beat() is ErrorCode.NONE
