"""Topics, settings and producer ids: what the metadata log says, and who may change it how."""

from wirekafka.metadata.cluster import MetadataMachine, ProducerIdBlock
from wirekafka.metadata.configs import ConfigError, ConfigValue, Settings, Source
from wirekafka.metadata.image import MetadataImage, PartitionImage, TopicImage
from wirekafka.metadata.records import MetadataRecord, MetadataRecords
from wirekafka.metadata.topics import is_internal, validate_name

__all__ = [
    "ConfigError",
    "ConfigValue",
    "MetadataImage",
    "MetadataMachine",
    "MetadataRecord",
    "MetadataRecords",
    "PartitionImage",
    "ProducerIdBlock",
    "Settings",
    "Source",
    "TopicImage",
    "is_internal",
    "validate_name",
]
