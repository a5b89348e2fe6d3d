"""Tests of server/descriptors.py."""

import resource

import pytest

from wirekafka.server.descriptors import raise_descriptor_limit

INFINITY = resource.RLIM_INFINITY


class Limits:
    """What getrlimit and setrlimit see in place of this process's limits."""

    def __init__(self, soft: int, hard: int, most: int | None = None) -> None:
        self.now, self.most = (soft, hard), most

    def get(self, kind: int) -> tuple[int, int]:
        assert kind == resource.RLIMIT_NOFILE
        return self.now

    def set(self, kind: int, limits: tuple[int, int]) -> None:
        assert kind == resource.RLIMIT_NOFILE
        if self.most is not None and limits[0] > self.most:
            raise ValueError("current limit exceeds maximum limit")
        self.now = limits


@pytest.mark.parametrize(
    ("limits", "then"),
    [
        (Limits(1024, 4096), (4096, 4096)),
        (Limits(1024, 1_048_576), (65_536, 1_048_576)),
        (Limits(1024, INFINITY), (65_536, INFINITY)),
        (Limits(100_000, INFINITY), (100_000, INFINITY)),
        (Limits(INFINITY, INFINITY), (INFINITY, INFINITY)),
        (Limits(256, INFINITY, most=10_240), (256, INFINITY)),
    ],
    ids=["to the hard limit", "to enough", "no hard limit", "enough", "no limit", "refused"],
)
def test_soft_limit_is_raised_and_never_lowered(
    monkeypatch: pytest.MonkeyPatch, limits: Limits, then: tuple[int, int]
) -> None:
    """With the usual 1,024 a broker would turn the 1,000th client away."""
    monkeypatch.setattr(resource, "getrlimit", limits.get)
    monkeypatch.setattr(resource, "setrlimit", limits.set)

    told = raise_descriptor_limit()

    assert limits.now == then
    assert told == then[0]
