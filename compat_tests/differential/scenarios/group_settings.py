"""What a group's own settings do to its members: heartbeats, sessions, and when a new assignment is made.

Called by `run`. Source: KIP-848 (group configs); GroupConfig of Apache Kafka 4.4 (assignment interval).
"""

from __future__ import annotations

from typing import Any

from compat_tests.differential.consumer_groups import (
    ConsumerGroup,
    create_topic_for_groups,
)
from compat_tests.differential.groups import await_groups
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)

GROUP_RESOURCE, SET, DELETE = 32, 0, 1
DYNAMIC_GROUP = 8
"""Where a setting of the group's own comes from."""


def group_settings(side: Side) -> None:
    """Change a group's settings before and while it has members."""
    await_groups(side)
    topic = create_topic_for_groups(side, "settings", 2)
    group = ConsumerGroup(side, "settings", 1)
    _set(side, group.name, "consumer.heartbeat.interval.ms", "7000")
    first, second = group.member("m-a"), group.member("m-b")
    first.join("first joins", topic.name)
    _set(side, group.name, "consumer.heartbeat.interval.ms", "8000")
    first.beat("first beats after a change")
    _set(side, group.name, "consumer.heartbeat.interval.ms", None)
    first.beat("first beats when it is deleted")
    _set(side, group.name, "consumer.session.timeout.ms", "50000")
    first.beat("first beats with another session")
    _set(side, group.name, "consumer.assignment.interval.ms", "15000")
    second.join("second joins too soon for a new assignment", topic.name)
    group.describe("describe while it waits")
    first.beat("first beats while it waits")
    second.beat("second beats while it waits")
    _set(side, group.name, "consumer.assignment.interval.ms", "0")
    second.beat("second beats when it need not wait")
    first.beat("first beats when it need not wait")
    first.report("first has given up")
    second.beat("second gets its part")
    group.describe("describe when it need not wait")


def _set(side: Side, group: str, name: str, value: str | None) -> None:
    """Set or delete a setting, and wait until the broker has it."""
    operation = DELETE if value is None else SET
    entry = IncrementalAlterConfigsEntry(name=name, config_operation=operation, value=value)
    resource = IncrementalAlterConfigsResource(
        resource_type=GROUP_RESOURCE, resource_name=group, configs=[entry]
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    side.arrange_until(request, 1, lambda answer: answer.responses[0].error_code == 0)
    wanted = DescribeConfigsResource(
        resource_type=GROUP_RESOURCE, resource_name=group, configuration_keys=[name]
    )

    # Any: a DescribeConfigsResponse.
    def has_it(answer: Any) -> bool:
        (found,) = answer.results[0].configs
        return bool(found.config_source != DYNAMIC_GROUP if value is None else found.value == value)

    side.arrange_until(DescribeConfigsRequest(resources=[wanted]), 4, has_it)
