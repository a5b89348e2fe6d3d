"""Tests of groups/consumer/turn.py."""

from wirekafka.groups import GroupConfig
from wirekafka.groups.classic.volatile import Volatile
from wirekafka.groups.consumer.turn import ConsumerTurn


def test_settings_of_a_group_are_looked_up_by_its_id() -> None:
    """Each time anew."""
    own: dict[str, dict[str, object]] = {"g": {"consumer.session.timeout.ms": 50_000}}
    turn = ConsumerTurn(GroupConfig(), Volatile(), 0, 0, overrides_of=lambda group_id: own.get(group_id, {}))

    assert turn.settings_of("g").session_timeout_ms == 50_000
    assert turn.settings_of("h").session_timeout_ms == 45_000
