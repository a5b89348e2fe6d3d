"""Tests of bench/clients/telling.py: what of the turns is said, and what is held against a target."""

import itertools

from clients import CLIENTS
from clients.measured import BASE, BATCHING, DIRECTIONS, KAFKA, OURS, POINTS, Measured, Place, points
from clients.telling import answer
from clients.turns import Turn
from instrument.answers import Lines


def turn(broker: str) -> Turn:
    """wirekafka is twice as fast, and takes a quarter of the processor time."""
    factor = 2.0 if broker == OURS else 1.0
    return Turn(
        records_a_second=1000 * factor,
        mb_a_second=factor,
        cpu_seconds_a_gb=1 / factor**2,
        seconds_a_gb=1 / factor,
        client_seconds_a_gb=0.4,
        least_seconds_a_gb=0.5,
    )


def measured() -> Measured:
    """A turn of everything."""
    made = Measured()
    for broker, verb, client in itertools.product((OURS, KAFKA), DIRECTIONS, CLIENTS):
        for point in points(verb):
            made.turns[Place(point.name, client, verb, broker)].append(turn(broker))
        made.warming[broker, verb].append(turn(broker))
    for broker, point in itertools.product((OURS, KAFKA), POINTS):
        made.resident_mib[point.name, broker].append(40.0 if broker == OURS else 800.0)
    made.absent.update({"kfake": "no Go here", "tansu": "no wheel", "librdkafka-mock": "nothing"})
    return made


def test_each_batching_client_has_a_target_each_way_for_its_rate_and_the_brokers_cost() -> None:
    figures = answer(measured()).figures

    assert len(figures) == 2 * len(BATCHING) * len(DIRECTIONS) + 1
    assert all(figure.target is not None and not figure.missed for figure in figures)
    assert {figure.value for figure in figures} == {2.0, 0.25, 0.05}


def test_reader_is_told_what_the_client_leaves_and_who_was_not_there() -> None:
    """A client that is busy for half of Apache Kafka's time could be twice as fast, and no more."""
    notes = " ".join(answer(measured()).notes)

    assert "2.00 times with confluent-kafka and 2.00 times with perf-test" in notes
    assert "kfake was not measured: no Go here" in notes


def test_first_turns_after_a_start_have_a_plot_of_their_own() -> None:
    """They are in no figure."""
    (plot,) = (plot for plot in answer(measured()).plots if isinstance(plot, Lines))

    assert plot.name == "warming"
    assert [series.name for series in plot.series] == [
        f"{broker}, {direction}" for broker, direction in itertools.product((OURS, KAFKA), ("in", "out"))
    ]


def test_brokers_that_are_not_there_have_no_row() -> None:
    (table,) = (table for table in answer(measured()).tables if table.title.startswith("All brokers"))

    assert [row[0] for row in table.rows] == [OURS, KAFKA]
    assert BASE.name in table.title
