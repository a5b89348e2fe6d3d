"""authorized: bit fields of KIP-430, bit n for the operation with code n."""

from wirekafka.handlers.authorized import CLUSTER_OPERATIONS, GROUP_OPERATIONS, TOPIC_OPERATIONS


def codes(bits: int) -> list[int]:
    return [code for code in range(32) if bits >> code & 1]


def test_each_resource_has_the_operations_that_kafka_gives_it() -> None:
    """3 read, 4 write, 5 create, 6 delete, 7 alter, 8 describe, 9 cluster action, 10 describe configs,
    11 alter configs, 12 idempotent write."""
    assert codes(TOPIC_OPERATIONS) == [3, 4, 5, 6, 7, 8, 10, 11]
    assert codes(GROUP_OPERATIONS) == [3, 6, 8, 10, 11]
    assert codes(CLUSTER_OPERATIONS) == [5, 7, 8, 9, 10, 11, 12]
