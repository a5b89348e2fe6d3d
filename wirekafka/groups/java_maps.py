"""The order in which Kafka goes over the keys of a map, where that order decides something.

Called by `classic.group`: a tied vote goes to the protocol that comes first; and by `consumer.target`, since
what is left over after equal shares goes to the members that come first.

Source: Java's HashMap (its table of buckets, grown when three quarters full) and String.hashCode.
"""

from collections.abc import Collection

from wirekafka.groups.partitioning import java_string_hash

_SMALLEST_TABLE = 16


def in_map_order(keys: Collection[str]) -> list[str]:
    """Sort as a HashMap has its keys; those of one bucket stay in the order in which they came."""
    buckets = _SMALLEST_TABLE
    while 4 * len(keys) > 3 * buckets:
        buckets *= 2
    return sorted(keys, key=lambda key: _spread(java_string_hash(key)) % buckets)


def _spread(value: int) -> int:
    unsigned = value & 0xFFFFFFFF
    return unsigned ^ (unsigned >> 16)
