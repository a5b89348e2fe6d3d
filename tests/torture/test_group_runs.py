"""Random runs of groups: twenty members, their troubles, and a broker that dies in between.

`python -m tests.torture groups` does ten thousand; these are the quick count.
"""

import pytest

from tests.torture.groups.runs import Kind, Run, run
from tests.torture.groups.world import Finding

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
        one = Run(7, kind)
        one.go()
        stories.append(one.world.story)

    assert stories[0] == stories[1]
    assert len(stories[0]) > 20


def test_a_finding_tells_seed_and_story() -> None:
    """Whoever reads it can do the run again."""
    with pytest.raises(Finding, match=r"(?s)classic run 3: .*starts, reads"):
        run(3, Kind.CLASSIC, trouble=lambda one: one.world.schedule(30_000, lambda: one.world.find("x")))
