"""The requests of settings over TCP, held against Kafka 4.4; the rules are tested in tests/metadata."""

from typing import Any

import pytest

from tests.handlers.support import batch, new_topic, produce
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.alter_configs import (
    AlterConfigsEntry,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from wirekafka.protocol.apis.incremental_alter_configs import (
    IncrementalAlterConfigsEntry,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from wirekafka.protocol.error_codes import ErrorCode

every_form = pytest.mark.parametrize("version", [1, 2, 3, 4])
TOPIC, BROKER, LOGGER, GROUP = 2, 4, 8, 32
OF_TOPIC, OF_DEFAULTS = 1, 5
SET, DELETE, APPEND = range(3)


def describe(raw: RawClient, version: int, *resources: tuple[int, str, list[str] | None], **more: Any) -> Any:
    asked = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for kind, name, keys in resources
    ]
    return raw.ask(DescribeConfigsRequest(resources=asked, **more), version).results


@every_form
def test_settings_are_told_with_their_source(raw: RawClient, version: int) -> None:
    """Only the settings asked for; the message of success is empty, not null."""
    name, _ = new_topic(raw, retention_ms="12345")

    [result] = describe(raw, version, (TOPIC, name, ["retention.ms", "segment.bytes"]))

    assert (result.error_code, result.error_message, result.resource_name) == (0, "", name)
    told = {one.name: (one.value, one.config_source, one.read_only) for one in result.configs}
    assert told == {
        "retention.ms": ("12345", OF_TOPIC, False),
        "segment.bytes": ("1073741824", OF_DEFAULTS, False),
    }
    assert all(one.synonyms == [] for one in result.configs)


@every_form
def test_synonyms_and_documentation_on_request(raw: RawClient, version: int) -> None:
    """KIP-226; documentation and types since v3, KIP-569."""
    name, _ = new_topic(raw, cleanup_policy="compact")
    documentation = {"include_documentation": True} if version >= 3 else {}

    [result] = describe(
        raw, version, (TOPIC, name, ["cleanup.policy"]), include_synonyms=True, **documentation
    )

    [setting] = result.configs
    assert [(one.name, one.source) for one in setting.synonyms] == [
        ("cleanup.policy", OF_TOPIC),
        ("log.cleanup.policy", OF_DEFAULTS),
    ]
    assert bool(setting.documentation) is (version >= 3)
    assert (setting.config_type != 0) is (version >= 3)


@every_form
def test_every_setting_without_keys(raw: RawClient, version: int) -> None:
    name, _ = new_topic(raw)

    [result] = describe(raw, version, (TOPIC, name, None))

    assert {"cleanup.policy", "min.insync.replicas"} <= {one.name for one in result.configs}


@every_form
@pytest.mark.parametrize(
    ("resource", "code"),
    [
        ((TOPIC, "nowhere", None), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ((TOPIC, "a b", None), ErrorCode.INVALID_TOPIC_EXCEPTION),
        ((BROKER, "7", None), ErrorCode.INVALID_REQUEST),
        ((BROKER, "x", None), ErrorCode.INVALID_REQUEST),
        ((LOGGER, "7", None), ErrorCode.INVALID_REQUEST),
        ((GROUP, "", None), ErrorCode.INVALID_REQUEST),
    ],
)
def test_each_resource_has_its_own_answer(
    raw: RawClient, version: int, resource: tuple[int, str, None], code: ErrorCode
) -> None:
    name, _ = new_topic(raw)

    refused, told = describe(raw, version, resource, (TOPIC, name, ["retention.ms"]))

    assert (refused.error_code, refused.configs) == (code, [])
    assert (refused.resource_type, refused.resource_name) == resource[:2]
    assert refused.error_message
    assert (told.error_code, len(told.configs)) == (0, 1)


@every_form
def test_unknown_kind_of_resource_refuses_the_whole(raw: RawClient, version: int) -> None:
    name, _ = new_topic(raw)

    results = describe(raw, version, (99, "x", None), (TOPIC, name, None))

    assert [one.error_code for one in results] == [ErrorCode.INVALID_REQUEST] * 2


@every_form
def test_broker_and_group_are_described(raw: RawClient, version: int) -> None:
    broker, default, group = describe(
        raw, version, (BROKER, "1", ["node.id"]), (BROKER, "", None), (GROUP, "g", None)
    )

    assert [(one.name, one.value) for one in broker.configs] == [("node.id", "1")]
    assert (default.error_code, default.configs) == (0, [])
    assert group.configs


@every_form
def test_no_resources(raw: RawClient, version: int) -> None:
    assert describe(raw, version) == []


def replace(raw: RawClient, version: int, kind: int, name: str, **configs: str) -> Any:
    entries = [AlterConfigsEntry(name=k.replace("_", "."), value=v) for k, v in configs.items()]
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=entries)
    [answer] = raw.ask(AlterConfigsRequest(resources=[resource], validate_only=False), version).responses
    return answer


def change(
    raw: RawClient, version: int, kind: int, name: str, *operations: tuple[str, int, str | None]
) -> Any:
    entries = [
        IncrementalAlterConfigsEntry(name=config, config_operation=operation, value=value)
        for config, operation, value in operations
    ]
    resource = IncrementalAlterConfigsResource(resource_type=kind, resource_name=name, configs=entries)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    [answer] = raw.ask(request, version).responses
    return answer


def value_of(raw: RawClient, kind: int, name: str, config: str) -> tuple[str, int]:
    [result] = describe(raw, 4, (kind, name, [config]))
    [setting] = result.configs
    return setting.value, setting.config_source


@pytest.mark.parametrize("version", [0, 1, 2])
def test_settings_are_replaced(raw: RawClient, version: int) -> None:
    """AlterConfigs: what is not named goes back to its default."""
    name, _ = new_topic(raw, retention_ms="5")

    answer = replace(raw, version, TOPIC, name, segment_ms="7")

    assert (answer.error_code, answer.error_message) == (0, None)
    assert (answer.resource_type, answer.resource_name) == (TOPIC, name)
    assert value_of(raw, TOPIC, name, "segment.ms") == ("7", OF_TOPIC)
    assert value_of(raw, TOPIC, name, "retention.ms") == ("604800000", OF_DEFAULTS)


@pytest.mark.parametrize("version", [0, 1])
def test_settings_are_changed_one_by_one(raw: RawClient, version: int) -> None:
    """IncrementalAlterConfigs: what is not named stays."""
    name, _ = new_topic(raw, retention_ms="5", segment_ms="6")

    answer = change(
        raw, version, TOPIC, name, ("cleanup.policy", APPEND, "compact"), ("segment.ms", DELETE, None)
    )

    assert (answer.error_code, answer.error_message) == (0, None)
    assert (answer.resource_type, answer.resource_name) == (TOPIC, name)
    told = {config: value_of(raw, TOPIC, name, config)[0] for config in ("retention.ms", "cleanup.policy")}
    assert told == {"retention.ms": "5", "cleanup.policy": "delete,compact"}
    assert value_of(raw, TOPIC, name, "segment.ms") == ("604800000", OF_DEFAULTS)


def test_refused_change_says_why(raw: RawClient) -> None:
    """In every version of both requests; the rules are tested in tests/metadata."""
    answers = [replace(raw, version, TOPIC, "nowhere", retention_ms="5") for version in (0, 1, 2)]
    answers += [change(raw, version, TOPIC, "nowhere", ("retention.ms", SET, "5")) for version in (0, 1)]

    assert {answer.error_code for answer in answers} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert all("nowhere" in answer.error_message for answer in answers)


def test_changed_limit_holds_for_the_next_request(raw: RawClient) -> None:
    """The log goes by the new setting at once, the topic's or the broker's."""
    topic = new_topic(raw)
    large = batch(value=b"v" * 1000)
    codes = [produce(raw, topic, large).error_code]
    for resource, config in (((TOPIC, topic[0]), "max.message.bytes"), ((BROKER, ""), "message.max.bytes")):
        for operation, value in ((SET, "500"), (DELETE, None)):
            change(raw, 1, *resource, (config, operation, value))
            codes.append(produce(raw, topic, large).error_code)

    too_large = ErrorCode.MESSAGE_TOO_LARGE
    assert codes == [0, too_large, 0, too_large, 0]
