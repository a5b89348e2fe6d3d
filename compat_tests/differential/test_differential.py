"""The byte for byte comparison as a test, where Java and Maven are.

Read by pytest; calls `run`. Source: issue "One suite, two brokers".
"""

from __future__ import annotations

import pytest

from compat_tests.apache_kafka.jars import NotAvailable, missing_tools
from compat_tests.differential.run import Outcome, run

LEAST_EXCHANGES = 1000


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """Give the outcome of one run of all scenarios."""
    if (reason := missing_tools()) is not None:
        pytest.skip(reason)
    try:
        return run((), print)
    except NotAvailable as reason:
        pytest.skip(str(reason))


def test_answers_differ_on_purpose_only(outcome: Outcome) -> None:
    """Every field of every answer is Kafka's, or stands in the list of differences on purpose."""
    told = [f"{d.exchange}: {d.place}: {d.kafka!r} / {d.ours!r}" for d in outcome.comparison.unexplained]

    assert told == []


def test_every_difference_on_purpose_is_still_one(outcome: Outcome) -> None:
    """The list of differences on purpose has no entry that explains nothing."""
    assert outcome.stale == []


def test_the_script_is_as_long_as_it_was(outcome: Outcome) -> None:
    """A scenario that breaks off early does not pass for one that finds no difference."""
    assert len(outcome.comparison.exchanges) >= LEAST_EXCHANGES
