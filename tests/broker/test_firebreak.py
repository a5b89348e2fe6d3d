"""firebreak: an exception that nobody foresaw ends the upkeep of one log."""

import pytest

from tests.broker.conftest import MakePartition
from wirekafka.broker.firebreak import Firebreak, contained, noticed
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


async def test_what_nobody_foresaw_ends_the_upkeep_of_one_log(
    make_partition: MakePartition, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, with where it happened, and nothing is raised."""
    struck, other, firebreak = make_partition(index=0).log, make_partition(index=1).log, Firebreak("upkeep")

    with firebreak.around(struck):
        raise ZeroDivisionError("who would have thought")

    assert (firebreak.has_given_up(struck), firebreak.has_given_up(other)) == (True, False)
    assert "t-0: no more upkeep until the next start" in caplog.text
    assert "ZeroDivisionError: who would have thought" in caplog.text


async def test_what_is_foreseen_is_raised(make_partition: MakePartition) -> None:
    """And tried again: a full disk passes."""
    log, firebreak = make_partition().log, Firebreak("upkeep")

    with pytest.raises(KafkaError), firebreak.around(log):
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")

    assert not firebreak.has_given_up(log)


async def test_logs_that_are_closed_are_forgotten(make_partition: MakePartition) -> None:
    """When the next one is given up."""
    closed, log, firebreak = make_partition(index=0).log, make_partition(index=1).log, Firebreak("upkeep")
    with firebreak.around(closed):
        raise ZeroDivisionError
    closed.abandon()

    with firebreak.around(log):
        raise ZeroDivisionError

    assert (firebreak.has_given_up(closed), firebreak.has_given_up(log)) == (False, True)


def test_what_nobody_foresaw_is_contained_and_followed(caplog: pytest.LogCaptureFixture) -> None:
    """With its traceback in the log."""
    followed: list[str] = []

    with contained("a decision", lambda: followed.append("then")):
        raise ZeroDivisionError("who would have thought")

    assert followed == ["then"]
    assert "a decision failed in a way nobody foresaw" in caplog.text
    assert "ZeroDivisionError: who would have thought" in caplog.text


def test_what_is_foreseen_is_not_contained() -> None:
    """The caller knows what to do about it."""
    followed: list[str] = []

    with pytest.raises(KeyError), contained("a load", lambda: followed.append("then"), foreseen=(KeyError,)):
        raise KeyError
    with pytest.raises(KafkaError), noticed(lambda: followed.append("then")):
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    assert followed == []


def test_what_is_noticed_is_followed_and_raised() -> None:
    """As somebody waits to be told."""
    followed: list[str] = []

    with pytest.raises(ZeroDivisionError), noticed(lambda: followed.append("then")):
        raise ZeroDivisionError

    assert followed == ["then"]
