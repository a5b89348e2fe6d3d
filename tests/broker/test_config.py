"""config: what the settings say about folder and listeners."""

from pathlib import Path

import pytest

from wirekafka.broker.config import BrokerConfig, ListenerConfig
from wirekafka.metadata import ConfigError, Settings


def config(**settings: str) -> BrokerConfig:
    return BrokerConfig.from_settings(
        Settings.load(None, {name.replace("_", "."): value for name, value in settings.items()})
    )


def test_defaults_of_the_dev_profile() -> None:
    made = config()

    assert made.listeners == (ListenerConfig("PLAINTEXT", "127.0.0.1", 9092),)
    assert (made.node_id, made.data_dir) == (1, Path("./data"))


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("PLAINTEXT://127.0.0.1:9092", "127.0.0.1", 9092),
        ("PLAINTEXT://:0", "", 0),
        ("plaintext://localhost:65535", "localhost", 65535),
        ("PLAINTEXT://[::1]:9092", "::1", 9092),
        (" PLAINTEXT://h:1 ", "h", 1),
    ],
)
def test_listener_is_a_name_a_host_and_a_port(text: str, host: str, port: int) -> None:
    """An empty host is every interface, port 0 a free one; names are upper case, as in Kafka."""
    assert config(listeners=text).listeners == (ListenerConfig("PLAINTEXT", host, port),)


@pytest.mark.parametrize(
    "text",
    [
        "9092",
        "localhost:9092",
        "PLAINTEXT:localhost:9092",
        "PLAINTEXT://localhost",
        "PLAINTEXT://localhost:",
        "PLAINTEXT://localhost:x",
        "PLAINTEXT://localhost:-1",
        "PLAINTEXT://localhost:65536",
        "PLAINTEXT://::1:9092",
        "PLAIN TEXT://h:1",
        "://h:1",
    ],
)
def test_other_listeners_are_refused(text: str) -> None:
    """The message shows what was given and what was expected."""
    with pytest.raises(ConfigError) as refusal:
        config(listeners=text)

    assert text in str(refusal.value)
    assert "NAME://HOST:PORT" in str(refusal.value)


def test_advertised_pairs_by_name() -> None:
    """Whatever order they stand in."""
    made = config(
        listeners="INSIDE://127.0.0.1:1,OUTSIDE://0.0.0.0:2",
        advertised_listeners="OUTSIDE://kafka.example:9092",
        listener_security_protocol_map="INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
    )

    assert [listener.advertised for listener in made.listeners] == [None, ("kafka.example", 9092)]


def test_advertised_listener_has_to_be_there() -> None:
    with pytest.raises(ConfigError, match="OUTSIDE"):
        config(listeners="PLAINTEXT://h:1", advertised_listeners="OUTSIDE://h:2")


def test_listener_names_are_given_once() -> None:
    with pytest.raises(ConfigError, match="PLAINTEXT twice"):
        config(listeners="PLAINTEXT://h:1,PLAINTEXT://h:2")


def test_controller_listener_of_kafkas_own_file_is_passed_over() -> None:
    """There is no quorum to listen for."""
    made = config(listeners="PLAINTEXT://h:1,CONTROLLER://h:2")

    assert [listener.name for listener in made.listeners] == ["PLAINTEXT"]


def test_data_lies_in_one_folder() -> None:
    with pytest.raises(ConfigError, match=r"log\.dirs=a,b"):
        config(log_dirs="a,b")


def test_listener_is_written_as_it_is_given() -> None:
    assert str(ListenerConfig("PLAINTEXT", "h", 1)) == "PLAINTEXT://h:1"


def test_advertised_listener_needs_a_host() -> None:
    """Clients would be told to connect to nothing."""
    with pytest.raises(ConfigError, match="names no host for PLAINTEXT"):
        config(listeners="PLAINTEXT://h:1", advertised_listeners="PLAINTEXT://:2")


@pytest.mark.parametrize(
    ("listeners", "mapped"),
    [("SSL://h:1", None), ("SASL_PLAINTEXT://h:1", None), ("INSIDE://h:1", "INSIDE:SASL_SSL")],
)
def test_listener_that_is_meant_to_be_secure_is_refused(listeners: str, mapped: str | None) -> None:
    """Served in the clear it would betray what it was given."""
    more = {} if mapped is None else {"listener_security_protocol_map": f"PLAINTEXT:PLAINTEXT,{mapped}"}
    with pytest.raises(ConfigError, match="serves PLAINTEXT only"):
        config(listeners=listeners, inter_broker_listener_name=listeners.partition(":")[0], **more)
