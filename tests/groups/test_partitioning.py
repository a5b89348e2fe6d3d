"""Tests of groups/partitioning.py."""

import pytest

from wirekafka.groups.partitioning import java_string_hash, partition_for


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("Aa", 2112),
        ("BB", 2112),
        ("\U0001f600", 1772899),
    ],
)
def test_hash_is_that_of_java(text: str, value: int) -> None:
    """String.hashCode: s[0]*31^(n-1) + ... over UTF-16 units, in 32 bits."""
    assert java_string_hash(text) == value


def test_partition_is_the_absolute_hash_modulo_the_count() -> None:
    """Utils.abs takes -2^31, which has no positive twin, as 0."""
    assert partition_for("hello", 50) == 99162322 % 50
    assert partition_for("console-consumer-1", 1) == 0

    assert java_string_hash("polygenelubricants") == -(2**31)
    assert partition_for("polygenelubricants", 50) == 0
    negative = "console-consumer"
    assert java_string_hash(negative) == -648006740
    assert partition_for(negative, 50) == 40
