"""What each check lets through."""

import pytest

from wirekafka.metadata.configs.checks import (
    GZIP_LEVEL,
    NOT_EMPTY,
    SHARE_OFFSET_RESET,
    THROTTLED_REPLICAS,
    Check,
    at_least,
    between,
    each,
    entries,
    one_of,
    one_of_any_case,
)

CASES = {
    "at least": (at_least(1), [1, 2], [0, -1]),
    "between": (between(0, 1), [0, 0.5, 1], [-0.1, 1.1]),
    "one of": (one_of("a", "b"), ["a"], ["A", ""]),
    "any case": (one_of_any_case("AB"), ["ab", "aB"], ["a"]),
    "entries": (entries(), [(), ("x",)], [("",), ("x", "")]),
    "known entries": (entries("a", "b"), [(), ("a",), ("b", "a")], [("c",), ("a", "c")]),
    "some entries": (entries(empty=False), [("x",)], [()]),
    "each": (each(r"[0-9]+@.+:[0-9]+", "id@host:port"), [(), ("1@h:2",)], [("h:2",), ("1@h:2", "x")]),
    "not empty": (NOT_EMPTY, ["x"], [""]),
    "gzip": (GZIP_LEVEL, [-1, 1, 9], [0, 10, -2]),
    "throttled": (THROTTLED_REPLICAS, [(), ("*",), ("0:1", "1:2")], [("*", "0:1"), ("0:x",), ("0",)]),
    "offset reset": (
        SHARE_OFFSET_RESET,
        ["latest", "earliest", "by_duration:PT1H30M", "by_duration:P2DT0.5S"],
        ["none", "by_duration:P", "by_duration:PT", "by_duration:1h"],
    ),
}


@pytest.mark.parametrize(("check", "good", "bad"), CASES.values(), ids=CASES.keys())
def test_check_lets_good_values_through_and_no_others(
    check: Check, good: list[object], bad: list[object]
) -> None:
    """The validators of Kafka's ConfigDef."""
    assert [check.holds(value) for value in good] == [True] * len(good)
    assert [check.holds(value) for value in bad] == [False] * len(bad)
    assert check.allowed


def test_only_entries_count_once() -> None:
    """Kafka's ConfigDef takes doubles out of a ValidList, and of no other list."""
    assert entries("a").distinct
    assert not each("a", "a").distinct
    assert not THROTTLED_REPLICAS.distinct
