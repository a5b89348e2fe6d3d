"""The table of topic settings."""

import pytest

from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.definition import ConfigDefinition
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS, TOPIC_SYNONYMS


@pytest.mark.parametrize("definition", TOPIC_CONFIGS.values(), ids=lambda definition: definition.name)
def test_default_is_a_value_that_may_be_given(definition: ConfigDefinition) -> None:
    """A default, written out, parses to itself and passes its own check."""
    text = definition.format(definition.default)

    assert text is None or definition.parse(text) == definition.default


@pytest.mark.parametrize("name", TOPIC_SYNONYMS)
def test_brokers_default_is_the_topics(name: str) -> None:
    """What stands in for a topic setting is of its type, or coarser, and has the same default."""
    topic = TOPIC_CONFIGS[name]
    defaults = [(BROKER_CONFIGS[broker].default, factor) for broker, factor in TOPIC_SYNONYMS[name]]
    value, factor = next((value, factor) for value, factor in defaults if value is not None)

    if factor != 1:
        assert isinstance(value, int)
        value *= factor
    assert value == topic.default
    assert BROKER_CONFIGS[TOPIC_SYNONYMS[name][0][0]].type is topic.type


def test_topic_settings_are_kafkas() -> None:
    """Kafka 4.4 has 37 and an internal one, and 31 have a broker setting behind them; one is ours."""
    ours = "wirekafka.durability"

    assert (len(TOPIC_CONFIGS), len(TOPIC_SYNONYMS)) == (38 + 1, 31 + 1)
    assert [name for name, row in TOPIC_CONFIGS.items() if row.internal] == ["internal.segment.bytes", ours]
