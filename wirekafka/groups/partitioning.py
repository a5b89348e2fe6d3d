"""Which partition of `__consumer_offsets` a group lives in.

Called by `broker.coordination`; clients and other Kafka brokers must come to the same answer.

Source: Kafka's GroupCoordinatorService.partitionFor, and the absolute value as its Utils.abs takes it.
"""

from wirekafka.groups.java import string_hash


def partition_for(group_id: str, partition_count: int) -> int:
    """Give the partition of a group; a hash of -2^31 counts as 0."""
    value = string_hash(group_id)
    return 0 if value == -(1 << 31) else abs(value) % partition_count
