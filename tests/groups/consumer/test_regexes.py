"""Tests of groups/consumer/regexes.py."""

from collections.abc import Iterable

import pytest

from tests.support.consumer_playbook import WALL_LEAD_MS, ConsumerPlaybook
from wirekafka.groups import GroupConfig
from wirekafka.groups.consumer import patterns, regexes
from wirekafka.groups.consumer.group import ResolvedRegularExpression
from wirekafka.protocol.error_codes import ErrorCode

HARD = ".*a.{40}"
"""Its states grow without end as names of a and b are looked at."""
NAMES_OF_A_AND_B = tuple(f"{number:012b}".replace("0", "a").replace("1", "b") * 5 for number in range(1_000))


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was looked up among the names, in order."""
    found: list[str] = []
    matching = patterns.matching

    def noted(pattern: str, names: Iterable[str]) -> patterns.Matching:
        found.append(pattern)
        return matching(pattern, names)

    monkeypatch.setattr(patterns, "matching", noted)
    return found


def test_first_heartbeat_gives_what_the_regular_expression_matches() -> None:
    """Kafka needs a second one, since it looks topics up in the background."""
    play = ConsumerPlaybook(t1=1, t2=1, u=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()

    assert consumer.has == {"t1": [0], "t2": [0]}
    assert consumer.epoch == 2
    assert play.group.resolved_regexes == {
        "t.*": ResolvedRegularExpression(frozenset({"t1", "t2"}), 3, WALL_LEAD_MS)
    }


def test_whole_names_are_matched() -> None:
    """Not parts of them."""
    play = ConsumerPlaybook(t=1, tt=1, at=1)
    consumer = play.consumer("a", regex="t")
    consumer.join()

    assert consumer.has == {"t": [0]}


def test_names_and_regular_expression_add_up() -> None:
    """The protocol allows both."""
    play = ConsumerPlaybook(t1=1, u=1)
    consumer = play.consumer("a", "u", regex="t.*")
    consumer.join()

    assert consumer.has == {"t1": [0], "u": [0]}


def test_regular_expression_that_matches_nothing_yet_waits_for_topics() -> None:
    """A new topic is looked at with the first heartbeat, a second after the last look at the soonest."""
    play = ConsumerPlaybook()
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    assert (consumer.has, consumer.epoch) == ({}, 1)
    play.create("t1", 1)
    play.at(1_000)
    consumer.beat()
    assert consumer.has == {}
    play.at(1_001)
    consumer.beat()

    assert consumer.has == {"t1": [0]}


def test_deleted_topic_is_taken_away_at_once() -> None:
    """That is seen by the hash of the topics, not by looking topics up."""
    play = ConsumerPlaybook(t1=1, t2=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    play.pass_ms(1_000)
    play.delete("t1")
    consumer.beat()

    assert consumer.has == {"t2": [0]}


def test_topics_are_looked_up_anew_after_the_refresh_interval() -> None:
    """group.consumer.regex.refresh.interval.ms, for what was not heard of."""
    play = ConsumerPlaybook(GroupConfig(group_consumer_regex_refresh_interval_ms=20_000), t1=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    play.topics.put("t2", 1)
    play._names[play.id_of("t2")] = "t2"
    play.at(20_000)
    consumer.beat()
    assert consumer.has == {"t1": [0]}
    play.at(20_001)
    consumer.beat()

    assert consumer.has == {"t1": [0], "t2": [0]}


def test_topics_are_looked_up_anew_when_the_generations_start_over() -> None:
    """After a restart there may have been fewer changes than before it."""
    play = ConsumerPlaybook(t1=1, u=1, v=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    play.topics.generation = 0
    play.restart()
    play.create("t2", 1)
    play.at(1_001)
    consumer.beat()

    assert consumer.has == {"t1": [0], "t2": [0]}
    assert play.group.resolved_regexes["t.*"].version == 1


def test_second_subscriber_uses_what_is_known() -> None:
    """Nothing is looked up, but the target is computed anew."""
    play = ConsumerPlaybook(t1=2)
    first, second = play.consumer("a", regex="t.*"), play.consumer("b", regex="t.*")
    first.join()
    play.pass_ms(1_000)
    second.join()
    play.settle(first, second)

    assert (first.has, second.has) == ({"t1": [0]}, {"t1": [1]})
    assert play.group.resolved_regexes["t.*"].timestamp == WALL_LEAD_MS


def test_regular_expression_of_the_last_subscriber_is_forgotten_with_it() -> None:
    """That of others stays."""
    play = ConsumerPlaybook(t1=1, u1=1)
    first, second = play.consumer("a", regex="t.*"), play.consumer("b", regex="u.*")
    third = play.consumer("c", regex="u.*")
    for consumer in (first, second, third):
        consumer.join()
    first.leave()
    second.leave()

    assert list(play.group.resolved_regexes) == ["u.*"]
    third.leave()
    assert play.group.resolved_regexes == {}


def test_member_changes_its_regular_expression() -> None:
    """The old one is forgotten, its topics are given up, the new one's are read."""
    play = ConsumerPlaybook(t1=1, u1=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    play.pass_ms(1_000)
    consumer.say(subscribed_topic_regex="u.*")
    assert consumer.has == {}
    consumer.beat()

    assert consumer.has == {"u1": [0]}
    assert list(play.group.resolved_regexes) == ["u.*"]


def test_member_changes_to_one_that_another_has() -> None:
    """It is known already."""
    play = ConsumerPlaybook(t1=1, u1=2)
    first, second = play.consumer("a", regex="u.*"), play.consumer("b", regex="t.*")
    first.join()
    second.join()
    play.settle(first, second)
    second.say(subscribed_topic_regex="u.*")
    play.settle(first, second)

    assert (first.has, second.has) == ({"u1": [0]}, {"u1": [1]})


def test_member_gives_up_its_regular_expression_for_names() -> None:
    """The empty one means none."""
    play = ConsumerPlaybook(t1=1, u=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    play.pass_ms(1_000)
    consumer.say(subscribed_topic_regex="", subscribed_topic_names=["u"])
    play.settle(consumer)

    assert consumer.has == {"u": [0]}
    assert play.group.resolved_regexes == {}


def test_static_member_comes_back_with_another_regular_expression() -> None:
    """That of the one it replaces is not another's."""
    play = ConsumerPlaybook(t1=1, u1=1)
    old = play.consumer("a", regex="t.*", instance="i")
    old.join()
    old.leave(for_a_while=True)
    new = play.consumer("b", regex="u.*", instance="i")
    play.pass_ms(1_000)
    new.join()
    play.settle(new)

    assert new.has == {"u1": [0]}
    assert list(play.group.resolved_regexes) == ["u.*"]


def test_invalid_regular_expression_is_refused() -> None:
    """INVALID_REGULAR_EXPRESSION (128), and the member is not in the group."""
    play = ConsumerPlaybook(t=1)
    (consumer,) = play.settled("a")
    answer = consumer.say(subscribed_topic_regex="*")

    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert not play.member(consumer).subscribed_topic_regex


def test_new_regular_expression_looks_up_only_itself(looked_up: list[str]) -> None:
    """However many the group has: those that joined before are known."""
    play = ConsumerPlaybook(t1=1, u1=1)
    for number in range(50):
        play.consumer(f"m{number}", regex=f"t{number}.*").join()

    assert looked_up == [f"t{number}.*" for number in range(50)]


def test_heartbeats_look_up_nothing_while_topics_are_as_they_were(looked_up: list[str]) -> None:
    """A steady group costs nothing."""
    play = ConsumerPlaybook(t1=1, u1=1)
    members = [play.consumer("a", regex="t.*"), play.consumer("b", regex="u.*"), play.consumer("c", "t1")]
    for member in members:
        member.join()
    looked_up.clear()
    for _ in range(5):
        play.pass_ms(5_000)
        for member in members:
            member.beat()

    assert looked_up == []


def test_new_topic_is_looked_for_once_by_all(looked_up: list[str]) -> None:
    """Whoever comes first looks up everybody's, and a member without an expression does so too."""
    play = ConsumerPlaybook(t1=1, u1=1)
    members = [play.consumer("c", "t1"), play.consumer("a", regex="t.*"), play.consumer("b", regex="u.*")]
    for member in members:
        member.join()
    looked_up.clear()
    play.create("u2", 1)
    play.pass_ms(1_001)
    for member in members:
        member.beat()

    assert looked_up == ["t.*", "u.*"]


def test_one_heartbeat_looks_up_so_many_and_others_the_rest(
    looked_up: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop serves nobody while it looks; a member's own comes first."""
    play = ConsumerPlaybook(t1=1)
    members = [play.consumer(f"m{number}", regex=f"t{number}.*") for number in range(4)]
    for member in members:
        member.join()
    looked_up.clear()
    monkeypatch.setattr(regexes, "MOST_WORK_IN_ONE_TURN", 0)
    play.create("t3x", 1)
    play.pass_ms(1_001)
    found = []
    for member in reversed(members):
        member.beat()
        found.append([*looked_up])
        looked_up.clear()

    assert found == [["t3.*"], ["t2.*"], ["t1.*"], ["t0.*"]]
    assert members[3].has == {"t3x": [0]}


def test_new_regular_expression_that_takes_too_much_work_is_refused() -> None:
    """INVALID_REGULAR_EXPRESSION (128), with the reason; its member is not in the group."""
    play = ConsumerPlaybook(None, **dict.fromkeys(NAMES_OF_A_AND_B, 1))
    answer = play.consumer("a", regex=HARD).join()

    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert answer.error_message is not None
    assert "it takes too much work to match the names of the topics" in answer.error_message


def test_regular_expression_that_takes_too_much_work_by_now_keeps_its_topics() -> None:
    """There were fewer topics when it was accepted; its subscribers did nothing wrong."""
    name = NAMES_OF_A_AND_B[0]
    play = ConsumerPlaybook(None, **{name: 1})
    consumer = play.consumer("a", regex=HARD)
    consumer.join()
    for other in NAMES_OF_A_AND_B[1:]:
        play.create(other, 1)
    play.pass_ms(1_001)

    assert consumer.beat().error_code == ErrorCode.NONE
    assert consumer.has == {name: [0]}
    assert play.group.resolved_regexes[HARD] == ResolvedRegularExpression(
        frozenset({name}), play.topics.generation, WALL_LEAD_MS + 1_001
    )


def test_regular_expression_that_the_log_has_unresolved_is_looked_up() -> None:
    """Kafka writes the member first; one that is none here matches nothing, and its member stays."""
    for regex, topics in (("t.*", {"t1"}), ("(", set())):
        play = ConsumerPlaybook(t1=1)
        consumer = play.consumer("a", regex="u.*")
        consumer.join()
        member = play.group.members["a"]
        object.__setattr__(member, "subscribed_topic_regex", regex)

        assert consumer.beat().error_code == ErrorCode.NONE
        assert play.group.resolved_regexes[regex].topics == topics


def test_topics_are_looked_up_anew_when_the_clock_was_set_back(looked_up: list[str]) -> None:
    """A look-up that is still to come says nothing; from then on time goes by as it does."""
    play = ConsumerPlaybook(t1=1)
    consumer = play.consumer("a", regex="t.*")
    consumer.join()
    play.shard.wall_lead_ms -= 500_000
    play.pass_ms(1)
    for _ in range(3):
        consumer.beat()

    assert looked_up == ["t.*", "t.*"]
    assert play.group.resolved_regexes["t.*"].timestamp == WALL_LEAD_MS - 500_000 + 1
