"""A metadata machine of node 1 that carries out what it decides, and topics to ask it for.

The fixtures of conftest hand these out; tests take their types from here.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from wirekafka.ids import TopicId
from wirekafka.machine import Decision, Ticket
from wirekafka.metadata import MetadataMachine, Settings
from wirekafka.protocol.apis.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

TICKET = Ticket(7)


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
