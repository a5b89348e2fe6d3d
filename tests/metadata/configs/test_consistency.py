"""Settings that contradict each other."""

import pytest

from wirekafka.metadata.configs import ConfigError, Settings

CONTRADICTIONS = {
    "roll": ({"log.roll.ms": "0"}, "log.roll.ms: must be at least 1"),
    "jitter": ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms: must be at least 0"),
    "retention ms": ({"log.retention.ms": "0"}, "log.retention.ms: must be at least 1, or -1"),
    "retention hours": ({"log.retention.hours": "0"}, "log.retention.hours: must be at least 1, or -1"),
    "session": (
        {"group.min.session.timeout.ms": "9", "group.max.session.timeout.ms": "8"},
        r"group.min.session.timeout.ms \(9\) must not be above group.max.session.timeout.ms \(8\)\.",
    ),
    "below minimum": (
        {"group.consumer.heartbeat.interval.ms": "4000"},
        r"min.heartbeat.interval.ms \(5000\) must not be above group.consumer.heartbeat.interval.ms \(4000\)",
    ),
    "above maximum": (
        {"group.share.session.timeout.ms": "70000"},
        r"group.share.session.timeout.ms \(70000\) must not be above group.share.max.session.timeout.ms",
    ),
    "heartbeat": (
        {
            "group.streams.max.heartbeat.interval.ms": "50000",
            "group.streams.heartbeat.interval.ms": "45000",
        },
        r"heartbeat.interval.ms \(45000\) must be below group.streams.session.timeout.ms \(45000\)",
    ),
    "compaction": (
        {"log.cleaner.min.compaction.lag.ms": "2", "log.cleaner.max.compaction.lag.ms": "1"},
        "must not be above log.cleaner.max.compaction.lag.ms",
    ),
    "cleaner": (
        {"log.cleaner.dedupe.buffer.size": "2097153", "log.cleaner.threads": "2"},
        r"log.cleaner.dedupe.buffer.size \(2097153\) must be more than 1 MiB for each cleaner thread",
    ),
    "queued bytes": (
        {"queued.max.request.bytes": "5"},
        r"queued.max.request.bytes \(5\) must not be below socket.request.max.bytes",
    ),
    "assignor": (
        {"group.consumer.assignors": "uniform,org.example.Fair"},
        "assignors names org.example.Fair: it may name uniform and range",
    ),
    "assignor twice": (
        {"group.consumer.assignors": "uniform,org.apache.kafka.coordinator.group.assignor.UniformAssignor"},
        "assignors names org.apache.kafka.coordinator.group.assignor.UniformAssignor",
    ),
    "idle": (
        {"connections.max.idle.ms": "100"},
        r"authentication.delay.ms \(100\) must be below connections.max.idle.ms \(100\)",
    ),
}


@pytest.mark.parametrize(("given", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS.keys())
def test_contradiction_is_refused_with_both_settings(given: dict[str, str], message: str) -> None:
    """The `require`s of Kafka's KafkaConfig and GroupCoordinatorConfig."""
    with pytest.raises(ConfigError, match=message):
        Settings.load("", given)


@pytest.mark.parametrize(
    "given",
    [
        {"log.retention.ms": "-1"},
        {"log.retention.ms": "5", "log.retention.hours": "0"},
        {"queued.max.request.bytes": "-1"},
        {"connections.max.idle.ms": "-1"},
        {"group.consumer.assignors": "org.apache.kafka.coordinator.group.assignor.RangeAssignor"},
    ],
)
def test_value_that_contradicts_nothing_is_taken(given: dict[str, str]) -> None:
    """-1 is no limit; a coarser unit is not looked at where a finer one is set; assignors have two names."""
    settings = Settings.load("", given)

    assert all(settings.text(name) == text for name, text in given.items())
