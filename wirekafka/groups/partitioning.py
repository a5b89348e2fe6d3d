"""Which partition of `__consumer_offsets` a group lives in.

Called by `broker.coordination`; clients and other Kafka brokers must come to the same answer.

Source: Java's String.hashCode, and the absolute value as Kafka's Utils.abs takes it.
"""


def java_string_hash(text: str) -> int:
    """Give Java's `String.hashCode`, a signed 32-bit number over UTF-16 units."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def partition_for(group_id: str, partition_count: int) -> int:
    """Give the partition of a group; a hash of -2^31 counts as 0."""
    value = java_string_hash(group_id)
    return 0 if value == -(1 << 31) else abs(value) % partition_count
