"""Which setting holds for a topic."""

import pytest

from wirekafka.metadata.configs import ConfigValue, Settings
from wirekafka.metadata.effective import TopicSettings
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def topic_settings(**overrides: str) -> TopicSettings:
    return TopicSettings(Settings.load("", {k.replace("_", "."): v for k, v in overrides.items()}, "kafka"))


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({}, "retention.ms", 604_800_000),
        ({"log_retention_hours": "1"}, "retention.ms", 3_600_000),
        ({"log_retention_hours": "1", "log_retention_minutes": "2"}, "retention.ms", 120_000),
        ({"log_retention_minutes": "2", "log_retention_ms": "3"}, "retention.ms", 3),
        ({"log_retention_hours": "-1"}, "retention.ms", -1),
        ({"log_retention_ms": "-7"}, "retention.ms", -1),
        ({"log_roll_hours": "2"}, "segment.ms", 7_200_000),
        ({"log_roll_jitter_hours": "1"}, "segment.jitter.ms", 3_600_000),
        ({"log_flush_scheduler_interval_ms": "9"}, "flush.ms", 9),
        ({"log_flush_scheduler_interval_ms": "9", "log_flush_interval_ms": "8"}, "flush.ms", 8),
        ({"message_max_bytes": "10"}, "max.message.bytes", 10),
        ({"log_cleanup_policy": "compact,delete"}, "cleanup.policy", ("compact", "delete")),
        ({"log_cleaner_min_cleanable_ratio": "0.25"}, "min.cleanable.dirty.ratio", 0.25),
    ],
)
def test_broker_setting_stands_in_for_the_topics(
    given: dict[str, str], name: str, value: ConfigValue
) -> None:
    """ServerTopicConfigSynonyms: the finest unit wins; any negative retention is for ever."""
    assert topic_settings(**given).defaults[name] == value


def test_topics_own_setting_wins() -> None:
    """Topic, then broker, then Kafka's default."""
    values = topic_settings(log_retention_ms="3").effective({"retention.ms": "9"})

    assert (values["retention.ms"], values["segment.bytes"]) == (9, 1_073_741_824)


def test_topic_without_settings_shares_the_defaults() -> None:
    """Ten thousand topics need not have ten thousand copies."""
    settings = topic_settings()

    assert settings.effective({}) is settings.defaults


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"nope": "1"}, "Unknown topic config name: nope"),
        ({"segment.bytes": "100"}, "must be at least 1048576"),
        (
            {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"},
            r"\(9\) > max.compaction.lag.ms \(8\)",
        ),
        ({"remote.storage.enable": "true"}, "Tiered Storage functionality is disabled"),
    ],
)
def test_setting_that_may_not_be_is_refused(own: dict[str, str], message: str) -> None:
    """Kafka's LogConfig.validate, code 40."""
    with pytest.raises(KafkaError, match=message) as caught:
        topic_settings().validate(own)

    assert caught.value.code is ErrorCode.INVALID_CONFIG


def test_topic_setting_is_checked_against_the_brokers() -> None:
    """The compaction lags must agree even if one of them is the broker's."""
    with pytest.raises(KafkaError, match="conflict topic config setting"):
        topic_settings(log_cleaner_max_compaction_lag_ms="5").validate({"min.compaction.lag.ms": "6"})


def test_internal_setting_is_told_only_where_it_is_set() -> None:
    """internal.segment.bytes is for tests."""
    settings = topic_settings()

    assert "internal.segment.bytes" not in {config.name for config in settings.describe({})}
    assert "internal.segment.bytes" in {c.name for c in settings.describe({"internal.segment.bytes": "9"})}


@pytest.mark.parametrize(
    ("all_brokers", "this_broker", "source"),
    [
        ({}, {}, 4),
        ({"log.retention.ms": "5"}, {}, 3),
        ({"log.retention.ms": "5"}, {"log.retention.ms": "6"}, 2),
    ],
)
def test_source_of_a_value_that_changed_at_run_time(
    all_brokers: dict[str, str], this_broker: dict[str, str], source: int
) -> None:
    """KafkaConfigSchema: this broker (2), all brokers (3), what the broker was started with (4)."""
    started = Settings.load("log.retention.hours=1", profile="kafka")
    settings = TopicSettings(started.changed(all_brokers, this_broker))

    told = {config.name: config for config in settings.describe({})}

    assert told["retention.ms"].config_source == source
    assert told["segment.ms"].config_source == 5
