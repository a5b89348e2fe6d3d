"""Key 18, ApiVersions: which requests, in which versions, the broker answers.

v0: the first.
v1: answer adds throttle_time_ms.
v2: the same form.
v3: flexible; adds client_software_name; adds client_software_version; answer adds supported_features,
    adds finalized_features_epoch, adds finalized_features, adds zk_migration_ready.
v4: the same form.
v5: adds cluster_id; adds node_id.

Source: KIP-35, KIP-511 (client name, too new versions), KIP-584 (features), KIP-1242 (cluster and node id).
"""

from wirekafka.protocol.api import Api
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import BOOLEAN, INT16, INT32, INT64, NULLABLE_STRING, STRING, array_of


class ApiVersionsRequest(Message, versions="0-5", flexible="3+"):
    client_software_name: str = wire(STRING, "3+", default="")
    client_software_version: str = wire(STRING, "3+", default="")
    cluster_id: str | None = wire(NULLABLE_STRING, "5+", default=None)
    node_id: int = wire(INT32, "5+", default=-1)


class ApiVersion(Message):
    api_key: int = wire(INT16)
    min_version: int = wire(INT16)
    max_version: int = wire(INT16)


class SupportedFeatureKey(Message):
    name: str = wire(STRING)
    min_version: int = wire(INT16)
    max_version: int = wire(INT16)


class FinalizedFeatureKey(Message):
    name: str = wire(STRING)
    max_version_level: int = wire(INT16)
    min_version_level: int = wire(INT16)


class ApiVersionsResponse(Message, versions="0-5", flexible="3+"):
    error_code: int = wire(INT16)
    api_keys: list[ApiVersion] = wire(array_of(ApiVersion))
    throttle_time_ms: int = wire(INT32, "1+", default=0)
    supported_features: list[SupportedFeatureKey] = wire(
        array_of(SupportedFeatureKey), "3+", tag=0, tagged="3+", factory=list
    )
    finalized_features_epoch: int = wire(INT64, "3+", tag=1, tagged="3+", default=-1)
    finalized_features: list[FinalizedFeatureKey] = wire(
        array_of(FinalizedFeatureKey), "3+", tag=2, tagged="3+", factory=list
    )
    zk_migration_ready: bool = wire(BOOLEAN, "3+", tag=3, tagged="3+", default=False)


API_VERSIONS = Api(18, ApiVersionsRequest, ApiVersionsResponse)
