"""The profiles."""

from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.profiles import PROFILES


def test_kafka_profile_changes_nothing() -> None:
    """It is there to give Kafka's own defaults."""
    assert PROFILES["kafka"] == {}


def test_dev_profile_differs_from_kafka_in_every_line() -> None:
    """A line that says what Kafka says is one too many."""
    assert [
        name
        for name, text in PROFILES["dev"].items()
        if BROKER_CONFIGS[name].parse(text) == BROKER_CONFIGS[name].default
    ] == []
