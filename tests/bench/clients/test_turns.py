"""Tests of bench/clients/turns.py: how much a turn is."""

import pytest
from clients import CLIENTS
from clients.turns import MANY, MOST_BYTES, MOST_RECORDS, Point

SIZES = (100, 1024, 16 * 1024)


@pytest.mark.parametrize("verb", list(MOST_RECORDS))
@pytest.mark.parametrize("client", list(CLIENTS))
@pytest.mark.parametrize("record_bytes", SIZES)
def test_turn_keeps_to_the_clients_most_and_divides_among_eight(
    verb: str, client: str, record_bytes: int
) -> None:
    records = Point("any", record_bytes=record_bytes).records(client, verb, 1.0)

    assert 0 < records <= MOST_RECORDS[verb][client]
    assert records * record_bytes <= MOST_BYTES[verb][client]
    assert records % MANY == 0


@pytest.mark.parametrize("record_bytes", SIZES)
@pytest.mark.parametrize("client", list(CLIENTS))
def test_nobody_reads_more_than_all_have_written(client: str, record_bytes: int) -> None:
    point = Point("any", record_bytes=record_bytes)

    assert point.records(client, "consume", 0.4) <= sum(
        point.records(batching, "produce", 0.4) for batching in ("perf-test", "confluent-kafka")
    )


@pytest.mark.parametrize("record_bytes", SIZES)
def test_client_that_is_alone_with_a_broker_reads_what_it_has_written(record_bytes: int) -> None:
    point = Point("any", record_bytes=record_bytes)

    assert point.records("confluent-kafka", "consume", 1.0) == point.records(
        "confluent-kafka", "produce", 1.0
    )


def test_turn_of_the_smallest_share_has_a_record_for_each_client() -> None:
    assert Point("large", record_bytes=10**9).records("perf-test", "produce", 0.1) == MANY
