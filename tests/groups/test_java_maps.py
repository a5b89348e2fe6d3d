"""Tests of groups/java_maps.py; the orders expected are those of Java 17."""

import pytest

from wirekafka.groups.java_maps import in_map_order


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
