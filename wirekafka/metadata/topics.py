"""The rules of topics: names, internal topics, partition counts and where replicas may lie.

Called by `creation` and `growth`; handlers ask `is_internal`.

Source: Kafka's Topic (names), ReplicationControlManager (assignments), StripedReplicaPlacer.
"""

import re
from collections.abc import Sequence

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import PartitionRecord

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
CLUSTER_METADATA = "__cluster_metadata"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

LONGEST_NAME = 249
MOST_PARTITIONS_PER_REQUEST = 10_000
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)


def is_internal(name: str) -> bool:
    """Whether a topic belongs to the broker itself."""
    return name in INTERNAL_TOPICS


def validate_name(name: str) -> None:
    """Raise INVALID_TOPIC_EXCEPTION for a name that Kafka would not have."""
    fault = _fault_of_name(name)
    if fault is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {fault}")


def collision_key(name: str) -> str | None:
    """What two names share that differ only in `.` and `_`; None for a name with neither.

    Kafka forbids such pairs because the names of its metrics put `_` for `.`.
    """
    return name.replace(".", "_") if "." in name or "_" in name else None


def check_replication_factor(replication_factor: int) -> None:
    """Raise INVALID_REPLICATION_FACTOR for more replicas than this cluster's one broker can keep."""
    if replication_factor > 1:
        raise KafkaError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replication_factor} time(s): The target replication"
            f" factor of {replication_factor} cannot be reached because only 1 broker(s) are registered.",
        )


def check_assignment(replicas: Sequence[int], brokers: frozenset[int], expected: int | None) -> None:
    """Check the replicas a client chose for one partition.

    `expected` is the replica count of the partitions before it, None for the first. Raises
    INVALID_REPLICA_ASSIGNMENT for none, unknown or double brokers, or another count.
    """
    if not replicas:
        raise _bad_assignment("The manual partition assignment includes an empty replica list.")
    previous: int | None = None
    for broker_id in sorted(replicas):
        if broker_id not in brokers:
            raise _bad_assignment(
                f"The manual partition assignment includes broker {broker_id}, but no such broker"
                " is registered."
            )
        if broker_id == previous:
            raise _bad_assignment(
                f"The manual partition assignment includes the broker {broker_id} more than once."
            )
        previous = broker_id
    if expected is not None and len(replicas) != expected:
        raise _bad_assignment(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but"
            f" this is not consistent with previous partitions, which have {expected} replica(s)."
        )


def partition_record(topic_id: bytes, partition_id: int, replicas: Sequence[int]) -> PartitionRecord:
    """The record of a new partition: all its replicas in sync, the first of them its leader."""
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=list(replicas),
        removing_replicas=[],
        adding_replicas=[],
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
        # Kafka's "unassigned": which folder of a broker keeps the partition is not said here.
        directories=[bytes(16)] * len(replicas),
    )


def _fault_of_name(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > LONGEST_NAME:
        return f"the length of '{name}' is longer than the max allowed length {LONGEST_NAME}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def _bad_assignment(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
