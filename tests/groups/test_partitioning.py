"""Tests of groups/partitioning.py."""

from wirekafka.groups.java import string_hash
from wirekafka.groups.partitioning import partition_for


def test_partition_is_the_absolute_hash_modulo_the_count() -> None:
    """Utils.abs takes -2^31, which has no positive twin, as 0."""
    assert partition_for("hello", 50) == 99162322 % 50
    assert partition_for("console-consumer-1", 1) == 0

    assert string_hash("polygenelubricants") == -(2**31)
    assert partition_for("polygenelubricants", 50) == 0
    negative = "console-consumer"
    assert string_hash(negative) == -648006740
    assert partition_for(negative, 50) == 40
