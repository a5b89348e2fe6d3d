"""The table of broker settings, and names with a prefix."""

import pytest

from wirekafka.metadata.configs.broker import BROKER_CONFIGS, broker_definition, broker_synonyms
from wirekafka.metadata.configs.definition import ConfigDefinition, ConfigType


@pytest.mark.parametrize("definition", BROKER_CONFIGS.values(), ids=lambda definition: definition.name)
def test_default_is_a_value_that_may_be_given(definition: ConfigDefinition) -> None:
    """A default, written out, parses to itself and passes its own check."""
    text = definition.format(definition.default)

    assert text is None or definition.parse(text) == definition.default


def test_table_has_all_of_kafkas_settings() -> None:
    """Kafka 4.4 has 379; five more are read by its authorizer or can only be set at run time."""
    kafkas = [name for name in BROKER_CONFIGS if not name.startswith("wirekafka.")]
    assert len(kafkas) == 379 + 5


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("num.partitions", "INT", "1"),
        ("offsets.topic.replication.factor", "SHORT", "3"),
        ("log.retention.bytes", "LONG", "-1"),
        ("log.cleaner.io.max.bytes.per.second", "DOUBLE", "1.7976931348623157E308"),
        ("group.initial.rebalance.delay.ms", "INT", "3000"),
        ("auto.create.topics.enable", "BOOLEAN", "true"),
        ("ssl.keystore.password", "PASSWORD", None),
        ("principal.builder.class", "CLASS", None),
        ("log.roll.ms", "LONG", None),
    ],
)
def test_setting_has_kafkas_type_and_default(name: str, kind: str, text: str | None) -> None:
    """A sample of what Kafka's own definitions say."""
    definition = BROKER_CONFIGS[name]

    assert definition.type is ConfigType[kind]
    assert text is None or definition.format(definition.default) == text


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("listener.name.sasl_ssl.ssl.client.auth", ConfigType.STRING),
        ("listener.name.x.max.connections", ConfigType.INT),
        ("listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config", ConfigType.PASSWORD),
        ("confluent.anything", ConfigType.UNKNOWN),
        ("config.providers.file.class", ConfigType.UNKNOWN),
    ],
)
def test_name_with_a_prefix_is_known(name: str, kind: ConfigType) -> None:
    """Listener overrides have the type of what they override."""
    definition = broker_definition(name)

    assert definition is not None
    assert (definition.name, definition.type, definition.updatable) == (name, kind, False)


@pytest.mark.parametrize("name", ["nope", "listener.name.x.nope", "listener.name.x", "zookeeper.connect"])
def test_other_names_are_unknown(name: str) -> None:
    """There is nothing to read them by."""
    assert broker_definition(name) is None


def test_synonyms_come_the_strongest_first() -> None:
    """DynamicBrokerConfig.brokerConfigSynonyms."""
    assert broker_synonyms("log.retention.hours") == (
        "log.retention.ms",
        "log.retention.minutes",
        "log.retention.hours",
    )
    assert broker_synonyms("log.flush.scheduler.interval.ms") == ("log.flush.scheduler.interval.ms",)
    assert broker_synonyms("listener.name.x.plain.sasl.jaas.config")[1] == "sasl.jaas.config"
    assert broker_synonyms("num.partitions") == ("num.partitions",)
