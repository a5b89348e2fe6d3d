"""What Kafka's answers owe to Java: the hash of a text, and the order in which a map has its keys.

Called by `partitioning`; by `classic.group`, where a tied vote goes to the protocol that comes first in the
map; and by `consumer.target`, since what is left over after equal shares goes to the members that come first.

Source: Java's String.hashCode, and its HashMap (the table of buckets, grown when three quarters full).
"""

from collections.abc import Collection

_SMALLEST_TABLE = 16


def string_hash(text: str) -> int:
    """Give the hash of a text, a signed 32-bit number over its UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def in_map_order(keys: Collection[str]) -> list[str]:
    """Sort as a HashMap has its keys; those of one bucket stay in the order in which they came."""
    buckets = _SMALLEST_TABLE
    while 4 * len(keys) > 3 * buckets:
        buckets *= 2
    return sorted(keys, key=lambda key: _spread(string_hash(key)) % buckets)


def _spread(value: int) -> int:
    unsigned = value & 0xFFFFFFFF
    return unsigned ^ (unsigned >> 16)
