"""What a topic looks like that is created because somebody needs it, the broker's own topics among them.

Called by `MetadataMachine.auto_create`.

Source: Kafka's DefaultAutoTopicCreationManager.creatableTopic, GroupCoordinatorService,
TransactionCoordinator and ShareCoordinatorService (topic configs).
"""

from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.creation import DEFAULT_COUNT
from wirekafka.metadata.topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from wirekafka.protocol.apis.create_topics import CreatableTopic, CreatableTopicConfig

# The settings that begin with this name tell an internal topic's partitions and replicas.
_SETTINGS_OF = {
    CONSUMER_OFFSETS: "offsets.topic",
    TRANSACTION_STATE: "transaction.state.log",
    SHARE_GROUP_STATE: "share.coordinator.state.topic",
}
_FIXED_CONFIGS = {
    CONSUMER_OFFSETS: {"cleanup.policy": "compact", "compression.type": "producer"},
    TRANSACTION_STATE: {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "unclean.leader.election.enable": "false",
    },
    SHARE_GROUP_STATE: {"cleanup.policy": "delete", "compression.type": "producer", "retention.ms": "-1"},
}


def topic_on_demand(name: str, settings: Settings) -> CreatableTopic:
    """The topic to create when `name` is needed: by the broker's settings, or by an internal topic's own."""
    prefix = _SETTINGS_OF.get(name)
    if prefix is None:
        return _creatable(name, DEFAULT_COUNT, DEFAULT_COUNT, {})
    configs = dict(_FIXED_CONFIGS[name])
    configs["segment.bytes"] = str(settings.get_int(f"{prefix}.segment.bytes"))
    if f"{prefix}.min.isr" in settings:
        configs["min.insync.replicas"] = str(settings.get_int(f"{prefix}.min.isr"))
    return _creatable(
        name,
        settings.get_int(f"{prefix}.num.partitions"),
        settings.get_int(f"{prefix}.replication.factor"),
        configs,
    )


def _creatable(
    name: str, partitions: int, replication_factor: int, configs: dict[str, str]
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
