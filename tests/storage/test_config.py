"""Tests of storage.config."""

from wirekafka.storage import LogConfig


def test_defaults_are_kafkas() -> None:
    """As in LogConfig of Kafka 4.4."""
    config = LogConfig()

    assert (config.segment_bytes, config.segment_ms, config.segment_jitter_ms) == (1073741824, 604800000, 0)
    assert (config.index_interval_bytes, config.segment_index_bytes) == (4096, 10485760)
    assert (config.max_message_bytes, config.message_timestamp_type) == (1048588, "CreateTime")
    assert config.message_timestamp_before_max_ms == 9223372036854775807
    assert config.message_timestamp_after_max_ms == 3600000
    assert config.producer_id_expiration_ms == 86400000


def test_topic_configs_are_taken_by_kafkas_names() -> None:
    """Names that storage has no use for are passed over; what is missing keeps its default."""
    values = {"segment.bytes": 1024, "max.message.bytes": 99, "cleanup.policy": ("compact",), "no.such": 1}

    assert LogConfig.from_topic_configs(values) == LogConfig(
        segment_bytes=1024, max_message_bytes=99, cleanup_policy=("compact",)
    )


def test_records_are_looked_into_only_where_the_header_does_not_tell() -> None:
    """Everywhere else a produced batch stays closed."""
    assert not LogConfig().looks_into_records
    assert LogConfig(cleanup_policy=("delete", "compact")).looks_into_records
    assert LogConfig(message_timestamp_before_max_ms=5).looks_into_records


def test_the_durability_of_a_topic_is_our_own_setting() -> None:
    """Kafka has no such name, so it bears ours."""
    assert LogConfig().durability == "os"
    assert LogConfig.from_topic_configs({"wirekafka.durability": "fsync"}).durability == "fsync"
