"""groups/consumer/patterns/tree.py."""

from wirekafka.groups.consumer.patterns.tree import LONGEST_NAME, TOPIC_CHARACTERS
from wirekafka.metadata.topics import validate_name


def test_its_characters_are_those_of_topic_names() -> None:
    """Kafka's Topic.validate: what is no topic's name need not be matched."""
    for character in TOPIC_CHARACTERS:
        validate_name(f"a{character}")
    validate_name("a" * LONGEST_NAME)
