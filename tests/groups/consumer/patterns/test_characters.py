"""groups/consumer/patterns/characters.py: of which characters of topic names something holds."""

import string

from wirekafka.groups.consumer.patterns.characters import between, in_any_case, unicode_property
from wirekafka.groups.consumer.patterns.tree import TOPIC_CHARACTERS


def test_a_range_has_both_its_ends() -> None:
    """And nothing that no topic has in its name."""
    assert between(ord("+"), ord("0"), ignore_case=False) == frozenset("-.0")


def test_without_case_a_range_reaches_the_other_case() -> None:
    """Also that of the Kelvin sign, which is a k."""
    assert between(ord("x"), ord("z"), ignore_case=True) == frozenset("xyzXYZ")
    assert between(0x212A, 0x212A, ignore_case=True) == frozenset("kK")
    assert between(0x212A, 0x212A, ignore_case=False) == frozenset()


def test_properties_are_those_of_unicode() -> None:
    """By category and by script."""
    assert unicode_property("Ll") == frozenset(string.ascii_lowercase)
    assert unicode_property("Common") == frozenset(string.digits + "._-")
    assert unicode_property("Any") == TOPIC_CHARACTERS
    assert unicode_property("Cyrillic") == frozenset()
    assert unicode_property("Klingon") is None


def test_any_case_adds_the_other() -> None:
    """Signs have none."""
    assert in_any_case(frozenset("aB-")) == frozenset("aAbB-")
