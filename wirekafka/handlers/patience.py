"""Which clients go on with their work while the answer to a Heartbeat is held back.

Asked by `classic_groups`. In each client named here a heartbeat is a task of its own, which waits for nothing
and for which nothing waits; what else goes over the same connection makes the broker answer at once. kafkajs
and franz-go are not named: the one waits for a heartbeat between two batches, the other before it commits a
transaction.

Source: the clients' own code: AbstractCoordinator.HeartbeatThread (Java), rd_kafka_cgrp_heartbeat
(librdkafka), BaseCoordinator._heartbeat_loop (kafka-python), GroupCoordinator._heartbeat_routine (aiokafka).
"""

from wirekafka.handlers.context import RequestContext

_BY_SOFTWARE = frozenset({"apache-kafka-java", "librdkafka", "confluent-kafka-python", "kafka-python"})
_AIOKAFKA_CLIENT_ID = "aiokafka-"
"""How aiokafka's own client ids begin; it speaks an ApiVersions that has no room for a name."""


def bears_held_heartbeats(context: RequestContext) -> bool:
    """Whether heartbeats are held at all, and the client is known to bear that its own is answered late."""
    if not context.broker.coordination.holds_heartbeats:
        return False
    if context.connection.acquaintance.software_name in _BY_SOFTWARE:
        return True
    return (context.client_id or "").startswith(_AIOKAFKA_CLIENT_ID)
