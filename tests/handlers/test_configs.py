"""DescribeConfigs over TCP, held against Kafka 4.4; the rules are tested in tests/metadata."""

from typing import Any

import pytest

from tests.handlers.support import new_topic
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from wirekafka.protocol.error_codes import ErrorCode

every_form = pytest.mark.parametrize("version", [1, 2, 3, 4])
TOPIC, BROKER, LOGGER, GROUP = 2, 4, 8, 32
OF_TOPIC, OF_DEFAULTS = 1, 5


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
