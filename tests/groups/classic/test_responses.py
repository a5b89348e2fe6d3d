"""Tests of groups/classic/responses.py."""

import pytest

from tests.support.playbook import GroupPlaybook
from wirekafka.groups.classic.responses import join_answer, join_error, sync_answer, sync_error
from wirekafka.protocol.apis.join_group import JoinGroupResponse
from wirekafka.protocol.apis.sync_group import SyncGroupResponse
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode


@pytest.mark.parametrize("version", [7, 8, 9])
def test_join_error_can_be_built_where_the_protocol_may_be_null(version: int) -> None:
    """Before v7 the handler writes "" for null."""
    codec = codec_for(JoinGroupResponse, version)
    refused = join_error(ErrorCode.MEMBER_ID_REQUIRED, "a")

    assert codec.parse(codec.build(refused)) == refused


@pytest.mark.parametrize("version", range(6))
def test_sync_error_can_be_built_in_all_versions(version: int) -> None:
    """It has no protocol and no assignment."""
    codec = codec_for(SyncGroupResponse, version)

    assert codec.parse(codec.build(sync_error(ErrorCode.REBALANCE_IN_PROGRESS))).error_code == 27


def test_answers_say_the_groups_protocol() -> None:
    """Only the leader is shown the members, with their metadata of the chosen protocol."""
    play = GroupPlaybook()
    play.stable("a", "b")
    group = play.shard.volatile.classic_groups["g"]
    leader, follower = join_answer(group, "a-1"), join_answer(group, "b-2")

    assert (leader.protocol_type, leader.protocol_name, leader.leader) == ("consumer", "range", "a-1")
    assert [member.member_id for member in leader.members] == ["a-1", "b-2"]
    assert follower.members == []
    assert sync_answer(group, b"x").protocol_name == "range"
