"""Random runs of twenty simulated clients: a handful, for `make unit`, which leaves tests/torture out.

`make faults` does ten times as many, and `python -m tests.torture groups` thousands.
"""

import pytest

from tests.torture.groups.runs import Kind, run

RUNS_EACH = 6


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_groups_of_twenty_come_through_any_trouble(kind: Kind) -> None:
    """No record unread, no commit lost, none with two owners, none dropped who lives, none kept who died."""
    for seed in range(RUNS_EACH):
        run(seed, kind)
