"""Our sentences about settings."""

import pytest

from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.documentation import DOCUMENTATION
from wirekafka.metadata.configs.profiles import PROFILES
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS, TOPIC_SYNONYMS


@pytest.mark.parametrize(("name", "sentence"), DOCUMENTATION.items())
def test_sentence_belongs_to_a_setting(name, sentence):
    """No text for a name that does not exist; each is a sentence."""
    assert name in BROKER_CONFIGS or name in TOPIC_CONFIGS
    assert sentence.endswith(".")


def test_broker_setting_has_effect_where_the_topics_has():
    """A default that changes something is not called without effect."""
    assert [
        (topic, broker)
        for topic, synonyms in TOPIC_SYNONYMS.items()
        for broker, _ in synonyms
        if (topic in DOCUMENTATION) != (broker in DOCUMENTATION)
    ] == []


def test_profiles_change_only_what_has_effect():
    """There is no reason to change another."""
    assert set(PROFILES["dev"]) <= set(DOCUMENTATION)
