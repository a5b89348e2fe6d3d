"""Tests of groups/classic/member.py."""

import pytest

from wirekafka.groups import Client
from wirekafka.groups.classic.member import Member


def member(instance: str | None = None) -> Member:
    return Member(
        member_id="m",
        group_instance_id=instance,
        client=Client("c", "/h"),
        rebalance_timeout_ms=1,
        session_timeout_ms=1,
        protocols=(("sticky", b"S"), ("range", b"R")),
    )


def test_member_votes_for_the_first_it_likes() -> None:
    """The order of a JoinGroup's protocols is that of preference."""
    assert member().vote({"range", "sticky"}) == "sticky"
    assert member().vote({"range", "other"}) == "range"


def test_metadata_goes_by_protocol() -> None:
    """One metadata for each protocol offered; there is none for others."""
    assert member().metadata("range") == b"R"

    with pytest.raises(KeyError):
        member().metadata("other")


def test_member_with_an_instance_id_is_static() -> None:
    """KIP-345."""
    assert member("i").is_static
    assert not member().is_static
