"""Our sentences about settings."""

import re
from pathlib import Path

import pytest

import wirekafka
from wirekafka.metadata.configs.broker import BROKER_CONFIGS
from wirekafka.metadata.configs.documentation import DOCUMENTATION, NOT_YET
from wirekafka.metadata.configs.group import GROUP_CONFIGS
from wirekafka.metadata.configs.profiles import PROFILES
from wirekafka.metadata.configs.topic import TOPIC_CONFIGS, TOPIC_SYNONYMS


def has_effect(name: str) -> bool:
    """Whether a setting changes anything in wirekafka, or is only accepted and checked."""
    return name in DOCUMENTATION and name not in NOT_YET


@pytest.mark.parametrize(("name", "sentence"), DOCUMENTATION.items())
def test_sentence_belongs_to_a_setting(name: str, sentence: str) -> None:
    """No text for a name that does not exist; each is a sentence."""
    assert name in BROKER_CONFIGS or name in TOPIC_CONFIGS or name in GROUP_CONFIGS
    assert sentence.endswith(".")


def test_broker_setting_has_effect_where_the_topics_has() -> None:
    """A default that changes something is not called without effect."""
    assert [
        (topic, broker)
        for topic, synonyms in TOPIC_SYNONYMS.items()
        for broker, _ in synonyms
        if has_effect(topic) != has_effect(broker)
    ] == []


def test_setting_that_will_have_effect_says_what_and_that_it_has_none_yet() -> None:
    """DescribeConfigs promises nothing that is not built."""
    pending = BROKER_CONFIGS["max.connections"]

    assert set(DOCUMENTATION) >= NOT_YET
    assert not has_effect("max.connections")
    assert (
        pending.documentation == f"{DOCUMENTATION['max.connections']} As yet it has no effect in wirekafka."
    )


def test_profiles_change_only_what_has_effect() -> None:
    """There is no reason to change another."""
    assert all(has_effect(name) for name in PROFILES["dev"])


def test_setting_that_the_broker_reads_has_a_sentence() -> None:
    """Who builds a part of the broker says here what its settings do."""
    rooms = (Path(wirekafka.__file__).parent / room for room in ("broker", "handlers", "server"))
    sources = [path.read_text() for room in rooms for path in room.rglob("*.py")]
    read = {name for text in sources for name in re.findall(r'\.get_\w+\(\s*"([^"]+)"', text)}

    assert read >= {"fetch.max.bytes", "log.cleaner.backoff.ms"}
    assert [name for name in sorted(read) if name not in DOCUMENTATION] == []
