"""Key 22, InitProducerId: a producer id and epoch for idempotent writing.

v0: the first.
v1: the same form.
v2: flexible.
v3: adds producer_id; adds producer_epoch.
v4: the same form.
v5: the same form.

Source: KIP-98, KIP-360 (epoch bumps).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, INT64, NULLABLE_STRING


class InitProducerIdRequest(Message, versions="0-5", flexible="2+"):
    transactional_id: str | None = wire(NULLABLE_STRING)
    transaction_timeout_ms: int = wire(INT32)
    producer_id: int = wire(INT64, "3+", default=-1)
    producer_epoch: int = wire(INT16, "3+", default=-1)


class InitProducerIdResponse(Message, versions="0-5", flexible="2+"):
    throttle_time_ms: int = wire(INT32)
    error_code: int = wire(INT16)
    producer_id: int = wire(INT64, default=-1)
    producer_epoch: int = wire(INT16)


INIT_PRODUCER_ID = Api(22, InitProducerIdRequest, InitProducerIdResponse)
