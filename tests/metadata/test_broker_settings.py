"""What holds for the broker as its settings change."""

import logging

import pytest

from wirekafka.metadata.broker_settings import BrokerSettings
from wirekafka.metadata.configs import Settings, Source
from wirekafka.metadata.image import BROKER_RESOURCE, TOPIC_RESOURCE, MetadataImage
from wirekafka.protocol.stored.cluster_metadata import ConfigRecord


def put(image: MetadataImage, resource: str, name: str, value: str | None) -> None:
    image.apply(ConfigRecord(resource_type=BROKER_RESOURCE, resource_name=resource, name=name, value=value))


def test_change_lies_over_what_the_broker_was_started_with() -> None:
    """Command line, all brokers, this broker: the last wins, and each is known by its source."""
    image = MetadataImage()
    settings = BrokerSettings(3, Settings.load("", {"log.retention.ms": "1"}), image)
    seen = []
    for resource, value in (("", "2"), ("3", "3"), ("3", None), ("", None)):
        put(image, resource, "log.retention.ms", value)
        seen.append((settings.current["log.retention.ms"], settings.current.source("log.retention.ms")))

    assert seen == [
        (2, Source.ALL_BROKERS),
        (3, Source.THIS_BROKER),
        (2, Source.ALL_BROKERS),
        (1, Source.COMMAND_LINE),
    ]
    assert settings.static["log.retention.ms"] == 1


def test_topics_follow() -> None:
    """The defaults of topics are made of the broker's settings."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load(), image)
    put(image, "", "log.segment.bytes", "2000000")

    assert settings.topics.defaults["segment.bytes"] == 2_000_000


def test_nothing_is_made_anew_while_nothing_changes() -> None:
    """Ten thousand topics are created under one object."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load(), image)
    before = settings.topics, settings.current
    image.apply(ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="t", name="a", value="1"))

    assert (settings.topics, settings.current) == before
    assert settings.topics is before[0]


def test_settings_of_another_broker_do_not_count() -> None:
    """The log may hold them, of a node that was."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load(), image)
    put(image, "2", "log.retention.ms", "2")

    assert settings.current["log.retention.ms"] is None


def test_recorded_setting_that_may_not_change_is_passed_over() -> None:
    """DynamicBrokerConfig.fromPersistentProps: a log of another version may hold one."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load(), image)
    for name, value in (("num.partitions", "7"), ("log.retention.ms", "x"), ("log.roll.ms", "5")):
        put(image, "1", name, value)

    assert settings.current["num.partitions"] == 1
    assert dict(settings.this_broker) == {"log.roll.ms": "5"}
    assert settings.current["log.roll.ms"] == 5


def test_changes_that_contradict_a_new_file_do_not_hold(caplog: pytest.LogCaptureFixture) -> None:
    """They were good when they were made; the broker starts with what it is started with, and says so."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load("log.cleaner.max.compaction.lag.ms=5"), image)
    put(image, "1", "log.cleaner.min.compaction.lag.ms", "6")

    put(image, "", "log.retention.ms", "7")

    with caplog.at_level(logging.ERROR):
        assert settings.current["log.cleaner.min.compaction.lag.ms"] == 0

    assert settings.current["log.retention.ms"] == 7
    assert "do not hold" in caplog.text


def test_changes_for_all_and_for_this_broker_may_each_contradict(caplog: pytest.LogCaptureFixture) -> None:
    """What agrees is kept; where nothing does, what the broker was started with holds."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load("log.cleaner.max.compaction.lag.ms=5"), image)
    put(image, "", "log.cleaner.min.compaction.lag.ms", "6")
    put(image, "1", "log.retention.ms", "7")
    assert settings.current["log.retention.ms"] == 7

    put(image, "1", "log.cleaner.min.compaction.lag.ms", "8")

    assert settings.current is settings.static


def test_name_nobody_knows_is_kept() -> None:
    """As in Kafka; what it is nobody can tell, so it is not shown."""
    image = MetadataImage()
    settings = BrokerSettings(1, Settings.load(), image)
    put(image, "1", "nobody.knows", "x")

    assert settings.current["nobody.knows"] == "x"
    assert settings.current.text("nobody.knows") is None
