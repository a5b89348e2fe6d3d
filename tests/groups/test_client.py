"""Tests of groups/client.py."""

from wirekafka.groups.client import Client


def test_clients_of_the_same_id_and_host_are_equal() -> None:
    """A member that comes back unchanged is stored no second time."""
    assert Client("a", "/127.0.0.1") == Client("a", "/127.0.0.1")
    assert Client("a", "/127.0.0.1") != Client("a", "/127.0.0.2")
