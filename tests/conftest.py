"""A broker for the whole test session, and a raw client to it."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.raw_client import RawClient
from wirekafka.testing import RunningBroker, running_broker

# How long an example takes says how busy the machine is, and nothing of what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(scope="session")
def broker() -> Iterator[RunningBroker]:
    """One broker for every test that leaves it as it was; topics have names of their own."""
    with running_broker() as running:
        yield running


@pytest.fixture
def raw(broker: RunningBroker) -> Iterator[RawClient]:
    with RawClient(broker.bootstrap) as client:
        yield client
