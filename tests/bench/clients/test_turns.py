"""Tests of bench/clients/turns.py: how much a turn is."""

import pytest
from clients.turns import MANY, MOST_BYTES, MOST_RECORDS, Point


@pytest.mark.parametrize("client", list(MOST_RECORDS))
@pytest.mark.parametrize("record_bytes", [100, 1024, 16 * 1024])
def test_turn_keeps_to_the_clients_most_and_divides_among_eight(client: str, record_bytes: int) -> None:
    records = Point("any", record_bytes=record_bytes).records(client, 1.0)

    assert 0 < records <= MOST_RECORDS[client]
    assert records * record_bytes <= MOST_BYTES[client]
    assert records % MANY == 0


def test_turn_of_the_smallest_share_has_a_record_for_each_client() -> None:
    assert Point("large", record_bytes=10**9).records("perf-test", 0.1) == MANY
