"""Story: a topic of four partitions is read by one, two, four and five members of the consumer protocol."""

from tests.support.consumer_playbook import Consumer, ConsumerPlaybook
from wirekafka.groups.consumer.group import ConsumerGroupState
from wirekafka.protocol.error_codes import ErrorCode

SESSION_MS = 45_000
REBALANCE_MS = 60_000


def shares(*consumers: Consumer) -> list[int]:
    """How many partitions each has; nobody has one that another has."""
    having = [(topic, index) for one in consumers for topic, indexes in one.has.items() for index in indexes]
    assert len(set(having)) == len(having)
    return sorted(sum(map(len, one.has.values())) for one in consumers)


def test_members_share_and_the_fifth_is_idle() -> None:
    """The description: each partition belongs to at most one member, and who comes last may get none."""
    play = ConsumerPlaybook(t=4)
    members: list[Consumer] = []
    found = []
    for name in "abcde":
        member = play.consumer(name, "t")
        members.append(member)
        member.join()
        play.settle(*members)
        found.append(shares(*members))

    assert found == [[4], [2, 2], [1, 1, 2], [1, 1, 1, 1], [0, 1, 1, 1, 1]]
    assert play.group.state is ConsumerGroupState.STABLE


def test_nothing_is_given_before_it_was_given_up() -> None:
    """KIP-848: a new member gets what is to be its own only when the old owner has acknowledged."""
    play = ConsumerPlaybook(t=4)
    (first,) = play.settled("a")
    second = play.consumer("b", "t")
    second.join()
    assert second.has == {}

    first.beat()
    assert shares(first) == [2]
    second.beat()
    assert second.has == {}

    first.beat()
    second.beat()
    assert shares(first, second) == [2, 2]


def test_a_member_that_leaves_is_succeeded_at_once() -> None:
    """A polite last heartbeat frees the partitions without any time-out."""
    play = ConsumerPlaybook(t=4)
    first, second = play.settled("a", "b")
    assert second.leave().error_code == ErrorCode.NONE
    play.pass_ms(1_000)
    first.beat()

    assert shares(first) == [4]
    assert list(play.group.members) == ["a"]


def test_a_member_that_is_killed_is_succeeded_after_its_session() -> None:
    """group.consumer.session.timeout.ms, and not a moment before."""
    play = ConsumerPlaybook(t=4)
    first, _ = play.settled("a", "b")
    heard_ms = play.now_ms
    for _ in range(8):
        play.pass_ms(5_000)
        first.beat()
    play.at(heard_ms + SESSION_MS - 1)
    assert "b" in play.group.members

    play.at(heard_ms + SESSION_MS)
    first.beat()
    assert list(play.group.members) == ["a"]
    assert shares(first) == [4]


def test_a_member_that_gives_nothing_up_is_dropped_at_its_rebalance_timeout() -> None:
    """max.poll.interval.ms: its heartbeats go on, but its application never lets go."""
    play = ConsumerPlaybook(t=4)
    (stalled,) = play.settled("a")
    second = play.consumer("b", "t")
    second.join()
    stalled.beat(revokes=False)
    asked_ms = play.now_ms
    while play.now_ms < asked_ms + REBALANCE_MS - 5_000:
        play.pass_ms(5_000)
        assert stalled.beat(revokes=False).error_code == ErrorCode.NONE
        second.beat()
    play.at(asked_ms + REBALANCE_MS - 1)
    assert shares(second) == [0]

    play.at(asked_ms + REBALANCE_MS)
    assert stalled.beat(revokes=False).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    second.beat()
    assert shares(second) == [4]


def test_new_partitions_are_taken_up() -> None:
    """Partitions are added, and the next heartbeats give them out."""
    play = ConsumerPlaybook(t=4)
    members = play.settled("a", "b")
    play.create("t", 6)
    play.settle(*members)

    assert shares(*members) == [3, 3]


def test_a_topic_that_comes_after_its_subscribers_is_given_out() -> None:
    """Subscribing before a topic exists works, without a time-out."""
    play = ConsumerPlaybook()
    first, second = play.consumer("a", "t"), play.consumer("b", "t")
    first.join()
    second.join()
    play.settle(first, second)
    assert shares(first, second) == [0, 0]

    play.create("t", 4)
    created_ms = play.now_ms
    play.settle(first, second)
    assert shares(first, second) == [2, 2]
    assert play.now_ms - created_ms < 10_000


def test_a_topic_that_goes_is_taken_away() -> None:
    """What is deleted is nobody's; what comes under the same name has another id, and is given out anew."""
    play = ConsumerPlaybook(t=2, u=2)
    member = play.consumer("a", "t", "u")
    member.join()
    play.settle(member)
    gone = play.id_of("t")
    play.delete("t")
    play.settle(member)
    assert member.has == {"u": [0, 1]}

    play.create("t", 3)
    play.settle(member)
    assert member.has == {"t": [0, 1, 2], "u": [0, 1]}
    assert gone not in member.assigned


def test_who_reads_another_topic_gives_up_the_first() -> None:
    """A change of subscription takes effect in the answer that follows."""
    play = ConsumerPlaybook(t=4, u=2)
    first, second = play.settled("a", "b")
    first.say(subscribed_topic_names=["u"])
    play.settle(first, second)

    assert first.has == {"u": [0, 1]}
    assert second.has == {"t": [0, 1, 2, 3]}


def test_a_regular_expression_follows_the_topics() -> None:
    """Topics that match are read as they come, and no others."""
    play = ConsumerPlaybook(orders=2, other=1)
    member = play.consumer("a", regex="order.*")
    member.join()
    play.settle(member)
    assert member.has == {"orders": [0, 1]}

    play.create("orders-old", 1)
    play.create("reorder", 1)
    play.settle(member)
    assert member.has == {"orders": [0, 1], "orders-old": [0]}


def test_a_lost_answer_costs_nothing() -> None:
    """KIP-848: the previous epoch is taken for the present one from a member that has no more than it may."""
    play = ConsumerPlaybook(t=4)
    first, second = play.settled("a", "b")
    before = first.epoch
    second.leave()
    play.pass_ms(1_000)
    first.beat()
    assert first.epoch > before

    first.epoch, first.assigned = before, {}
    answer = first.say(rebalance_timeout_ms=REBALANCE_MS, subscribed_topic_names=["t"], topic_partitions=[])
    assert (answer.error_code, shares(first)) == (ErrorCode.NONE, [4])


def test_a_fenced_member_comes_back_with_nothing_in_hand() -> None:
    """FENCED_MEMBER_EPOCH: it gives up all it has and joins with epoch 0, under the same id."""
    play = ConsumerPlaybook(t=4)
    first, second = play.settled("a", "b")
    first.epoch -= 2
    assert first.say().error_code == ErrorCode.FENCED_MEMBER_EPOCH

    assert first.join().error_code == ErrorCode.NONE
    play.settle(first, second)
    assert shares(first, second) == [2, 2]
