"""Key 60, DescribeCluster: cluster id, controller and brokers.

v0: the first.
v1: adds endpoint_type; answer adds endpoint_type.
v2: adds include_fenced_brokers; answer adds brokers.is_fenced.

Source: KIP-700, KIP-919 (endpoint type), KIP-1073 (fenced brokers).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BOOLEAN, INT8, INT16, INT32, NULLABLE_STRING, STRING, array_of


class DescribeClusterRequest(Message, versions="0-2", flexible="0+"):
    include_cluster_authorized_operations: bool = wire(BOOLEAN)
    endpoint_type: int = wire(INT8, "1+", default=1)
    include_fenced_brokers: bool = wire(BOOLEAN, "2+", default=False)


class DescribeClusterBroker(Message):
    broker_id: int = wire(INT32)
    host: str = wire(STRING)
    port: int = wire(INT32)
    rack: str | None = wire(NULLABLE_STRING, default=None)
    is_fenced: bool = wire(BOOLEAN, "2+", default=False)


class DescribeClusterResponse(Message, versions="0-2", flexible="0+"):
    throttle_time_ms: int = wire(INT32)
    error_code: int = wire(INT16)
    error_message: str | None = wire(NULLABLE_STRING, default=None)
    endpoint_type: int = wire(INT8, "1+", default=1)
    cluster_id: str = wire(STRING)
    controller_id: int = wire(INT32, default=-1)
    brokers: list[DescribeClusterBroker] = wire(array_of(DescribeClusterBroker))
    cluster_authorized_operations: int = wire(INT32, default=-(2**31))


DESCRIBE_CLUSTER = Api(60, DescribeClusterRequest, DescribeClusterResponse)
