"""Power cuts: what was acknowledged in mode fsync is there, what was not is a prefix without a hole.

On a filesystem of its own, ext4 and xfs; skipped where none can be mounted. `python -m tests.torture power`
does it as often as one likes.
"""

from pathlib import Path

import pytest

from tests.torture import mounts
from tests.torture.campaign import VARIANTS, Campaign, Report
from tests.torture.power import READY_SECONDS, PowerCut

SEED = 1
CUTS = {("ext4", "fsync"): 8, ("ext4", "fsync-rolling"): 5, ("xfs", "fsync"): 4}
CUTS_IN_MODE_OS = 5


def campaign(folder: Path, kind: str, variant: str, cuts: int) -> Report:
    """Cut the power so often, and read everything each time before the producers go on."""
    if reason := mounts.not_possible(kind):
        pytest.skip(reason)
    with mounts.mounted(folder, kind, mebibytes=256) as mount:
        death = PowerCut(mount)
        one = Campaign(
            folder,
            mount.point / "data",
            VARIANTS[variant],
            death=death,
            seed=SEED,
            ready_seconds=READY_SECONDS,
        )
        return one.run(cuts, check_every=1)


@pytest.mark.parametrize(("kind", "variant"), CUTS)
def test_a_power_cut_takes_nothing_that_was_acknowledged(tmp_path: Path, kind: str, variant: str) -> None:
    """The sequences that are there go from 0 on without a hole, to the last acknowledged or further."""
    report = campaign(tmp_path, kind, variant, CUTS[kind, variant])

    assert report.findings == [], report.sentence()
    assert report.acknowledged > 10 * report.rounds, report.sentence()


def test_the_judge_of_power_cuts_can_fail(tmp_path: Path) -> None:
    """In mode os an acknowledgement says nothing of the disk, and a cut is seen to take what it promised.

    From the end, though: nothing is out of order, and there is no hole.
    """
    report = campaign(tmp_path, "ext4", "rolling", CUTS_IN_MODE_OS)

    assert report.findings != [], report.sentence()
    assert [finding for finding in report.findings if "acknowledged records lost" not in finding] == []
