"""A sync that fails once, and other calls of a real broker, by strace; skipped without it."""

from pathlib import Path

import pytest

from tests.support.raw_client import RawClient
from tests.support.requests import batch_of, fetch, produce, values_in
from tests.torture import injection, topics
from tests.torture.campaign import VARIANTS, Campaign
from tests.torture.injection import Injected, failing_sync
from tests.torture.process import BrokerProcess

SEED = 1
LIVES = 6
STORAGE_ERROR = 56
FAILING_SYNC = 40
"""Which fdatasync fails: behind those of a start and of a topic's creation."""


@pytest.fixture(autouse=True)
def can_trace() -> None:
    if reason := injection.not_possible():
        pytest.skip(reason)


def test_after_a_failed_sync_nothing_is_acknowledged_until_a_restart(tmp_path: Path) -> None:
    """A later sync may succeed and lie (the kernel calls lost pages clean), so it is not asked again."""
    settings = {"wirekafka.durability": "fsync"}
    broker = BrokerProcess(tmp_path / "data", tmp_path / "broker.log", settings=settings)
    broker.prefix = failing_sync(FAILING_SYNC)
    with broker:
        broker.start()
        topics.create(broker.bootstrap, "t", 1, topics.FOR_EVER)
        topics.create(broker.bootstrap, "u", 1, topics.FOR_EVER)
        with RawClient(broker.bootstrap) as raw:
            codes = [produce(raw, "t", batch_of(b"%d" % n)) for n in range(4 * FAILING_SYNC)]
            others = [produce(raw, "u", batch_of(b"%d" % n)) for n in range(5)]
            told = codes.index(STORAGE_ERROR)
            served = values_in(fetch(raw, "t"))
        broker.kill()
        broker.prefix = []
        broker.start()
        with RawClient(broker.bootstrap) as raw:
            served_again = values_in(fetch(raw, "t"))
            healed = produce(raw, "t", batch_of(b"healed"))

    assert codes[told:] == [STORAGE_ERROR] * (len(codes) - told)
    assert others == [STORAGE_ERROR] * 5
    assert served == [b"%d" % n for n in range(told)]
    assert served_again[:told] == served
    assert healed == 0
    assert "Traceback" not in broker.log()


def test_calls_that_fail_or_are_the_last_lose_nothing(tmp_path: Path) -> None:
    """A few lives here; `python -m tests.torture calls` has hundreds."""
    death = Injected(SEED)
    campaign = Campaign(tmp_path, tmp_path / "data", VARIANTS["rolling"], death=death, seed=SEED)

    report = campaign.run(LIVES, check_every=3)

    assert report.findings == [], f"{report.sentence()}; {death.drawn}"
