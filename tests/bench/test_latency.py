"""Tests of bench/latency.py: percentiles."""

import pytest
from latency import percentile


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 501), (99, 991), (99.9, 1000), (100, 1000)])
def test_percentile_is_the_value_with_so_many_percent_below_it(percent: float, expected: float) -> None:
    assert percentile(list(range(1000, 0, -1)), percent) == expected


def test_percentile_of_one_value_is_that_value() -> None:
    assert percentile([7.0], 99.9) == 7.0
