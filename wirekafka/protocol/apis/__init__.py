"""Every API the broker speaks: one file each, gathered here.

Source: the Kafka protocol guide, section "The Messages".
"""

from typing import Any

from wirekafka.protocol.api import Api
from wirekafka.protocol.apis.alter_configs import ALTER_CONFIGS
from wirekafka.protocol.apis.api_versions import API_VERSIONS
from wirekafka.protocol.apis.consumer_group_describe import CONSUMER_GROUP_DESCRIBE
from wirekafka.protocol.apis.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT
from wirekafka.protocol.apis.create_partitions import CREATE_PARTITIONS
from wirekafka.protocol.apis.create_topics import CREATE_TOPICS
from wirekafka.protocol.apis.delete_groups import DELETE_GROUPS
from wirekafka.protocol.apis.delete_records import DELETE_RECORDS
from wirekafka.protocol.apis.delete_topics import DELETE_TOPICS
from wirekafka.protocol.apis.describe_cluster import DESCRIBE_CLUSTER
from wirekafka.protocol.apis.describe_configs import DESCRIBE_CONFIGS
from wirekafka.protocol.apis.describe_groups import DESCRIBE_GROUPS
from wirekafka.protocol.apis.fetch import FETCH
from wirekafka.protocol.apis.find_coordinator import FIND_COORDINATOR
from wirekafka.protocol.apis.heartbeat import HEARTBEAT
from wirekafka.protocol.apis.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from wirekafka.protocol.apis.init_producer_id import INIT_PRODUCER_ID
from wirekafka.protocol.apis.join_group import JOIN_GROUP
from wirekafka.protocol.apis.leave_group import LEAVE_GROUP
from wirekafka.protocol.apis.list_groups import LIST_GROUPS
from wirekafka.protocol.apis.list_offsets import LIST_OFFSETS
from wirekafka.protocol.apis.metadata import METADATA
from wirekafka.protocol.apis.offset_commit import OFFSET_COMMIT
from wirekafka.protocol.apis.offset_delete import OFFSET_DELETE
from wirekafka.protocol.apis.offset_fetch import OFFSET_FETCH
from wirekafka.protocol.apis.offset_for_leader_epoch import OFFSET_FOR_LEADER_EPOCH
from wirekafka.protocol.apis.produce import PRODUCE
from wirekafka.protocol.apis.sync_group import SYNC_GROUP

# Any: the table holds the Api of every pair of message types.
APIS: dict[int, Api[Any, Any]] = {
    api.key: api
    for api in (
        PRODUCE,
        FETCH,
        LIST_OFFSETS,
        METADATA,
        OFFSET_COMMIT,
        OFFSET_FETCH,
        FIND_COORDINATOR,
        JOIN_GROUP,
        HEARTBEAT,
        LEAVE_GROUP,
        SYNC_GROUP,
        DESCRIBE_GROUPS,
        LIST_GROUPS,
        API_VERSIONS,
        CREATE_TOPICS,
        DELETE_TOPICS,
        DELETE_RECORDS,
        INIT_PRODUCER_ID,
        OFFSET_FOR_LEADER_EPOCH,
        DESCRIBE_CONFIGS,
        ALTER_CONFIGS,
        CREATE_PARTITIONS,
        DELETE_GROUPS,
        INCREMENTAL_ALTER_CONFIGS,
        OFFSET_DELETE,
        DESCRIBE_CLUSTER,
        CONSUMER_GROUP_HEARTBEAT,
        CONSUMER_GROUP_DESCRIBE,
    )
}
"""Key to Api, in the order of Kafka's keys."""
