"""Tests of bench/growing.py: what a curve is judged by."""

import pytest
from growing import FLAT, LINEAR, Curve, Growth, Plotted, slope

SIZES = (1, 10, 100, 1_000)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [([7, 7, 7, 7], 0.0), ([2, 20, 200, 2_000], 1.0), ([1, 100, 10_000, 1_000_000], 2.0)],
    ids=["flat", "linear", "square"],
)
def test_slope_on_logarithmic_axes_is_the_power_of_the_size(costs: list[float], expected: float) -> None:
    assert slope(list(zip(SIZES, costs, strict=True))) == pytest.approx(expected)


def judged(costs: list[float], steepest: float) -> bool:
    """Whether a curve with these costs at SIZES is called steeper than it may be."""
    growth, curve = Growth("things"), Curve("cost", "us", steepest)
    for _ in range(2):
        for size, cost in zip(SIZES, costs, strict=True):
            growth.add(curve, size, cost)
    (figure,) = growth.figures()
    return figure.missed


@pytest.mark.parametrize(
    ("costs", "steepest", "is_missed"),
    [
        ([100, 105, 110, 120], FLAT, False),
        ([100, 200, 400, 800], FLAT, True),
        ([100, 101, 110, 200], FLAT, True),
        ([100, 110, 200, 1_100], LINEAR, False),
        ([100, 100, 101, 2_500], LINEAR, True),
    ],
    ids=["flat", "grows all along", "grows at last", "linear at last", "steeper at last"],
)
def test_curve_is_judged_by_all_points_and_by_the_last_decade(
    costs: list[float], steepest: float, is_missed: bool
) -> None:
    """What was there from the start hides for long how the rest grows."""
    assert judged(costs, steepest) is is_missed


def test_curve_without_a_limit_is_told_and_not_judged() -> None:
    growth, curve = Growth("things"), Curve("memory", "KiB")
    growth.add(curve, 10, 5.0)
    growth.add(curve, 10, 7.0)

    assert not growth.figures()
    assert growth.lines(Plotted("memory", "Memory", [curve])).series[0].ys == [6.0]
    assert growth.table("Cost").rows[0][0] == "memory, KiB"


def test_apache_kafka_stands_beside_a_curve_and_is_not_judged() -> None:
    growth, curve = Growth("things"), Curve("cost", "us", FLAT)
    growth.add(curve, 1, 5.0)
    growth.beside().add(curve, 1, 50.0)

    ours, kafkas = growth.lines(Plotted("cost", "Cost", [curve])).series
    assert (ours.name, ours.ys, kafkas.name, kafkas.ys) == ("cost", [5.0], "Apache Kafka: cost", [50.0])
    assert [figure.name for figure in growth.figures()] == ["cost: slope"]
    assert [row[0] for row in growth.table("Cost").rows] == ["cost, us", "Apache Kafka: cost, us"]
