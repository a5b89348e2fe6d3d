"""Tests of bench/clients/leaders.py: a topic is there when every partition has its leader."""

import math
import time

import pytest
from clients import leaders
from clients.leaders import wait_for_leaders
from confluent_kafka import KafkaException, TopicPartition


class Asking:
    """A client to which the partitions from 2 on are unknown for the first three times it is made anew."""

    made = 0
    closed = 0

    def __init__(self, settings: dict[str, object]) -> None:
        Asking.made += 1

    def get_watermark_offsets(self, partition: TopicPartition, timeout: float) -> tuple[int, int]:
        if partition.partition >= 2 and Asking.made <= 3:
            raise KafkaException("there is no leader")
        return 0, 0

    def close(self) -> None:
        Asking.closed += 1


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were slept; time goes on by them alone."""
    slept: list[float] = []
    monkeypatch.setattr(leaders, "Consumer", Asking)
    monkeypatch.setattr(Asking, "made", 0)
    monkeypatch.setattr(Asking, "closed", 0)
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: math.fsum(slept))
    return slept


def test_waits_until_the_last_partition_has_its_leader() -> None:
    """With a new client each time, and none left open."""
    wait_for_leaders("127.0.0.1:1", "t", 3)

    assert (Asking.made, Asking.closed) == (4, 4)


def test_topic_that_has_them_all_is_not_waited_for(clock: list[float]) -> None:
    wait_for_leaders("127.0.0.1:1", "t", 2)

    assert clock == []


def test_gives_up_when_no_leader_comes(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    monkeypatch.setattr(Asking, "made", -10_000)

    with pytest.raises(TimeoutError, match="t has no leaders"):
        wait_for_leaders("127.0.0.1:1", "t", 3)
    assert 30 < math.fsum(clock) < 31
