"""A light Kafka-compatible broker: `python -m wirekafka serve`, or `wirekafka.testing.running_broker`."""

__version__ = "0.1.0"
