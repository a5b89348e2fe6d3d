"""Tests of groups/java.py; what is expected is what Java 17 gives."""

import pytest

from wirekafka.groups.java import in_map_order, string_hash


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        ("range roundrobin sticky cooperative-sticky", "sticky range roundrobin cooperative-sticky"),
        ("cooperative-sticky range", "range cooperative-sticky"),
        ("p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12", "p12 p1 p11 p2 p3 p4 p5 p6 p7 p8 p9 p10"),
        (
            "p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11 p12 p13 q",
            "p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p12 p11 q p13",
        ),
        ("AaAa BBBB AaBB", "AaAa BBBB AaBB"),
        ("BBBB AaBB AaAa", "BBBB AaBB AaAa"),
        ("", ""),
    ],
    ids=[
        "assignors",
        "insertion does not count",
        "full table",
        "larger table",
        "one hash",
        "one hash, turned",
        "none",
    ],
)
def test_keys_come_as_from_a_java_hash_map(keys: str, order: str) -> None:
    """Bucket by bucket, and in one bucket in the order of insertion."""
    assert in_map_order(keys.split()) == order.split()


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
def test_hash_of_a_text_is_that_of_java(text: str, value: int) -> None:
    """String.hashCode: s[0]*31^(n-1) + ... over UTF-16 units, in 32 bits."""
    assert string_hash(text) == value
