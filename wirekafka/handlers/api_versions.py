"""ApiVersions, answered from the handler table: what has no handler is not advertised.

Source: KIP-35, KIP-511 (client software, too new a version), KIP-584 (features), KIP-1242 (cluster
and node id); Kafka's KafkaApis.handleApiVersionsRequest and ApiVersionsRequest.isValid.
"""

import re

from wirekafka.handlers.context import RequestContext
from wirekafka.handlers.registry import handles
from wirekafka.protocol.apis.api_versions import (
    API_VERSIONS,
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.connection import Built
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FEATURES = (("metadata.version", 7, 33), ("group.version", 0, 1))
"""Name, oldest and newest level of what is served. Of Kafka's metadata records 7 is 3.3 and 33 is 4.4; group
version 1 has the consumer protocol."""
_LEVEL_0_SINCE = 4


def _refuse(request: ApiVersionsRequest | None, error: KafkaError) -> ApiVersionsResponse:
    own = API_VERSIONS.advertised
    key = ApiVersion(api_key=API_VERSIONS.key, min_version=own.oldest, max_version=own.newest)
    only = error.code == ErrorCode.UNSUPPORTED_VERSION
    return ApiVersionsResponse(error_code=error.code, api_keys=[key] if only else [])


def _kept_api_versions(request: ApiVersionsRequest | None, context: RequestContext) -> Built:
    """Answer with the bytes of the last time."""
    if request is None:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    _check_client(request, context)
    key = (API_VERSIONS.key, context.version)
    kept = context.broker.kept_answers
    found = kept.find(key)
    if found is not None:
        return found
    return kept.keep(key, codec_for(ApiVersionsResponse, context.version).build(_response(context)))


@handles(API_VERSIONS, refusal=_refuse, at_once=_kept_api_versions)
async def api_versions(request: ApiVersionsRequest | None, context: RequestContext) -> ApiVersionsResponse:
    if request is None:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    _check_client(request, context)
    return _response(context)


def _response(context: RequestContext) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        error_code=ErrorCode.NONE,
        api_keys=[
            ApiVersion(api_key=key, min_version=versions.oldest, max_version=versions.newest)
            for key, versions in context.connection.advertised.items()
        ],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=oldest, max_version=newest)
            for name, oldest, newest in _FEATURES
            if oldest or context.version >= _LEVEL_0_SINCE  # KAFKA-17492: before, clients choke on a 0
        ],
        finalized_features_epoch=context.broker.image.generation,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=newest, min_version_level=newest)
            for name, _, newest in _FEATURES
        ],
    )


def _check_client(request: ApiVersionsRequest, context: RequestContext) -> None:
    if context.version >= 3:
        for text in (request.client_software_name, request.client_software_version):
            if not _SOFTWARE.fullmatch(text):
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"{text!r} is no software name or version.")
        context.connection.acquaintance.software_name = request.client_software_name
    if context.version >= 5:
        _check_destination(request, context)


def _check_destination(request: ApiVersionsRequest, context: RequestContext) -> None:
    """A client that says whom it means to reach must have reached it (KIP-1242)."""
    if (request.cluster_id is None) != (request.node_id == -1):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Cluster id and node id are given both or neither.")
    if request.cluster_id is None:
        return
    if (request.cluster_id, request.node_id) != (context.broker.cluster_id, context.broker.node_id):
        raise KafkaError(ErrorCode.REBOOTSTRAP_REQUIRED, "This is not the broker that was looked for.")
