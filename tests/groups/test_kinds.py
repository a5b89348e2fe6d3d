"""Tests of groups/kinds.py."""

import pytest

from wirekafka.groups.classic.group import ClassicGroup
from wirekafka.groups.consumer.group import ConsumerGroup
from wirekafka.groups.foreign import ForeignGroup, ForeignGroupType
from wirekafka.groups.kinds import Group, protocol_type_of, type_of


@pytest.mark.parametrize(
    ("group", "type_name", "protocol_type"),
    [
        (ClassicGroup("g"), "classic", ""),
        (ClassicGroup("g", protocol_type="connect"), "classic", "connect"),
        (ConsumerGroup("g"), "consumer", "consumer"),
        (ForeignGroup("g", ForeignGroupType.SHARE), "share", "share"),
        (ForeignGroup("g", ForeignGroupType.STREAMS), "streams", "streams"),
    ],
)
def test_group_is_called_by_kafkas_names(group: Group, type_name: str, protocol_type: str) -> None:
    """Group.GroupType, and the protocol type of ListGroups."""
    assert (type_of(group), protocol_type_of(group)) == (type_name, protocol_type)
