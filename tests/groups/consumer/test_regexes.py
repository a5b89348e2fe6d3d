"""Tests of groups/consumer/regexes.py."""

from tests.support.consumer_playbook import WALL_LEAD_MS, ConsumerPlaybook
from wirekafka.groups import GroupConfig
from wirekafka.groups.consumer.group import ResolvedRegularExpression
from wirekafka.protocol.error_codes import ErrorCode


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
