"""What each API does: one function a request, one file a family.

`HANDLERS` is the dispatch, and what ApiVersions advertises.
"""

from typing import Any

from wirekafka.handlers.api_versions import api_versions
from wirekafka.handlers.classic_groups import heartbeat, join_group, leave_group, sync_group
from wirekafka.handlers.configs import alter_configs, describe_configs, incremental_alter_configs
from wirekafka.handlers.consumer_groups import consumer_group_describe, consumer_group_heartbeat
from wirekafka.handlers.context import (
    Acquaintance,
    ClientConnection,
    CloseConnection,
    Endpoint,
    RequestContext,
)
from wirekafka.handlers.delete_records import delete_records
from wirekafka.handlers.fetch import fetch
from wirekafka.handlers.group_admin import delete_groups, describe_groups, find_coordinator, list_groups
from wirekafka.handlers.group_offsets import offset_commit, offset_delete, offset_fetch
from wirekafka.handlers.metadata import describe_cluster, metadata
from wirekafka.handlers.offsets import list_offsets, offset_for_leader_epoch
from wirekafka.handlers.produce import produce
from wirekafka.handlers.producers import init_producer_id
from wirekafka.handlers.registry import NOT_AT_ONCE, Handler, Later, NotAtOnce
from wirekafka.handlers.repeated import Repeated
from wirekafka.handlers.repeated_fetch import Waiting
from wirekafka.handlers.topics import create_partitions, create_topics, delete_topics
from wirekafka.protocol.message import Versions

# Any: the table holds handlers of every pair of message types.
HANDLERS: dict[int, Handler[Any, Any]] = {
    handler.api.key: handler
    for handler in (
        produce,
        fetch,
        list_offsets,
        metadata,
        offset_commit,
        offset_fetch,
        find_coordinator,
        join_group,
        heartbeat,
        leave_group,
        sync_group,
        describe_groups,
        list_groups,
        delete_groups,
        offset_delete,
        api_versions,
        create_topics,
        delete_topics,
        delete_records,
        init_producer_id,
        offset_for_leader_epoch,
        describe_configs,
        alter_configs,
        create_partitions,
        incremental_alter_configs,
        describe_cluster,
        consumer_group_heartbeat,
        consumer_group_describe,
    )
}
"""Key to handler."""

ADVERTISED: dict[int, Versions] = {key: handler.api.advertised for key, handler in HANDLERS.items()}
"""Key to the versions that ApiVersions names."""

__all__ = [
    "ADVERTISED",
    "HANDLERS",
    "NOT_AT_ONCE",
    "Acquaintance",
    "ClientConnection",
    "CloseConnection",
    "Endpoint",
    "Handler",
    "Later",
    "NotAtOnce",
    "Repeated",
    "RequestContext",
    "Waiting",
]
