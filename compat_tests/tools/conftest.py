"""The brokers, and the fixture that runs a tool against the one under test.

Read by pytest. The stories start both brokers themselves: `-k wirekafka` or `-k apache-kafka` takes one.
Source: none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import pytest

from compat_tests.apache_kafka.jars import NotAvailable, class_path
from compat_tests.clients import installed_clients
from compat_tests.clients.adapter import Capability, Client, Consumer, ConsumerSettings, Record
from compat_tests.stories.waiting import eventually, poll_until
from compat_tests.tools import java_tools
from compat_tests.tools.brokers import APACHE_KAFKA, WIREKAFKA, BrokerUnderTest, running
from compat_tests.tools.requests import KEYS
from compat_tests.tools.table import NEEDS, StoryOfATool

CLASSIC, CONSUMER = "classic", "consumer"
"""The two protocols by which consumers form groups, as kafka-consumer-groups and group.protocol name them."""
BOTH_PROTOCOLS = pytest.mark.parametrize(
    "protocol", [CLASSIC, pytest.param(CONSUMER, marks=pytest.mark.asks("ConsumerGroupHeartbeat"))]
)
OF_PROTOCOL = {CLASSIC: "range", CONSUMER: "consumer"}
"""The assignor by which `ConsumerSettings` choose the protocol."""


class RunTool(Protocol):
    """Run a tool against the broker under test; `typed` is what a person types."""

    def __call__(self, tool: str, *arguments: str, typed: str = "") -> java_tools.Outcome: ...


class Fill(Protocol):
    """Produce these values to a topic, one partition."""

    def __call__(self, topic: str, values: Sequence[str], partition: int = 0) -> None: ...


class JoinGroup(Protocol):
    """Open a member of a group by one of the two protocols, which holds what is assigned to it.

    `beside` are the members that must make room for it.
    """

    def __call__(
        self, group: str, *topics: str, protocol: str = CLASSIC, beside: Sequence[Consumer] = ()
    ) -> Consumer: ...


class LeaveOffset(Protocol):
    """Commit an offset for partition 0 of a topic as a member that then leaves."""

    def __call__(self, group: str, topic: str, offset: int, protocol: str = CLASSIC) -> None: ...


Committed = Callable[[str, str], int | None]
"""What a group has committed for partition 0 of a topic; the topic comes first."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tool(name): the tool that a story is about")
    config.addinivalue_line(
        "markers", "asks(*requests): what a tool asks of the broker that may not be built"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note on every report which tool, story and broker it is about, for the table."""
    tool = item.get_closest_marker("tool")
    if isinstance(item, pytest.Function) and tool is not None:
        story = (item.function.__doc__ or "").strip().splitlines()[0]
        broker = str(item.callspec.params["broker"])
        item.user_properties.append(("story", StoryOfATool(tool.args[0], story, broker).to_text()))


@pytest.fixture(scope="session", params=[WIREKAFKA, APACHE_KAFKA])
def broker(request: pytest.FixtureRequest) -> Iterator[BrokerUnderTest]:
    """Give one broker after the other; all is left out, with the reason, where the jars cannot be had."""
    try:
        class_path()
        with running(request.param) as broker:
            yield broker
    except NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def bootstrap(broker: BrokerUnderTest) -> str:
    """Give the address under test, to the fixtures of `compat_tests` too."""
    return broker.bootstrap


@pytest.fixture(autouse=True)
def _requests_are_built(request: pytest.FixtureRequest, broker_keys: frozenset[int]) -> None:
    """Leave out a story whose tool asks what the broker does not advertise yet."""
    asked = [name for mark in request.node.iter_markers("asks") for name in mark.args]
    missing = [name for name in asked if KEYS[name] not in broker_keys]
    if missing:
        pytest.skip(f"{NEEDS}{', '.join(missing)}")


@pytest.fixture
def tool(bootstrap: str) -> RunTool:
    """Give the function that runs a tool to its end, the broker's address among its arguments."""

    def run_tool(tool: str, *arguments: str, typed: str = "") -> java_tools.Outcome:
        address = ["--bootstrap-server", bootstrap]
        # Where there are sub-commands the address goes before them, but for kafka-cluster.
        in_order = [*arguments, *address] if tool == "kafka-cluster" else [*address, *arguments]
        return java_tools.run(tool, in_order, typed)

    return run_tool


@pytest.fixture
def fill(administrator: Client) -> Fill:
    """Give the function that produces, by a Python client so as not to start a JVM."""

    def produce(topic: str, values: Sequence[str], partition: int = 0) -> None:
        administrator.produce(topic, [Record(value.encode()) for value in values], partition=partition)

    return produce


@pytest.fixture(scope="session")
def group_client(bootstrap: str) -> Iterator[Client]:
    """Give a Python client that forms groups by both protocols."""
    needed = {Capability.SERVER_SIDE_ASSIGNOR, Capability.GROUP_ADMIN}
    able = [each for each in installed_clients(built=False) if not needed & each.not_supported.keys()]
    if not able:
        pytest.skip("no installed Python client forms groups by both protocols")
    client = able[0](bootstrap)
    yield client
    client.close()


@pytest.fixture
def join_group(group_client: Client, close_at_end: Callable[[Consumer], Consumer]) -> JoinGroup:
    """Give the function that opens members; they leave when the story ends."""

    def join(group: str, *topics: str, protocol: str = CLASSIC, beside: Sequence[Consumer] = ()) -> Consumer:
        settings = ConsumerSettings(group=group, assignor=OF_PROTOCOL[protocol], session_timeout_ms=30_000)
        consumer = close_at_end(group_client.consumer(settings))
        consumer.subscribe(topics)
        poll_until([*beside, consumer], lambda: bool(consumer.assignment()))
        return consumer

    return join


@pytest.fixture
def leave_offset(group_client: Client, join_group: JoinGroup) -> LeaveOffset:
    """Give the function after which a group has a committed offset and no member."""

    def leave(group: str, topic: str, offset: int, protocol: str = CLASSIC) -> None:
        consumer = join_group(group, topic, protocol=protocol)
        consumer.commit({(topic, 0): offset})
        consumer.close()
        eventually(lambda: group_client.admin().describe_group(group).state == "Empty")

    return leave


@pytest.fixture
def committed(administrator: Client) -> Committed:
    """Give the function that looks up what a group has committed for partition 0 of a topic."""

    def look_up(topic: str, group: str) -> int | None:
        consumer = administrator.consumer(ConsumerSettings(group=group))
        offset = consumer.committed((topic, 0))
        consumer.close()
        return offset

    return look_up
