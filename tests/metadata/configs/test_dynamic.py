"""Which broker settings may change at run time."""

import pytest

from wirekafka.metadata.configs import ConfigError
from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.dynamic import check_updatable, updatable_part


@pytest.mark.parametrize("per_broker", [True, False])
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("num.partitions", "2", r"Cannot update these configs dynamically: \[num.partitions\]"),
        ("ssl.keystore.password", "x", "only per-listener"),
        ("log.retention.ms", "x", "must be a 64-bit integer"),
        ("listener.name.x.max.connections", "-1", "must be at least 0"),
    ],
)
def test_setting_is_refused_wherever_it_is_made(name: str, text: str, message: str, per_broker: bool) -> None:
    """Fixed, or only for a listener, or not of its type."""
    with pytest.raises(ConfigError, match=message):
        check_updatable({"log.roll.ms": "5", name: text}, per_broker=per_broker)


@pytest.mark.parametrize(
    "name",
    [
        "listeners",
        "ssl.client.auth",
        "sasl.enabled.mechanisms",
        "cordoned.log.dirs",
        "principal.builder.class",
        "listener.name.x.ssl.keystore.type",
        "listener.name.x.plain.sasl.jaas.config",
        "listener.name.x.nobody.knows",
    ],
)
def test_setting_of_one_broker_is_not_for_all(name: str) -> None:
    """PER_BROKER_CONFIGS, and what belongs to a listener."""
    text = "required" if name == "ssl.client.auth" else "x"
    check_updatable({name: text}, per_broker=True)

    with pytest.raises(ConfigError, match="broker id must be specified"):
        check_updatable({name: text}, per_broker=False)


@pytest.mark.parametrize(
    "name", ["max.connections", "listener.name.x.num.network.threads", "log.retention.ms", "nobody.knows"]
)
def test_setting_of_all_may_be_one_brokers_too(name: str) -> None:
    """Limits of connections, whatever belongs to logs, and names that nobody knows."""
    for per_broker in (True, False):
        check_updatable({name: "5"}, per_broker=per_broker)


def test_as_many_settings_may_change_as_in_kafka() -> None:
    """Kafka 4.4's ALL_DYNAMIC_CONFIGS has 110; wirekafka.durability is ours."""
    updatable = [name for name, row in BROKER_CONFIGS.items() if row.updatable]

    assert len([name for name in updatable if not name.startswith("wirekafka.")]) == 110


def test_part_that_may_change_is_taken_out() -> None:
    """One bad setting does not take the good ones with it."""
    given = {"num.partitions": "2", "log.roll.ms": "5", "log.retention.ms": "x", "listeners": "A://:1"}

    assert set(updatable_part(given, per_broker=True)) == {"log.roll.ms", "listeners"}
    assert set(updatable_part(given, per_broker=False)) == {"log.roll.ms"}
