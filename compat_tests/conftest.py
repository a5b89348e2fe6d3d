"""Options, the broker under test, and the fixtures that hand a story its client, topics and consumers.

Read by pytest; calls `wirekafka.testing`, or `apache_kafka`, unless --bootstrap names another broker.
Source: README.md beside this file.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from compat_tests.advertised import CONSUMER_GROUP_HEARTBEAT, advertised_keys
from compat_tests.apache_kafka.jars import missing_tools
from compat_tests.apache_kafka.node import kafka_node
from compat_tests.broker import (
    WIREKAFKA_COMMAND,
    RestartableBroker,
    broker_of_apache_kafka,
    broker_of_command,
)
from compat_tests.clients import installed_clients, looked_for
from compat_tests.clients.adapter import Capability, Client, Consumer, ConsumerSettings, MortalConsumer
from compat_tests.stories.waiting import code_of, eventually, partitions_of
from compat_tests.table import NOT_OFFERED, NOT_SUPPORTED, Results

OpenConsumer = Callable[..., Consumer]
OpenMortalConsumer = Callable[..., MortalConsumer]
MakeTopic = Callable[..., str]
C = TypeVar("C", bound=Consumer)

# What a client's own code is warned of is for its authors; in ours a warning stays an error.
CLIENTS_WARNINGS = (
    # kafka-python 3.0 reads its schemas by importlib.resources' old functions.
    "ignore:(read|open)_text is deprecated:DeprecationWarning",
    # kafka-python and aiokafka let go of sockets they could not connect, or that broke, unclosed.
    "ignore:unclosed <socket:ResourceWarning",
    "ignore:unclosed transport:ResourceWarning",
)
REQUESTS = {Capability.SERVER_SIDE_ASSIGNOR: CONSUMER_GROUP_HEARTBEAT}
"""What a capability asks of the broker, where that is more than every broker has."""

APACHE_KAFKA = "apache-kafka"
BROKER_SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "group.consumer.heartbeat.interval.ms": "200",
    "group.consumer.session.timeout.ms": "2000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "500",
}
STRICT_SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.max.size": "2",
    "group.consumer.max.size": "2",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("compat_tests")
    group.addoption(
        "--broker",
        choices=("wirekafka", APACHE_KAFKA),
        default="wirekafka",
        help="the broker to start and test; Apache Kafka needs Java and Maven",
    )
    group.addoption(
        "--all-clients",
        action="store_true",
        help="also the clients that are built first: Java, kafkajs, franz-go",
    )
    group.addoption("--bootstrap", metavar="HOST:PORT", help="a running broker to test instead")
    group.addoption("--serve-command", help="how to start a broker that can be restarted: {port}, {data}")
    group.addoption(
        "--session-timeout-ms", type=int, default=1000, help="the session time-out that stories wait for"
    )
    group.addoption("--compat-table", action="store_true", help="print the table of stories and clients")
    group.addoption("--results", type=Path, metavar="FILE", help="keep what became of each story as JSON")


def pytest_configure(config: pytest.Config) -> None:
    if _tests_apache_kafka(config) and (reason := missing_tools()) is not None:
        raise pytest.UsageError(reason)
    config.addinivalue_line("markers", "needs(*capabilities): what a story asks of its client")
    config.addinivalue_line("markers", "thorough: shows what other variants show too; `make compat` has it")
    for warning in CLIENTS_WARNINGS:
        config.addinivalue_line("filterwarnings", warning)
    # Under xdist only the controller, which has no workerinput, sees every report.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(ResultsPlugin(config))


def _tests_apache_kafka(config: pytest.Config) -> bool:
    return bool(config.getoption("--broker") == APACHE_KAFKA and config.getoption("--bootstrap") is None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    clients = installed_clients(built=metafunc.config.getoption("--all-clients"))
    names = [client.name for client in clients]
    if "client_class" in metafunc.fixturenames:
        metafunc.parametrize("client_class", clients, ids=names, scope="session")
    if "writer_class" in metafunc.fixturenames:
        metafunc.parametrize("writer_class", clients, ids=[f"from-{name}" for name in names])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        client_class = _client_of(item)
        if client_class is None:
            continue
        item.user_properties.append(("client", client_class.name))
        if reason := _missing(item, client_class):
            item.add_marker(pytest.mark.skip(reason=f"{NOT_SUPPORTED}{client_class.name}: {reason}"))


def _client_of(item: pytest.Item) -> type[Client] | None:
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    parameters: dict[str, Any] = item.callspec.params
    return parameters.get("client_class")


def _missing(item: pytest.Item, client_class: type[Client]) -> str | None:
    needed: list[Capability] = [need for mark in item.iter_markers("needs") for need in mark.args]
    lacks = [
        f"{need.value}: {client_class.not_supported[need]}"
        for need in needed
        if need in client_class.not_supported
    ]
    return "; ".join(lacks) or None


class ResultsPlugin:
    """Gathers what became of each story, and prints or keeps it where the options say so."""

    def __init__(self, config: pytest.Config) -> None:
        self._prints: bool = config.getoption("--compat-table")
        self._file: Path | None = config.getoption("--results")
        self._results = Results()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        client = dict(report.user_properties).get("client")
        if client is not None:
            self._results.add(report, str(client))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._file is not None:
            self._results.write(self._file)
        if self._results.clients():
            for line in looked_for()[1]:
                terminalreporter.write_line(f"left out: {line}")
        if self._prints:
            terminalreporter.section("stories and clients")
            for line in self._results.lines():
                terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    """Give the address of the broker under test, starting it if none was named."""
    named: str | None = request.config.getoption("--bootstrap")
    if named is not None:
        yield named
    else:
        with _broker_with(request.config, BROKER_SETTINGS) as address:
            yield address


@pytest.fixture(scope="session")
def strict_bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    """Give the address of a broker that creates no topic by itself, and has groups of two members at most."""
    if request.config.getoption("--bootstrap") is not None:
        pytest.skip("the broker named by --bootstrap creates topics by itself, and has groups of any size")
    with _broker_with(request.config, {**BROKER_SETTINGS, **STRICT_SETTINGS}) as address:
        yield address


@pytest.fixture
def strict_administrator(strict_bootstrap: str) -> Iterator[Client]:
    """Give a client that may not be the one under test, for what the other waits for or is refused."""
    able = [client for client in installed_clients() if Capability.TOPIC_ADMIN not in client.not_supported]
    client = able[0](strict_bootstrap)
    # A broker just started has its coordinator of groups a little later; that wait is none of a story's.
    eventually(lambda: code_of(lambda: client.admin().group_offsets("nobody")) == 0)
    yield client
    client.close()


@contextmanager
def _broker_with(config: pytest.Config, settings: Mapping[str, str]) -> Iterator[str]:
    if _tests_apache_kafka(config):
        with kafka_node(settings) as node:
            yield node.bootstrap
    else:
        from wirekafka.testing import running_broker

        with running_broker(settings=settings) as broker:
            yield broker.bootstrap


@pytest.fixture(scope="session")
def broker_keys(bootstrap: str) -> frozenset[int]:
    """Give the keys of the requests that the broker under test advertises."""
    return advertised_keys(bootstrap)


@pytest.fixture(autouse=True)
def _broker_offers(request: pytest.FixtureRequest) -> None:
    """Leave out a story that needs a request which the broker does not advertise."""
    needed = {need for mark in request.node.iter_markers("needs") for need in mark.args} & REQUESTS.keys()
    if not needed:
        return
    keys: frozenset[int] = request.getfixturevalue("broker_keys")
    for need in needed:
        if REQUESTS[need] not in keys:
            wanted = need.name.replace("_", " ").lower()
            pytest.skip(f"{NOT_OFFERED}{wanted} needs request {REQUESTS[need]}")


@pytest.fixture(scope="session")
def restartable_broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RestartableBroker]:
    """Give a running broker that a story may end by a signal and start again."""
    command: str | None = request.config.getoption("--serve-command")
    if command is None and request.config.getoption("--bootstrap") is not None:
        pytest.skip("the broker named by --bootstrap cannot be restarted; give --serve-command")
    folder = tmp_path_factory.mktemp("restartable")
    if command is None and _tests_apache_kafka(request.config):
        broker = broker_of_apache_kafka(folder, BROKER_SETTINGS)
    else:
        settings = " ".join(f"--set {name}={value}" for name, value in BROKER_SETTINGS.items())
        broker = broker_of_command(command or f"{WIREKAFKA_COMMAND} {settings}", folder)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def client(client_class: type[Client], bootstrap: str) -> Iterator[Client]:
    """Give one client after the other, pointed at the broker under test."""
    client = client_class(bootstrap)
    yield client
    client.close()


@pytest.fixture
def unique_name(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Make names for topics and groups that no other story, run or worker uses."""
    story = re.sub(r"[^a-zA-Z0-9]+", "-", request.node.name).strip("-")[5:90]

    def name(kind: str) -> str:
        return f"{kind}-{story}-{uuid.uuid4().hex[:8]}"

    return name


@pytest.fixture(scope="session")
def administrator(bootstrap: str) -> Iterator[Client]:
    """Give the client that makes topics for the stories, whichever client is under test."""
    able = [client for client in installed_clients() if Capability.TOPIC_ADMIN not in client.not_supported]
    if not able:
        pytest.skip("no installed client can create topics")
    client = able[0](bootstrap)
    yield client
    client.close()


@pytest.fixture
def make_topic(administrator: Client, unique_name: Callable[[str], str]) -> MakeTopic:
    """Create topics with names of their own."""

    def make(partition_count: int = 1, **configs: str) -> str:
        name = unique_name("topic")
        dotted = {key.replace("_", "."): value for key, value in configs.items()}
        admin = administrator.admin()
        admin.create_topic(name, partition_count, dotted)
        # A broker answers before every part of it knows the topic; a client that looks too early waits long.
        eventually(lambda: len(partitions_of(admin, name)) == partition_count)
        return name

    return make


@pytest.fixture
def topic(make_topic: MakeTopic) -> str:
    """Give a new topic of one partition."""
    return make_topic()


@pytest.fixture
def group(unique_name: Callable[[str], str]) -> str:
    """Give a group id nobody has used."""
    return unique_name("group")


@pytest.fixture
def close_at_end() -> Iterator[Callable[[C], C]]:
    """Close what is handed in when the story ends."""
    with ExitStack() as stack:

        def close_later(consumer: C) -> C:
            stack.callback(consumer.close)
            return consumer

        yield close_later


@pytest.fixture
def open_consumer(client: Client, close_at_end: Callable[[Consumer], Consumer]) -> OpenConsumer:
    """Open consumers of the client under test; keyword arguments are those of ConsumerSettings."""

    def open_one(**settings: Any) -> Consumer:
        return close_at_end(client.consumer(ConsumerSettings(**settings)))

    return open_one


@pytest.fixture
def open_mortal_consumer(
    client: Client, close_at_end: Callable[[MortalConsumer], MortalConsumer]
) -> OpenMortalConsumer:
    """Open consumers that can be killed."""

    def open_one(**settings: Any) -> MortalConsumer:
        return close_at_end(client.mortal_consumer(ConsumerSettings(**settings)))

    return open_one


@pytest.fixture
def short_session_ms(request: pytest.FixtureRequest) -> int:
    """Give the session time-out for stories that wait for one to pass."""
    timeout_ms: int = request.config.getoption("--session-timeout-ms")
    return timeout_ms
