"""A metadata machine of node 1 that carries out what it decides, and topics to ask it for.

The fixtures of conftest hand these out; tests take their types from here.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wirekafka.ids import TopicId
from wirekafka.machine import Decision, Ticket
from wirekafka.metadata import MetadataMachine, Settings
from wirekafka.protocol.apis.alter_configs import (
    AlterConfigsEntry,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from wirekafka.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)

TICKET = Ticket(7)
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
"""The types of what has settings."""
SET, DELETE, APPEND, SUBTRACT = range(4)
"""What IncrementalAlterConfigs does to a setting."""


class Cluster:
    """One machine; what it decides is applied at once, as the journal would."""

    def __init__(self, settings: Settings) -> None:
        self.machine = MetadataMachine(1, settings)
        self.records: list[Any] = []
        self.image = self.machine.image
        self._ids: Iterator[int] = itertools.count(1)

    def new_topic_id(self) -> TopicId:
        return TopicId(next(self._ids).to_bytes(16, "big"))

    def carry_out(self, decision: Decision[Any]) -> Any:
        assert [reply.ticket for reply in decision.replies] == [TICKET]
        for record in decision.records:
            self.machine.apply(record)
            self.records.append(record)
        return decision.replies[0].response

    def create(self, *topics: CreatableTopic, validate_only: bool = False) -> list[Any]:
        """The results of a CreateTopics request, in order."""
        request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
        decision = self.machine.create_topics(request, new_topic_id=self.new_topic_id, ticket=TICKET)
        return list(self.carry_out(decision).topics)

    def change(
        self,
        kind: int,
        name: str,
        *operations: tuple[str, int, str | None],
        validate_only: bool = False,
    ) -> int:
        """The error code of an IncrementalAlterConfigs request for one resource."""
        (code,) = self.change_all((kind, name, operations), validate_only=validate_only)
        return code

    def change_all(
        self,
        *changes: tuple[int, str, Sequence[tuple[str, int, str | None]]],
        validate_only: bool = False,
    ) -> list[int]:
        """The error codes of an IncrementalAlterConfigs request, in order."""
        request = IncrementalAlterConfigsRequest(
            resources=[
                IncrementalAlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[
                        IncrementalAlterConfigsEntry(name=config, config_operation=operation, value=value)
                        for config, operation, value in operations
                    ],
                )
                for kind, name, operations in changes
            ],
            validate_only=validate_only,
        )
        response = self.carry_out(self.machine.incremental_alter_configs(request, ticket=TICKET))
        answers = [(answer.resource_type, answer.resource_name) for answer in response.responses]
        assert answers == [(kind, name) for kind, name, _ in changes]
        assert all(
            (answer.error_message is None) == (answer.error_code == 0) for answer in response.responses
        )
        return [answer.error_code for answer in response.responses]

    def set(self, kind: int, name: str, **configs: str) -> int:
        """The error code of setting some; `retention_ms="5"` sets retention.ms."""
        operations = [(config.replace("_", "."), SET, value) for config, value in configs.items()]
        return self.change(kind, name, *operations)

    def replace(
        self, kind: int, name: str, configs: Mapping[str, str | None], *, validate_only: bool = False
    ) -> int:
        """The error code of an AlterConfigs request for one resource."""
        request = AlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[AlterConfigsEntry(name=k, value=v) for k, v in configs.items()],
                )
            ],
            validate_only=validate_only,
        )
        response = self.carry_out(self.machine.alter_configs(request, ticket=TICKET))
        (answer,) = response.responses
        assert (answer.resource_type, answer.resource_name) == (kind, name)
        return int(answer.error_code)

    def own(self, kind: int, name: str) -> dict[str, str]:
        """The settings made for a resource itself."""
        return dict(self.image.configs(kind, name))


def a_topic(
    name: str,
    partitions: int = 1,
    replication_factor: int = 1,
    *,
    assigned: tuple[tuple[int, list[int]], ...] = (),
    **configs: str | None,
) -> CreatableTopic:
    """A topic to create; `retention_ms="5"` sets retention.ms."""
    return CreatableTopic(
        name=name,
        num_partitions=-1 if assigned and partitions == 1 else partitions,
        replication_factor=-1 if assigned and replication_factor == 1 else replication_factor,
        assignments=[CreatableReplicaAssignment(partition_index=n, broker_ids=ids) for n, ids in assigned],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ],
    )


ClusterWith = Callable[..., Cluster]
"""The fixture `cluster_with`: makes a cluster of certain settings."""

MakeTopic = Callable[..., CreatableTopic]
"""The fixture `topic`: `a_topic`."""
