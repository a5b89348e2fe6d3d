"""The keys of requests that some tools need and not every broker has, by Kafka's names.

Called by `conftest`, which leaves out a story marked `asks` of what the broker does not advertise.
Source: the Kafka protocol guide, API keys.
"""

from __future__ import annotations

KEYS = {
    "DeleteRecords": 21,
    "AddPartitionsToTxn": 24,
    "EndTxn": 26,
    "DescribeAcls": 29,
    "DescribeLogDirs": 35,
    "DeleteGroups": 42,
    "ElectLeaders": 43,
    "IncrementalAlterConfigs": 44,
    "ListPartitionReassignments": 46,
    "OffsetDelete": 47,
    "DescribeClientQuotas": 48,
    "DescribeQuorum": 55,
    "UpdateFeatures": 57,
    "DescribeProducers": 61,
    "ListTransactions": 66,
    "ConsumerGroupHeartbeat": 68,
    "ListConfigResources": 74,
    "DescribeTopicPartitions": 75,
    "ShareGroupHeartbeat": 76,
    "ShareGroupDescribe": 77,
    "ShareFetch": 78,
}
