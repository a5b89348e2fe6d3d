"""The broker settings of the node, its listeners, sockets and metrics: names, types, defaults and checks.

Gathered by `broker`.

Source: Kafka's ServerConfigs, SocketServerConfigs, MetricConfigs.
"""

from wirekafka.metadata.configs.checks import at_least, entries
from wirekafka.metadata.configs.definition import CLASS, INT, LIST, LONG, STRING, table
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

INT_MAX = 2**31 - 1

SERVER_CONFIGS = table(
    Config("advertised.listeners", LIST, None, entries(empty=False)),
    Config("background.threads", INT, 10, at_least(1), updatable=True),
    Config("broker.id", INT, -1, None),
    Config("broker.rack", STRING, None),
    Config("client.quota.callback.class", CLASS, None, None),
    Config("config.providers", LIST, (), entries(), updatable=True),
    Config("connection.failed.authentication.delay.ms", INT, 100, at_least(0)),
    Config("connections.max.idle.ms", LONG, 600_000),
    Config("early.start.listeners", LIST, None, entries()),
    Config("fetch.max.bytes", INT, 57_671_680, at_least(1024)),
    Config("fetch.purgatory.purge.interval.requests", INT, 1000),
    Config("kafka.metrics.polling.interval.secs", INT, 10, at_least(1)),
    Config("kafka.metrics.reporters", LIST, (), entries()),
    Config(
        "listener.security.protocol.map",
        STRING,
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        None,
        updatable=True,
    ),
    Config("listeners", LIST, ("PLAINTEXT://:9092",), entries(empty=False), updatable=True),
    Config("max.connection.creation.rate", INT, INT_MAX, at_least(0), updatable=True),
    Config("max.connections", INT, INT_MAX, at_least(0), updatable=True),
    Config("max.connections.per.ip", INT, INT_MAX, at_least(0), updatable=True),
    Config("max.connections.per.ip.overrides", STRING, "", updatable=True),
    Config("max.incremental.fetch.session.cache.slots", INT, 1000, at_least(0)),
    Config("max.request.partition.size.limit", INT, 2000, at_least(1)),
    Config(
        "metric.reporters",
        LIST,
        ("org.apache.kafka.common.metrics.JmxReporter",),
        entries(),
        updatable=True,
    ),
    Config("metrics.num.samples", INT, 2, at_least(1)),
    Config("metrics.recording.level", STRING, "INFO", None),
    Config("metrics.sample.window.ms", LONG, 30000, at_least(1)),
    Config("node.id", INT, 1, at_least(0)),
    Config("num.io.threads", INT, 8, at_least(1), updatable=True),
    Config("num.network.threads", INT, 3, at_least(1), updatable=True),
    Config("producer.purgatory.purge.interval.requests", INT, 1000),
    Config("queued.max.request.bytes", LONG, -1),
    Config("queued.max.requests", INT, 500, at_least(1)),
    Config("request.timeout.ms", INT, 30000, None),
    Config("socket.connection.setup.timeout.max.ms", LONG, 30000),
    Config("socket.connection.setup.timeout.ms", LONG, 10000),
    Config("socket.listen.backlog.size", INT, 50, at_least(1)),
    Config("socket.receive.buffer.bytes", INT, 102_400, None),
    Config("socket.request.max.bytes", INT, 104_857_600, at_least(1)),
    Config("socket.send.buffer.bytes", INT, 102_400, None),
    Config("telemetry.max.bytes", INT, 1_048_576, at_least(1)),
)
