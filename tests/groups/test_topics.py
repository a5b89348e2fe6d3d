"""groups/topics.py: the hash of topics, byte for byte Kafka's.

The expected numbers were made by Kafka 4.4's own Utils.computeTopicHash and computeGroupHash.
"""

import struct

from tests.support.consumer_playbook import KnownTopics
from wirekafka.groups.topics import NO_TOPICS, TopicFacts, existing, metadata_hash, topic_hash


def _topic(name: str, most: int, least: int, racks: tuple[frozenset[str], ...]) -> TopicFacts:
    return TopicFacts(name, struct.pack(">qq", most, least), len(racks), racks)


NOWHERE: frozenset[str] = frozenset()
ORDERS = _topic("orders", 1, 2, (NOWHERE, NOWHERE, NOWHERE))
IN_TWO_RACKS = _topic("b", -5, -(2**63), (frozenset({"z", "a"}),))
LONG_NAMED = _topic("a.long-name_" * 20, 77, 99, (frozenset({"rack-é"}), NOWHERE))


def test_the_hash_of_a_topic_is_kafkas() -> None:
    """Utils.computeTopicHash: id, name, partitions and no racks."""
    assert topic_hash(ORDERS) == 2779785129666336701


def test_the_hash_of_a_topic_has_its_racks_in_order() -> None:
    """Utils.computeTopicHash: racks are sorted, each behind its length."""
    assert topic_hash(IN_TWO_RACKS) == 2974805876114461010
    assert topic_hash(LONG_NAMED) == 1289403318657547396


def test_racks_that_are_not_told_are_as_none() -> None:
    """A partition without known racks adds its number alone."""
    assert topic_hash(ORDERS._replace(racks=())) == topic_hash(ORDERS)


def test_the_hash_of_a_group_is_kafkas_in_whatever_order_topics_come() -> None:
    """Utils.computeGroupHash: the topics' hashes, in the order of their names."""
    assert metadata_hash([ORDERS]) == -4373262523051953005
    assert metadata_hash([ORDERS, IN_TWO_RACKS, LONG_NAMED]) == 5283449539935050099
    assert metadata_hash([LONG_NAMED, IN_TWO_RACKS, ORDERS]) == 5283449539935050099


def test_a_group_without_topics_has_hash_0() -> None:
    """Utils.computeGroupHash."""
    assert metadata_hash([]) == 0


def test_no_topics_knows_none() -> None:
    """It stands for a cluster in which nothing was created."""
    assert (NO_TOPICS.generation, [*NO_TOPICS.names()]) == (0, [])
    assert NO_TOPICS.named("orders") is None
    assert NO_TOPICS.with_id(ORDERS.topic_id) is None


def test_topics_that_do_not_exist_are_passed_over() -> None:
    """A member may subscribe to what is still to be created."""
    topics = KnownTopics()
    topics.put("orders", 2)

    assert [facts.name for facts in existing(topics, ["none", "orders"])] == ["orders"]
    assert [*existing(NO_TOPICS, ["orders"])] == []


def test_hash_of_a_topic_is_worked_out_once() -> None:
    """A group of a thousand topics asks for all of theirs with each member that comes or goes."""
    facts = TopicFacts("asked-again", b"a" * 16, 3, (frozenset(),) * 3)
    topic_hash(facts)
    before = topic_hash.cache_info().hits

    assert metadata_hash([facts]) == metadata_hash([facts])
    assert topic_hash.cache_info().hits == before + 2
