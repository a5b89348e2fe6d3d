"""Tests of groups/consumer/classic_members/joining.py: JoinGroup to a group of the consumer protocol."""

import pytest

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from tests.support.consumer_protocol import subscription_bytes
from tests.support.mixed_playbook import ClassicConsumer
from wirekafka.groups import Client, GroupConfig
from wirekafka.groups.config import MigrationPolicy
from wirekafka.groups.consumer.member import MemberState
from wirekafka.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from wirekafka.protocol.error_codes import ErrorCode


@pytest.fixture
def new() -> Consumer:
    """A member by the consumer protocol, alone in its group, with the four partitions of its topic."""
    (made,) = ConsumerPlaybook(t=4).settled("new")
    return made


@pytest.fixture
def play(new: Consumer) -> ConsumerPlaybook:
    return new.play


def test_classic_member_joins_beside_the_others_and_is_no_leader(play: ConsumerPlaybook) -> None:
    """Its generation is its epoch, and its protocol the one it likes best."""
    old = ClassicConsumer(play, "old", "t")
    old.protocols = ("cooperative-sticky", "range")
    play.pass_ms(1_000)
    answer = old.join()

    assert (answer.error_code, answer.protocol_type, answer.protocol_name) == (
        0,
        "consumer",
        "cooperative-sticky",
    )
    assert (answer.leader, answer.members, answer.skip_assignment) == ("", [], False)
    member = play.group.members[answer.member_id]
    assert answer.generation_id == member.member_epoch == play.group.group_epoch
    assert member.state is MemberState.UNRELEASED_PARTITIONS
    assert member.classic is not None
    assert member.classic.session_timeout_ms == 10_000
    assert [protocol.name for protocol in member.classic.supported_protocols] == list(old.protocols)
    assert (member.rebalance_timeout_ms, member.client.client_id) == (60_000, "old")
    assert (member.subscribed_topic_names, member.subscribed_topic_regex) == (frozenset({"t"}), "")


def test_partitions_are_shared_with_a_classic_member(play: ConsumerPlaybook, new: Consumer) -> None:
    """It is told to rejoin when what it waits for is free."""
    play.pass_ms(1_000)
    old = ClassicConsumer(play, "old", "t")
    old.join_and_sync()
    assert old.has == {}
    assert old.beat() is ErrorCode.NONE

    new.beat()
    assert new.has == {"t": [0, 1]}
    assert old.beat() is ErrorCode.NONE
    new.beat()
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join_and_sync()

    assert old.has == {"t": [2, 3]}
    assert old.beat() is ErrorCode.NONE


def test_dynamic_member_is_given_its_id_first(play: ConsumerPlaybook) -> None:
    """KIP-394; nothing is written until it comes again."""
    old = ClassicConsumer(play, "old", "t")
    length = len(play.log)
    first = old.join(member_id_required=True)
    written = play.written_since(length)
    old.member_id = first.member_id
    second = old.join(member_id_required=True)

    assert (first.error_code, bool(first.member_id)) == (ErrorCode.MEMBER_ID_REQUIRED, True)
    assert written == []
    assert (second.error_code, second.member_id) == (0, first.member_id)


def test_rejoining_with_the_same_words_writes_nothing(play: ConsumerPlaybook) -> None:
    """A lost answer is asked for again."""
    play.pass_ms(1_000)
    old = ClassicConsumer(play, "old", "t")
    for _ in range(2):
        old.join_and_sync()
    length = len(play.log)
    again = old.join()

    assert (again.error_code, again.generation_id) == (0, old.generation)
    assert play.written_since(length) == []


def test_changed_subscription_counts_the_epoch_up(play: ConsumerPlaybook) -> None:
    """As that of any member does."""
    play.create("u", 1)
    play.pass_ms(1_000)
    old = ClassicConsumer(play, "old", "t")
    old.join_and_sync()
    before = play.group.group_epoch
    play.pass_ms(1_000)
    old.topics = ["t", "u"]
    old.join_and_sync()

    assert play.group.group_epoch == before + 1
    assert old.has["u"] == [0]


def test_owned_partitions_are_given_up_before_it_goes_on(play: ConsumerPlaybook, new: Consumer) -> None:
    """What it has and shall not have is not its any more when it joins without that."""
    play.pass_ms(1_000)
    old = ClassicConsumer(play, "old", "t")
    old.join_and_sync()
    for _ in range(2):
        new.beat()
    old.follow()
    assert old.has == {"t": [2, 3]}

    for name in ("third", "fourth"):
        play.pass_ms(1_000)
        play.consumer(name, "t").join()
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join()
    revoking = play.group.members[old.member_id]
    assert revoking.state is MemberState.UNREVOKED_PARTITIONS
    old.sync()
    assert len(old.has["t"]) == 1
    assert old.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    old.join_and_sync()

    assert play.group.members[old.member_id].state is MemberState.STABLE
    assert old.generation == play.group.group_epoch
    assert len(old.has["t"]) == 1


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_version_of_a_subscription_is_read(play: ConsumerPlaybook, version: int) -> None:
    """KIP-429, KIP-792, KIP-881: racks come with version 3."""
    old = ClassicConsumer(play, "old", "t")
    old.version, old.rack = version, "r"
    member_id = old.join().member_id

    assert play.group.members[member_id].rack_id == ("r" if version == 3 else None)
    assert play.group.members[member_id].subscribed_topic_names == {"t"}


def test_join_without_a_rebalance_timeout_means_its_session(play: ConsumerPlaybook) -> None:
    """JoinGroup v0."""
    member_id = ClassicConsumer(play, "old", "t").join(rebalance_ms=-1).member_id

    assert play.group.members[member_id].rebalance_timeout_ms == 10_000


REFUSALS = {
    "another type": ({"protocol_type": "connect"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "no protocol": ({"protocols": {}}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "no subscription": ({"protocols": {"range": b""}}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "a version below 0": ({"protocols": {"range": b"\xff\xff"}}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    "half of one": (
        {"protocols": {"range": subscription_bytes(["t"])[:5]}},
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ),
    "a session that is too short": ({"session_ms": 5}, ErrorCode.INVALID_SESSION_TIMEOUT),
    "an unknown static member": ({"instance": "i"}, ErrorCode.UNKNOWN_MEMBER_ID),
}


@pytest.mark.parametrize(("said", "code"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refused_join_changes_nothing(
    play: ConsumerPlaybook, said: dict[str, object], code: ErrorCode
) -> None:
    """The answer names no member, but where the request is refused whatever its group."""
    old = ClassicConsumer(play, "old", "t")
    old.member_id = "who"
    length = len(play.log)
    answer = old.join(**said)

    named = "who" if code is ErrorCode.INVALID_SESSION_TIMEOUT else ""
    assert (answer.error_code, answer.member_id) == (code, named)
    assert play.written_since(length) == []


def test_subscription_of_a_later_version_is_read_as_far_as_it_is_known(play: ConsumerPlaybook) -> None:
    """Later versions add to the end."""
    metadata = b"\0\x09" + subscription_bytes(["t"])[2:] + b"more"
    answer = ClassicConsumer(play, "old").join(protocols={"range": metadata})

    assert play.group.members[answer.member_id].subscribed_topic_names == {"t"}


def test_classic_members_must_have_a_protocol_in_common(play: ConsumerPlaybook) -> None:
    """Those of the consumer protocol do not count."""
    first, second, third = (ClassicConsumer(play, name, "t") for name in ("a", "b", "c"))
    first.protocols, second.protocols, third.protocols = ("range", "x"), ("roundrobin", "x"), ("roundrobin",)

    assert first.join().error_code == 0
    assert second.join().error_code == 0
    assert third.join().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("policy", list(MigrationPolicy))
def test_only_the_policy_disabled_keeps_classic_members_out(policy: MigrationPolicy) -> None:
    """The other policies are about conversions, not about mixed groups."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_migration_policy=policy), t=1)
    play.settled("new")
    code = ClassicConsumer(play, "old", "t").join().error_code

    assert code == (ErrorCode.INCONSISTENT_GROUP_PROTOCOL if policy is MigrationPolicy.DISABLED else 0)


def test_full_group_takes_no_more() -> None:
    """By group.consumer.max.size, since it is a consumer group."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_max_size=2), t=1)
    play.settled("new")
    member = ClassicConsumer(play, "a", "t")

    assert member.join().error_code == 0
    assert ClassicConsumer(play, "b", "t").join().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert member.join().error_code == 0


def test_static_member_comes_back_in_place_of_its_former_self(play: ConsumerPlaybook) -> None:
    """KIP-345. With another member id, and with the target that it had."""
    play.pass_ms(1_000)
    old = ClassicConsumer(play, "old", "t", instance="i")
    old.join_and_sync()
    target = play.group.target_of(old.member_id)
    again = ClassicConsumer(play, "old", "t", instance="i")
    answer = again.join()

    assert (answer.error_code, answer.member_id != old.member_id) == (0, True)
    assert old.member_id not in play.group.members
    assert play.group.static_members == {"i": again.member_id}
    assert play.group.target_of(again.member_id) == target
    assert old.beat() is ErrorCode.FENCED_INSTANCE_ID
    assert old.join().error_code == ErrorCode.FENCED_INSTANCE_ID


def test_static_member_may_change_from_the_consumer_protocol_to_the_classic(play: ConsumerPlaybook) -> None:
    """An instance that is started anew with an older client; the group stays as another is left in it."""
    static = play.consumer("static", "t", instance="i")
    static.join()
    play.pass_ms(1_000)
    answer = ClassicConsumer(play, "old", "t", instance="i").join()

    assert answer.error_code == 0
    assert "static" not in play.group.members
    assert play.group.members[answer.member_id].is_classic


def test_member_that_does_not_sync_in_time_is_out(play: ConsumerPlaybook) -> None:
    """Within its rebalance time-out, however lively it is."""
    old = ClassicConsumer(play, "old", "t")
    old.join(rebalance_ms=12_000, session_ms=30_000)
    play.pass_ms(11_999)
    assert old.member_id in play.group.members
    play.pass_ms(1)

    assert old.member_id not in play.group.members


def test_member_that_is_not_heard_of_is_out(play: ConsumerPlaybook) -> None:
    """Its own session time-out counts, not the group's."""
    old = ClassicConsumer(play, "old", "t")
    old.join_and_sync()
    play.pass_ms(9_999)
    assert old.member_id in play.group.members
    play.pass_ms(1)

    assert old.member_id not in play.group.members
    assert old.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_classic_member_is_there_after_a_restart(play: ConsumerPlaybook) -> None:
    """With its protocols and its session."""
    play.pass_ms(1_000)
    old = ClassicConsumer(play, "old", "t")
    old.join_and_sync()
    before = play.group.members[old.member_id]
    play.restart()

    assert play.group.members[old.member_id] == before
    assert old.beat() is ErrorCode.NONE
    play.pass_ms(10_000)
    assert old.member_id not in play.group.members


def test_protocol_that_is_named_twice_counts_once(play: ConsumerPlaybook) -> None:
    """As in a classic group, which this one may become: there the votes count members by name."""
    data = subscription_bytes(["t"])
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=-1,
        member_id="",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=data)] * 2,
    )
    decision = play.shard.join(
        request,
        ticket=play.draw(),
        now_ms=play.now_ms,
        client=Client("old", "/127.0.0.1"),
        new_member_uuid="u",
        member_id_required=False,
        skip_assignment_known=True,
    )
    play.run(decision)

    member = play.group.members["u"]
    assert member.classic is not None
    assert [offered.name for offered in member.classic.supported_protocols] == ["range"]
    assert member.rebalance_timeout_ms == 10_000
