"""The differences on purpose: which exchange, which field, what each broker says, and why.

A difference that no entry explains fails the run, and so does an entry that explains nothing any more: the
list only shrinks, or is true. Called by `compare` and `report`.
Source: Apache Kafka 4.4's answers, each seen in a run.
"""

from __future__ import annotations

import dataclasses
import enum
import fnmatch
from dataclasses import dataclass

from compat_tests.differential.fields import Plain


class Some(enum.Enum):
    """What stands for values that cannot be written down."""

    ANY = "any"
    TEXT = "a message"

    def is_like(self, value: Plain) -> bool:
        return self is Some.ANY or (isinstance(value, str) and value != "")


@dataclass(frozen=True, slots=True)
class OnPurpose:
    """One difference on purpose.

    `exchanges` and `field` are patterns with * and ?; `field` may also be a place, which names entries.
    """

    exchanges: str
    field: str
    kafka: int | str | bool | Some | None
    ours: int | str | bool | Some | None
    reason: str = dataclasses.field(compare=False)
    entails: tuple[str, ...] = ()
    """Fields that differ for no other cause, in the same exchange; their values are not looked at."""

    def is_about(self, exchange: str) -> bool:
        return fnmatch.fnmatchcase(exchange, self.exchanges)

    def explains(self, name: str, place: str, kafka: Plain, ours: Plain) -> bool:
        found = any(fnmatch.fnmatchcase(text, self.field) for text in (name, place))
        return found and _is(self.kafka, kafka) and _is(self.ours, ours)

    def entails_field(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.entails)


def _is(wanted: int | str | bool | Some | None, value: Plain) -> bool:
    return wanted.is_like(value) if isinstance(wanted, Some) else wanted == value


SAYS_WHY = "a refusal says why in every version and case; Kafka leaves the message out here"
NO_TRANSACTIONS = "wirekafka coordinates no transactions and no share groups yet, and says so for good"
ONLY_METADATA_VERSION = "wirekafka has one feature, metadata.version; the others are of APIs not built yet"
STRICT_LENGTHS = (
    "only -1 stands for null: Kafka takes any negative length for it, which hides a broken client"
)
NEGATIVE_LIMITS = "a negative limit is a limit of nothing, as 0 is; Kafka fails on it inside"
TWICE = "what is asked twice is answered twice; Kafka's maps keep one of the two and drop the other unsaid"
NO_LEVEL = "an isolation level that nobody has reads uncommitted; Kafka fails on it inside"
UNDECODED = "records are not unpacked on the way to the log; whoever reads the batch finds the fault"
AT_ONCE = "a partition that is not there is told of at once; Kafka waits as if records might come"
CREATED_AT_ONCE = "an auto-created topic has its leader in the answer that creates it"
NO_COPIES = "acks=all promises no copies that are not there; Kafka wants no more than the topic has replicas"
PATTERNS_AT_ONCE = (
    "a pattern is looked up within the heartbeat that brings it; Kafka looks beside it, and the next tells"
)
NO_COORDINATOR = "until someone looks for a coordinator there is none to judge requests; Kafka judges some"

PURPOSES: tuple[OnPurpose, ...] = (
    OnPurpose("frames: *heartbeat *", "error_code", 24, 16, NO_COORDINATOR),
    OnPurpose("uncoordinated: *", "error_code", 24, 16, NO_COORDINATOR),
    OnPurpose("uncoordinated: *", "error_code", 26, 16, NO_COORDINATOR),
    OnPurpose("uncoordinated: *", "error_code", 42, 16, NO_COORDINATOR),
    OnPurpose("uncoordinated: *", "topics.partitions.error_code", 100, 16, NO_COORDINATOR),
    OnPurpose("*", "*error_message", None, Some.TEXT, SAYS_WHY),
    OnPurpose("versions: *", "finalized_features", Some.ANY, Some.ANY, ONLY_METADATA_VERSION),
    OnPurpose("versions: *", "supported_features", Some.ANY, Some.ANY, ONLY_METADATA_VERSION),
    OnPurpose(
        "versions: old header v*",
        "answer",
        "closes the connection",
        Some.ANY,
        "what is answered with v0 (KIP-511) does not need the tags of a new header",
    ),
    OnPurpose(
        "frames: heartbeat group not UTF-8 v0",
        "answer",
        Some.ANY,
        "closes the connection",
        "text that is not UTF-8 is refused; Java puts marks in its place, and two groups become one",
    ),
    OnPurpose("frames: * -2 v*", "answer", Some.ANY, "closes the connection", STRICT_LENGTHS),
    OnPurpose(
        "metadata: null name v1?",
        "*error_code",
        -1,
        42,
        "a topic with neither name nor id is an invalid request; Kafka fails on the null inside",
    ),
    OnPurpose(
        "metadata: first ask creates*",
        "topics.error_code",
        3,
        0,
        CREATED_AT_ONCE,
        ("topics.partitions", "topics.topic_id"),
    ),
    OnPurpose(
        "creating: *",
        "*.configs?min.insync.replicas?.config_source",
        3,
        5,
        "a KRaft cluster with eligible leader replicas sets it for the cluster; wirekafka has the default",
    ),
    OnPurpose(
        "configs: *",
        "*.configs?min.insync.replicas?.config_source",
        3,
        5,
        "a KRaft cluster with eligible leader replicas sets it for the cluster; wirekafka has the default",
        ("results.configs.synonyms",),
    ),
    OnPurpose(
        "altering*: *operation *",
        "responses.error_code",
        -1,
        42,
        "an operation that nobody has is an invalid request; Kafka fails on it inside",
    ),
    OnPurpose(
        "altering_others: *lags that contradict v*",
        "responses.error_code",
        0,
        42,
        "settings that contradict each other are refused; Kafka checks these two at its start alone",
    ),
    OnPurpose(
        "producing: null records v*",
        "answer",
        "does not answer",
        Some.ANY,
        "null records are an invalid record (87); in Kafka the request is lost",
    ),
    OnPurpose(
        "producing: codec ? v*",
        "responses.partition_responses.error_code",
        -1,
        76,
        "a codec that does not exist is an unsupported compression type; Kafka fails on it inside",
        ("responses.partition_responses.log_start_offset",),
    ),
    OnPurpose(
        "producing: marked * v*",
        "responses.partition_responses.error_code",
        -1,
        0,
        UNDECODED,
        ("responses.partition_responses.base_offset", "responses.partition_responses.log_start_offset"),
    ),
    OnPurpose(
        "producing: stored, marked *",
        "responses.partitions.records",
        Some.ANY,
        Some.ANY,
        UNDECODED,
        ("responses.partitions.high_watermark", "responses.partitions.last_stable_offset"),
    ),
    OnPurpose(
        "producing: more replicas wanted than there are v*",
        "responses.partition_responses.error_code",
        0,
        19,
        NO_COPIES,
        entails=(
            "responses.partition_responses.base_offset",
            "responses.partition_responses.log_start_offset",
        ),
    ),
    OnPurpose("producing: partition twice v*", "responses.partition_responses", Some.ANY, Some.ANY, TWICE),
    OnPurpose("producing: topic twice v*", "responses", Some.ANY, Some.ANY, TWICE),
    OnPurpose(
        "listing_offsets: segments, from *",
        "topics.partitions.offset",
        -1,
        Some.ANY,
        "the first record at or after a time is looked for in every segment; Kafka gives up when the first "
        "segment that has the time has it only before the log's start",
        ("topics.partitions.timestamp", "topics.partitions.leader_epoch"),
    ),
    OnPurpose("listing_offsets: topic twice v*", "topics", Some.ANY, Some.ANY, TWICE),
    OnPurpose(
        "fetching: fewer than 0 bytes of each v*",
        "responses.partitions.error_code",
        -1,
        0,
        NEGATIVE_LIMITS,
        ("responses.partitions.*",),
    ),
    OnPurpose(
        "fetching: at most -1 bytes v*",
        "responses.partitions.error_code",
        -1,
        0,
        NEGATIVE_LIMITS,
        ("responses.partitions.*",),
    ),
    OnPurpose(
        "fetching: isolation * v*",
        "responses.partitions.error_code",
        -1,
        0,
        NO_LEVEL,
        ("responses.partitions.*", "error_code"),
    ),
    OnPurpose("fetching: isolation * v*", "error_code", -1, 0, NO_LEVEL, ("responses",)),
    OnPurpose(
        "listing_offsets: isolation 9 v*",
        "topics.partitions.error_code",
        -1,
        0,
        NO_LEVEL,
        ("topics.partitions.offset", "topics.partitions.leader_epoch"),
    ),
    OnPurpose("fetching: waits, unknown ?????????: has waited v*", "answer", True, False, AT_ONCE),
    OnPurpose("fetching: waits, unknown topic: has waited v*", "answer", True, False, AT_ONCE),
    OnPurpose(
        "coordinators: the first ask ever v*",
        "error_code",
        15,
        0,
        "the internal topic is made before the answer, not after it",
        ("host", "port", "node_id"),
    ),
    OnPurpose(
        "coordinators: type 1 v*",
        "*error_code",
        Some.ANY,
        42,
        NO_TRANSACTIONS,
        ("*host", "*port", "*node_id"),
    ),
    OnPurpose("coordinators: share key *", "coordinators.error_code", 15, 42, NO_TRANSACTIONS),
    OnPurpose("subscriptions: join for * v1", "member_epoch", 1, 2, PATTERNS_AT_ONCE, ("assignment*",)),
    OnPurpose(
        "subscriptions: first joins by pattern v1", "member_epoch", 1, 2, PATTERNS_AT_ONCE, ("assignment*",)
    ),
    OnPurpose(
        "member_offsets: *fetch *, null id v*",
        "groups.error_code",
        -1,
        25,
        "a null member id with an epoch is of a member that nobody knows; Kafka fails on it inside",
        ("groups.topics",),
    ),
    OnPurpose(
        "classic_corners: *the join that waited first v9",
        "answer",
        "does not answer",
        Some.ANY,
        "a join in whose place its member sends another is answered (27); in Kafka it is lost",
    ),
    OnPurpose(
        "joining: protocol twice*",
        "answer",
        "does not answer",
        Some.ANY,
        "the last of two protocols with one name counts; in Kafka the request is lost",
    ),
)
