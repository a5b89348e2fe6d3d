"""InitProducerId: an id and epoch for a producer that must not write twice.

From v3 on a producer may name the id it has, to bump its epoch (KIP-360): for transactional
producers alone, which are not served yet.

Source: KIP-98, KIP-360; Kafka's TransactionCoordinator.handleInitProducerId.
"""

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.protocol.apis.init_producer_id import (
    INIT_PRODUCER_ID,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_NONE = -1


def _refuse(request: InitProducerIdRequest, error: KafkaError) -> InitProducerIdResponse:
    return InitProducerIdResponse(throttle_time_ms=0, error_code=error.code, producer_epoch=_NONE)


@handles(INIT_PRODUCER_ID, refusal=_refuse)
async def init_producer_id(request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Producer id and epoch are given together or not at all.")
    if request.transactional_id == "":
        raise KafkaError(ErrorCode.INVALID_REQUEST, "An empty transactional id names no producer.")
    if request.transactional_id is not None:
        context.broker.refuse_transactions()
    return InitProducerIdResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        producer_id=await context.broker.producer_ids.draw(),
        producer_epoch=0,
    )
