"""`MetadataMachine`: decides about topics and producer ids, and tells which settings hold.

Asked by the journal of the metadata log (`__cluster_metadata-0`), which appends a decision's
records and hands each to `apply`; questions that need no record are answered at once.

Source: Kafka's QuorumController, ReplicationControlManager and ProducerIdControlManager.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wirekafka.ids import TopicId
from wirekafka.machine import Decision, Reply, Ticket
from wirekafka.metadata.altering import Alteration, Operation, plan_alterations
from wirekafka.metadata.broker_settings import BrokerSettings
from wirekafka.metadata.configs.definition import ConfigValue
from wirekafka.metadata.configs.settings import Settings
from wirekafka.metadata.creation import plan_topic, plan_topics
from wirekafka.metadata.deletion import plan_deletions
from wirekafka.metadata.describing import describe_configs
from wirekafka.metadata.growth import plan_growth
from wirekafka.metadata.image import MetadataImage
from wirekafka.metadata.internal_topics import topic_on_demand
from wirekafka.metadata.records import MetadataRecord
from wirekafka.metadata.state import ClusterState
from wirekafka.protocol.apis.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from wirekafka.protocol.apis.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from wirekafka.protocol.apis.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import ProducerIdsRecord

PRODUCER_ID_BLOCK_SIZE = 1000
_LAST_PRODUCER_ID = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    """Producer ids that are this broker's to give away: `length` of them from `first` on."""

    first: int
    length: int


class MetadataMachine:
    """The machine of the metadata log."""

    def __init__(self, node_id: int, settings: Settings) -> None:
        self.image = MetadataImage()
        self._state = ClusterState(node_id, BrokerSettings(node_id, settings, self.image), self.image)

    @property
    def settings(self) -> Settings:
        """The broker's settings that hold now: what was changed at run time lies over the others."""
        return self._state.settings

    def create_topics(
        self, request: CreateTopicsRequest, *, new_topic_id: Callable[[], TopicId], ticket: Ticket
    ) -> Decision[MetadataRecord]:
        """Decide a CreateTopics request; the reply is a CreateTopicsResponse.

        `new_topic_id` gives a fresh random id each time. With `validate_only` there are no records.
        """
        records, results = plan_topics(request, self._state, new_topic_id)
        response = CreateTopicsResponse(throttle_time_ms=0, topics=results)
        return Decision([] if request.validate_only else records, [Reply(ticket, response)])

    def auto_create(
        self, topic_name: str, *, new_topic_id: Callable[[], TopicId], ticket: Ticket
    ) -> Decision[MetadataRecord]:
        """Decide to create a topic because it is needed; the reply is a CreatableTopicResult.

        An internal topic gets the partitions and settings its coordinator wants. A topic that is there
        already is a success without records. Whether auto.create.topics.enable and the client allow it
        is for the caller to ask.
        """
        present = self.image.topics.get(topic_name)
        if present is not None:
            result = CreatableTopicResult(
                name=topic_name,
                topic_id=present.topic_id,
                error_code=ErrorCode.NONE,
                error_message=None,
                num_partitions=len(present.partitions),
            )
            return Decision(replies=[Reply(ticket, result)])
        topic = topic_on_demand(topic_name, self._state.settings)
        try:
            records, result = plan_topic(topic, self._state, new_topic_id)
        except KafkaError as error:
            records = []
            result = CreatableTopicResult(name=topic_name, error_code=error.code, error_message=error.message)
        return Decision(records, [Reply(ticket, result)])

    def delete_topics(
        self, request: DeleteTopicsRequest, *, knows_deletion_disabled: bool = True, ticket: Ticket
    ) -> Decision[MetadataRecord]:
        """Decide a DeleteTopics request; the reply is a DeleteTopicsResponse.

        `knows_deletion_disabled`: the client's version (3 and later) has a code for
        delete.topic.enable=false.
        """
        disabled = ErrorCode.TOPIC_DELETION_DISABLED if knows_deletion_disabled else ErrorCode.INVALID_REQUEST
        records, results = plan_deletions(request, self._state, disabled)
        response = DeleteTopicsResponse(throttle_time_ms=0, responses=results)
        return Decision(records, [Reply(ticket, response)])

    def create_partitions(
        self, request: CreatePartitionsRequest, *, ticket: Ticket
    ) -> Decision[MetadataRecord]:
        """Decide a CreatePartitions request; the reply is a CreatePartitionsResponse.

        With `validate_only` there are no records.
        """
        records, results = plan_growth(request, self._state)
        response = CreatePartitionsResponse(throttle_time_ms=0, results=results)
        return Decision([] if request.validate_only else records, [Reply(ticket, response)])

    def alter_configs(self, request: AlterConfigsRequest, *, ticket: Ticket) -> Decision[MetadataRecord]:
        """Decide an AlterConfigs request; the reply is an AlterConfigsResponse.

        With `validate_only` there are no records.
        """
        alterations = [
            Alteration(
                resource.resource_type,
                resource.resource_name,
                tuple(Operation(config.name, config.value) for config in resource.configs),
                replaces=True,
            )
            for resource in request.resources
        ]
        records, errors = plan_alterations(alterations, self._state)
        results = [
            AlterConfigsResourceResponse(**_told(alteration, error))
            for alteration, error in zip(alterations, errors, strict=True)
        ]
        response = AlterConfigsResponse(throttle_time_ms=0, responses=results)
        return Decision([] if request.validate_only else [*records], [Reply(ticket, response)])

    def incremental_alter_configs(
        self, request: IncrementalAlterConfigsRequest, *, ticket: Ticket
    ) -> Decision[MetadataRecord]:
        """Decide an IncrementalAlterConfigs request; the reply is an IncrementalAlterConfigsResponse.

        With `validate_only` there are no records.
        """
        alterations = [
            Alteration(
                resource.resource_type,
                resource.resource_name,
                tuple(
                    Operation(config.name, config.value, config.config_operation)
                    for config in resource.configs
                ),
            )
            for resource in request.resources
        ]
        records, errors = plan_alterations(alterations, self._state)
        results = [
            IncrementalAlterConfigsResourceResponse(**_told(alteration, error))
            for alteration, error in zip(alterations, errors, strict=True)
        ]
        response = IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=results)
        return Decision([] if request.validate_only else [*records], [Reply(ticket, response)])

    def allocate_producer_ids(self, *, ticket: Ticket) -> Decision[MetadataRecord]:
        """Decide to take the next block of producer ids; the reply is a ProducerIdBlock.

        Raises UNKNOWN_SERVER_ERROR when there are none left.
        """
        first = self.image.next_producer_id
        if first > _LAST_PRODUCER_ID - PRODUCER_ID_BLOCK_SIZE:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "All producer ids have been given away.")
        record = ProducerIdsRecord(
            broker_id=self._state.node_id,
            broker_epoch=-1,
            next_producer_id=first + PRODUCER_ID_BLOCK_SIZE,
        )
        return Decision([record], [Reply(ticket, ProducerIdBlock(first, PRODUCER_ID_BLOCK_SIZE))])

    def topic_config(self, topic_name: str) -> Mapping[str, ConfigValue]:
        """What holds for a topic, by topic setting: its own, else the broker's, else Kafka's default.

        Raises UNKNOWN_TOPIC_OR_PARTITION.
        """
        if topic_name not in self.image.topics:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"This server does not host topic '{topic_name}'."
            )
        return self._state.topic_settings.effective(self.image.topic_configs(topic_name))

    def describe_configs(self, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
        """Answer a DescribeConfigs request; every resource has its own error."""
        return DescribeConfigsResponse(throttle_time_ms=0, results=describe_configs(request, self._state))

    def apply(self, record: MetadataRecord) -> None:
        """Change the image by one record; the only place where that happens."""
        self.image.apply(record)

    def wake_at_ms(self) -> int | None:
        """Nothing here waits for a time."""
        return None

    def on_time(self, now_ms: int) -> Decision[MetadataRecord]:
        """Nothing here falls due."""
        return Decision()

    def on_append_failed(
        self, decision: Decision[MetadataRecord], error: KafkaError, now_ms: int
    ) -> Decision[MetadataRecord]:
        """Answer the tickets with the error; there is nothing volatile to undo."""
        return Decision(replies=[Reply(reply.ticket, error) for reply in decision.replies])


# Any: the arguments go to message classes that check them.
def _told(alteration: Alteration, error: KafkaError | None) -> dict[str, Any]:
    """What both responses say of one resource."""
    return {
        "error_code": ErrorCode.NONE if error is None else error.code,
        "error_message": None if error is None else error.message,
        "resource_type": alteration.resource_type,
        "resource_name": alteration.resource_name,
    }
