"""Settings: the layers, the getters, the refusals."""

from collections.abc import Callable

import pytest

from wirekafka.metadata.configs import BROKER_CONFIGS, ConfigError, Settings, Source

KRAFT_COMBINED = """
# A server.properties as Kafka ships it.
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
num.network.threads=3
socket.send.buffer.bytes=102400
log.dirs=/var/kraft-combined-logs
num.partitions=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
"""


def test_each_layer_lies_over_the_one_before() -> None:
    """Default, profile, file, command line; the source of each value is remembered."""
    settings = Settings.load("num.partitions=3\nnum.io.threads=4", {"num.partitions": "5"}, "dev")

    told = {
        name: (settings[name], settings.source(name))
        for name in (
            "num.partitions",
            "num.io.threads",
            "group.initial.rebalance.delay.ms",
            "num.network.threads",
        )
    }
    assert told == {
        "num.partitions": (5, Source.COMMAND_LINE),
        "num.io.threads": (4, Source.FILE),
        "group.initial.rebalance.delay.ms": (0, Source.PROFILE),
        "num.network.threads": (3, Source.DEFAULT),
    }


def test_kafka_profile_has_kafkas_defaults() -> None:
    """--profile kafka restores what dev changes."""
    settings = Settings.load(None, {}, "kafka")

    assert settings.get_int("group.initial.rebalance.delay.ms") == 3000
    assert settings.get_int("offsets.topic.replication.factor") == 3
    assert settings.get_list("listeners") == ("PLAINTEXT://:9092",)


def test_kafkas_own_file_is_accepted() -> None:
    """A real server.properties starts a broker."""
    settings = Settings.load(KRAFT_COMBINED)

    assert settings.get_list("listeners") == ("PLAINTEXT://:9092", "CONTROLLER://:9093")
    assert settings.log_dirs == ("/var/kraft-combined-logs",)


@pytest.mark.parametrize(
    ("file_text", "folders"),
    [
        ("", ("./data",)),
        ("log.dir=/a", ("/a",)),
        ("log.dirs=/a,/b", ("/a", "/b")),
        ("log.dir=/a\nlog.dirs=/b", ("/b",)),
    ],
)
def test_data_folder_of_the_file_wins_under_either_name(file_text: str, folders: tuple[str, ...]) -> None:
    """log.dirs, else log.dir, else the profile's."""
    assert Settings.load(file_text).log_dirs == folders


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("num.partition", "Did you mean num.partitions?"),
        ("log.retention.hour", "Did you mean log.retention.hours?"),
        ("auto.create.topic.enable", "Did you mean auto.create.topics.enable?"),
    ],
)
def test_unknown_name_is_refused_with_the_nearest_known(name: str, hint: str) -> None:
    """Kafka only warns; a misspelt setting is worth an error."""
    with pytest.raises(ConfigError) as caught:
        Settings.load(f"{name}=1")

    assert caught.value.name == name
    assert str(caught.value) == f"Unknown configuration {name}. {hint}"


def test_name_like_no_other_is_refused_without_a_hint() -> None:
    """No far-fetched suggestion."""
    with pytest.raises(ConfigError, match=r"^Unknown configuration zzz\.$"):
        Settings.load(None, {"zzz": "1"})


def test_unknown_profile_is_refused() -> None:
    """The message names those there are."""
    with pytest.raises(ConfigError, match="Unknown profile prod: must be one of dev, kafka"):
        Settings.load(None, {}, "prod")


def test_ill_typed_value_is_refused_from_any_layer() -> None:
    """Name, value and what is allowed."""
    with pytest.raises(ConfigError, match=r"Invalid value x for configuration num\.partitions: must be a 32"):
        Settings.load("num.partitions=x")
    with pytest.raises(ConfigError, match="must be at least 1"):
        Settings.load("", {"num.partitions": "0"})


@pytest.mark.parametrize(
    ("file_text", "node_id", "broker_id"),
    [("", 1, 1), ("node.id=4", 4, 4), ("broker.id=5", 5, 5), ("node.id=4\nbroker.id=4", 4, 4)],
)
def test_node_id_and_broker_id_are_one(file_text: str, node_id: int, broker_id: int) -> None:
    """AbstractKafkaConfig.populateSynonyms; without either it is 1."""
    settings = Settings.load(file_text)

    assert (settings.get_int("node.id"), settings.get_int("broker.id")) == (node_id, broker_id)


def test_getters_give_values_of_their_type() -> None:
    """BOOLEAN, integers, DOUBLE, strings and LIST."""
    settings = Settings.load("listener.name.x.max.connections=5\nconfluent.x= y")

    assert settings.get_bool("auto.create.topics.enable") is True
    assert settings.get_int("listener.name.x.max.connections") == 5
    assert settings.get_float("log.cleaner.min.cleanable.ratio") == 0.5
    assert settings.get_str("compression.type") == "producer"
    assert settings.get_str("confluent.x") == "y"
    assert settings.get_list("log.cleanup.policy") == ("delete",)


@pytest.mark.parametrize(
    ("getter", "name"),
    [
        (Settings.get_bool, "num.partitions"),
        (Settings.get_int, "auto.create.topics.enable"),
        (Settings.get_int, "log.roll.ms"),
        (Settings.get_float, "num.partitions"),
        (Settings.get_str, "listeners"),
        (Settings.get_list, "compression.type"),
    ],
)
def test_getter_of_another_type_is_our_mistake(getter: Callable[[Settings, str], object], name: str) -> None:
    """A setting that may be None is read by its name alone."""
    with pytest.raises(TypeError, match=name):
        getter(Settings.load(), name)


def test_settings_are_a_mapping_of_every_name() -> None:
    """Unknown names are KeyErrors, as in a dict."""
    settings = Settings.load()

    assert len(settings) == len(list(settings)) == len(BROKER_CONFIGS)
    assert settings["log.roll.ms"] is None
    with pytest.raises(KeyError):
        settings["nope"]


def test_secret_is_not_shown() -> None:
    """Neither by its text nor when settings are printed."""
    settings = Settings.load("ssl.key.password=s3cret")

    assert settings.get_str("ssl.key.password") == "s3cret"
    assert settings.text("ssl.key.password") is None
    assert "s3cret" not in repr(settings)
    assert "ssl.key.password" in repr(settings)


def test_what_is_changed_at_run_time_lies_over_everything() -> None:
    """KIP-226: this broker, then all brokers, then the command line; those before stay."""
    started = Settings.load("", {"log.retention.ms": "1", "log.roll.ms": "1", "log.segment.bytes": "2000000"})

    settings = started.changed(
        {"log.retention.ms": "2", "log.roll.ms": "2", "nobody.knows": "x"}, {"log.roll.ms": "3"}
    )

    names = ("log.segment.bytes", "log.retention.ms", "log.roll.ms", "nobody.knows")
    assert [(settings[name], settings.source(name)) for name in names] == [
        (2_000_000, Source.COMMAND_LINE),
        (2, Source.ALL_BROKERS),
        (3, Source.THIS_BROKER),
        ("x", Source.ALL_BROKERS),
    ]
    assert started["log.retention.ms"] == 1
    assert [source for source in Source if source.is_dynamic] == [Source.ALL_BROKERS, Source.THIS_BROKER]


def test_change_that_contradicts_is_refused() -> None:
    """As at the start."""
    with pytest.raises(ConfigError, match="must not be above"):
        Settings.load().changed(
            {"log.cleaner.min.compaction.lag.ms": "9"}, {"log.cleaner.max.compaction.lag.ms": "8"}
        )
