"""For people writing tests: a broker on a free port, inside the test's own process."""

from wirekafka.testing.broker import RunningBroker, running_broker

__all__ = ["RunningBroker", "running_broker"]
