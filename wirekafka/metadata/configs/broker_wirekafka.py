"""The broker settings that Kafka does not have: their names begin with `wirekafka.`.

Gathered by `broker`.

Source: ours.
"""

from wirekafka.metadata.configs.checks import DURABILITY, at_least
from wirekafka.metadata.configs.definition import INT, STRING, table
from wirekafka.metadata.configs.definition import ConfigDefinition as Config

WIREKAFKA_CONFIGS = table(
    Config("wirekafka.consumer.heartbeat.fastest.ms", INT, 0, at_least(0)),
    Config("wirekafka.durability", STRING, "os", DURABILITY, updatable=True),
    Config("wirekafka.heartbeat.hold.max.ms", INT, 0, at_least(0)),
    Config("wirekafka.open.files.max", INT, 0, at_least(0)),
)
