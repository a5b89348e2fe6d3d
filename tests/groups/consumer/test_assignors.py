"""groups/consumer/assignors: both assignors against Kafka's own, and what they promise."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.assignments import Group, groups, kafka_cases
from wirekafka.groups.consumer.assignors import ASSIGNORS

patient = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
both = pytest.mark.parametrize("name", [*ASSIGNORS])


def test_the_first_is_the_one_for_members_that_name_none() -> None:
    """group.consumer.assignors of Kafka: uniform, range."""
    assert [*ASSIGNORS] == ["uniform", "range"]
    assert [assignor.name for assignor in ASSIGNORS.values()] == ["uniform", "range"]


@both
def test_assignments_are_those_of_kafka(name: str) -> None:
    """160 groups whose assignments Kafka 4.4's assignors made; support/kafka_assignments says how."""
    for number, (group, expected) in enumerate(kafka_cases()):
        made = ASSIGNORS[name].assign(group.members, group.topics)

        assert {who: what for who, what in made.items() if what} == {
            who: what for who, what in expected[name].items() if what
        }, f"case {number}"


@both
@patient
@given(group=groups())
def test_every_partition_has_one_owner_that_subscribes_to_it(name: str, group: Group) -> None:
    """KIP-848: all partitions of subscribed topics are assigned, each once, and no others."""
    made = ASSIGNORS[name].assign(group.members, group.topics)

    owned = [
        (topic_id, partition)
        for assignment in made.values()
        for topic_id, partitions in assignment.items()
        for partition in partitions
    ]
    wanted = {
        (topic_id, partition)
        for topic_id, facts in group.topics.items()
        if group.subscribers(topic_id)
        for partition in range(facts.partition_count)
    }
    assert len(owned) == len(set(owned))
    assert set(owned) == wanted
    assert all(made[who].keys() <= member.subscribed for who, member in group.members.items())


@both
@patient
@given(group=groups())
def test_every_member_has_an_answer_without_empty_sets(name: str, group: Group) -> None:
    """So that equal assignments are equal values."""
    made = ASSIGNORS[name].assign(group.members, group.topics)

    assert made.keys() == group.members.keys()
    assert all(partitions for assignment in made.values() for partitions in assignment.values())


@patient
@given(group=groups(), chance=st.randoms())
def test_ranges_do_not_go_by_the_order_in_which_members_are_told(group: Group, chance: Random) -> None:
    """They go by the members' own: instance ids, then member ids."""
    shuffled = [*group.members.items()]
    chance.shuffle(shuffled)

    made = ASSIGNORS["range"].assign(dict(shuffled), group.topics)

    assert made == ASSIGNORS["range"].assign(group.members, group.topics)


@both
@patient
@given(group=groups())
def test_nothing_moves_when_nothing_changed(name: str, group: Group) -> None:
    """A target that an assignor made is its answer the next time."""
    made = ASSIGNORS[name].assign(group.members, group.topics)

    assert ASSIGNORS[name].assign(group.with_targets(made).members, group.topics) == made


@both
def test_a_group_without_members_has_no_assignments(name: str) -> None:
    """The last member left."""
    assert ASSIGNORS[name].assign({}, {}) == {}


def test_no_assignor_is_loaded_before_it_is_called() -> None:
    """A start of a broker without such groups does not pay for them."""
    listing = (
        "import sys, wirekafka.groups.consumer.assignors as a; "
        "print([name for name in sys.modules if name.startswith(a.__name__ + '.')])"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    ).stdout

    assert loaded.strip() == "['wirekafka.groups.consumer.assignors.assignor']"
