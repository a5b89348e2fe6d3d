"""Random runs of groups: twenty members, their troubles, and a broker that dies in between.

`python -m tests.torture groups` does ten thousand; these are the quick count.
"""

import pytest

from tests.torture.groups.runs import Kind, Run, run
from tests.torture.groups.world import Finding
from wirekafka.protocol.error_codes import ErrorCode

RUNS_EACH = 60


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_groups_come_through_any_trouble(kind: Kind) -> None:
    """No record unread, no commit lost, none with two owners, none dropped who lives, none kept who died."""
    for seed in range(RUNS_EACH):
        run(seed, kind)


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_a_run_is_the_same_each_time(kind: Kind) -> None:
    """A seed tells the same story again, or a finding would be of no use."""
    stories = []
    for _ in range(2):
        one = Run(5, kind)
        one.go()
        stories.append(one.world.story)

    assert stories[0] == stories[1]
    assert len(stories[0]) > 10


def test_a_finding_tells_seed_and_story() -> None:
    """Whoever reads it can do the run again."""
    with pytest.raises(Finding, match=r"(?s)classic run 3: .*topic apples created"):
        run(3, Kind.CLASSIC, trouble=lambda one: one.world.schedule(30_000, lambda: one.world.find("x")))


def nothing(*given: object, **named: object) -> None:
    """Do nothing, in place of what should be done."""


SABOTAGE: dict[str, tuple[Kind, str, object, str]] = {
    "a session that never ends": (
        Kind.CONSUMER,
        "wirekafka.groups.consumer.sessions.on_session_deadline",
        nothing,
        "is silent since",
    ),
    "a session that no heartbeat prolongs": (
        Kind.CONSUMER,
        "wirekafka.groups.consumer.sessions.expect_heartbeat",
        nothing,
        "is silent since|is dropped with",
    ),
    "partitions that are thought to be free": (
        Kind.CONSUMER,
        "wirekafka.groups.consumer.group.ConsumerGroup.owner_epoch",
        lambda group, topic_id, partition: None,
        "both own",
    ),
    "topics whose changes go unheard": (
        Kind.CONSUMER,
        "wirekafka.groups.consumer.metadata.topics_changed",
        nothing,
        "is read by|does not exist",
    ),
    "generations that wait for nobody": (
        Kind.CLASSIC,
        "wirekafka.groups.classic.group.ClassicGroup.all_joined",
        property(lambda group: bool(group.awaiting_join)),
        "is dropped with UNKNOWN_MEMBER_ID",
    ),
    "commits of anyone": (
        Kind.CONSUMER,
        "wirekafka.groups.offsets._consumer_refusal",
        lambda *given, **named: ErrorCode.NONE,
        "is committed to|was never processed",
    ),
    "offsets that are forgotten": (
        Kind.CLASSIC,
        "wirekafka.groups.offsets.CommittedOffsets.apply",
        nothing,
        "is committed to",
    ),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_the_judge_of_groups_can_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that is broken in one way is found out within a few runs, and for the right reason."""
    kind, target, broken, sentence = SABOTAGE[name]
    monkeypatch.setattr(target, broken)

    with pytest.raises(Finding, match=sentence):
        _many(kind)


def _many(kind: Kind) -> None:
    for seed in range(40):
        run(seed, kind)
