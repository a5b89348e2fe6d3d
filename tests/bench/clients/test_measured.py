"""Tests of bench/clients/measured.py: what is made of the turns of two brokers."""

from clients.measured import BASE, IN, KAFKA, OURS, OUT, POINTS, Measured, Place, points
from clients.turns import Turn

CLIENT = "perf-test"


def turn(rate: float, seconds: float = 1.0, least_seconds: float = 1.0) -> Turn:
    return Turn(
        records_a_second=rate,
        mb_a_second=1.0,
        cpu_seconds_a_gb=1.0,
        seconds_a_gb=seconds,
        client_seconds_a_gb=1.0,
        least_seconds_a_gb=least_seconds,
    )


def test_ratio_is_of_the_turns_of_one_round() -> None:
    """They were one right after the other."""
    measured = Measured()
    measured.turns[Place(BASE.name, CLIENT, OUT, OURS)] = [turn(10.0), turn(30.0)]
    measured.turns[Place(BASE.name, CLIENT, OUT, KAFKA)] = [turn(5.0), turn(10.0)]

    assert measured.all_ratios(CLIENT, OUT, "records_a_second") == [2.0, 3.0]


def test_most_that_is_left_is_the_time_that_the_client_does_not_need() -> None:
    """A client that is busy for 0.8 of a second cannot be more than 1.25 times as fast."""
    measured = Measured()
    measured.turns[Place(BASE.name, CLIENT, OUT, KAFKA)] = [turn(1.0, seconds=1.0, least_seconds=0.8)]

    assert measured.most_left(BASE.name, CLIENT, OUT) == [1.25]


def test_reader_is_not_asked_how_records_were_acknowledged() -> None:
    assert points(IN) == list(POINTS)
    assert {point.acks for point in points(OUT)} == {"all"}
