"""The settings that are not Kafka's."""

import pytest

from wirekafka.metadata.configs import ConfigError, Settings
from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.broker_wirekafka import WIREKAFKA_CONFIGS
from wirekafka.metadata.configs.documentation import DOCUMENTATION
from wirekafka.metadata.effective import TopicSettings


def test_each_has_the_prefix_a_sentence_and_an_effect() -> None:
    """Nobody can take them for Kafka's, and each says what it does."""
    assert WIREKAFKA_CONFIGS.items() <= BROKER_CONFIGS.items()
    for name, definition in WIREKAFKA_CONFIGS.items():
        assert name.startswith("wirekafka.")
        assert definition.documentation == DOCUMENTATION[name]


def test_durability_of_the_broker_is_the_topics_default() -> None:
    """A topic's own setting goes before it."""
    topics = TopicSettings(Settings.load("wirekafka.durability=fsync"))

    assert topics.defaults["wirekafka.durability"] == "fsync"
    assert topics.effective({"wirekafka.durability": "os"})["wirekafka.durability"] == "os"


def test_durability_is_os_or_fsync() -> None:
    """os is what Kafka promises: acknowledged means in the page cache."""
    assert Settings.load().get_str("wirekafka.durability") == "os"
    with pytest.raises(ConfigError, match="must be one of os, fsync"):
        Settings.load("wirekafka.durability=disk")
