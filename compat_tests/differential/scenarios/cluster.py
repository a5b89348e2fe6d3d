"""DescribeCluster. Called by `run`. Source: KIP-700, KIP-919 (endpoint types), KIP-1073 (fenced)."""

from __future__ import annotations

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.describe_cluster import DescribeClusterRequest

ENDPOINTS, FENCED = 1, 2


def cluster(side: Side) -> None:
    """Ask for the cluster with every argument in every version."""
    for version in every(DescribeClusterRequest):
        for operations in (False, True):
            side.ask(
                f"operations {operations}",
                DescribeClusterRequest(include_cluster_authorized_operations=operations),
                version,
            )
        for endpoint_type in (1, 2, 3, 0, -1) if version >= ENDPOINTS else ():
            request = DescribeClusterRequest(
                include_cluster_authorized_operations=False, endpoint_type=endpoint_type
            )
            side.ask(f"endpoint type {endpoint_type}", request, version)
        if version >= FENCED:
            request = DescribeClusterRequest(
                include_cluster_authorized_operations=False, include_fenced_brokers=True
            )
            side.ask("fenced too", request, version)
            request.endpoint_type = 2
            side.ask("fenced controllers", request, version)
