"""kill -9 of a loaded broker, fifty times: `python -m tests.torture kills` does it as often as one likes.

Four idempotent producers with acks=all and a consumer, 50 partitions; one data folder over many kills.
"""

from pathlib import Path

import pytest

from tests.torture.campaign import VARIANTS, Campaign, Kill
from tests.torture.load import Load
from tests.torture.process import BrokerProcess

KILLS = 10
CAMPAIGNS = [("plain", 1), ("plain", 2), ("rolling", 3), ("retention", 4), ("compaction", 5)]
"""Fifty in all; a variant and a seed each."""


@pytest.mark.parametrize(("variant", "seed"), CAMPAIGNS)
def test_a_killed_broker_loses_and_doubles_nothing_and_is_soon_back(
    tmp_path: Path, variant: str, seed: int
) -> None:
    """No acknowledged record lost, none twice, each producer's order kept, ready within two seconds."""
    campaign = Campaign(tmp_path, tmp_path / "data", VARIANTS[variant], death=Kill(), seed=seed)

    report = campaign.run(KILLS, check_every=5)

    assert report.findings == [], report.sentence()
    assert report.rounds >= KILLS
    assert report.acknowledged > 100 * report.rounds, report.sentence()


class KillAndForget:
    """A death that takes the last batches of every log with it: what the judge has to notice."""

    def strike(self, broker: BrokerProcess, load: Load) -> None:
        broker.freeze()
        load.drain()
        broker.kill()
        for path in broker.data_dir.glob("tortured-*/*.log"):
            path.write_bytes(path.read_bytes()[:-10])


def test_the_judge_of_kills_can_fail(tmp_path: Path) -> None:
    """A log that lost its last batch behind the broker's back is found out."""
    campaign = Campaign(tmp_path, tmp_path / "data", VARIANTS["plain"], death=KillAndForget(), seed=1)

    report = campaign.run(3, check_every=1)

    assert any("lost" in finding or "stands at" in finding for finding in report.findings), report.sentence()
