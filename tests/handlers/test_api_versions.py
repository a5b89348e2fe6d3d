"""ApiVersions over TCP, held against Kafka 4.4."""

import dataclasses
from typing import Any

import pytest

from tests.handlers.support import new_topic
from tests.support.raw_client import RawClient
from wirekafka.handlers import ADVERTISED, HANDLERS
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import RunningBroker

every_form = pytest.mark.parametrize("version", range(6))
with_software = pytest.mark.parametrize("version", [3, 4, 5])


def ask(raw: RawClient, version: int, **more: Any) -> Any:
    software = {"client_software_name": "tests", "client_software_version": "1.0"}
    return raw.ask(ApiVersionsRequest(**{**software, **more}), version)


@every_form
def test_what_has_a_handler_is_advertised(raw: RawClient, version: int) -> None:
    answer = ask(raw, version)

    told = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
    assert answer.error_code == 0
    assert told == {key: (versions.oldest, versions.newest) for key, versions in ADVERTISED.items()}
    assert told[0] == (0, 13)


@every_form
def test_features_are_those_that_are_served(raw: RawClient, version: int) -> None:
    """KIP-584. Before v4 a feature that may be at level 0 is not told as supported (KAFKA-17492)."""
    answer = ask(raw, version)

    supported = [(one.name, one.min_version, one.max_version) for one in answer.supported_features]
    finalized = [
        (one.name, one.min_version_level, one.max_version_level) for one in answer.finalized_features
    ]
    if version < 3:
        assert (supported, finalized, answer.finalized_features_epoch) == ([], [], -1)
    else:
        assert supported == [("metadata.version", 7, 33), ("group.version", 0, 1)][: 1 + (version >= 4)]
        assert finalized == [("metadata.version", 33, 33), ("group.version", 1, 1)]
        assert answer.finalized_features_epoch >= 0


@with_software
@pytest.mark.parametrize("wrong", ["", " ", "-a", "a-", "a b", "a\n", "ä"])
@pytest.mark.parametrize("field", ["client_software_name", "client_software_version"])
def test_software_has_a_proper_name(raw: RawClient, version: int, field: str, wrong: str) -> None:
    """KIP-511."""
    answer = ask(raw, version, **{field: wrong})

    assert (answer.error_code, answer.api_keys) == (ErrorCode.INVALID_REQUEST, [])


@with_software
@pytest.mark.parametrize("fine", ["a", "kafka-python", "3.0.12", "a" * 300])
def test_usual_names_pass(raw: RawClient, version: int, fine: str) -> None:
    assert ask(raw, version, client_software_name=fine, client_software_version=fine).error_code == 0


def test_client_that_reached_whom_it_meant_is_served(raw: RawClient, broker: RunningBroker) -> None:
    """KIP-1242."""
    assert ask(raw, 5, cluster_id=broker.cluster_id, node_id=1).error_code == 0


@pytest.mark.parametrize("elsewhere", [{"cluster_id": "other"}, {"node_id": 5}, {"cluster_id": ""}])
def test_client_that_meant_another_broker_is_sent_away(
    raw: RawClient, broker: RunningBroker, elsewhere: dict[str, Any]
) -> None:
    answer = ask(raw, 5, **{"cluster_id": broker.cluster_id, "node_id": 1, **elsewhere})

    assert (answer.error_code, answer.api_keys) == (ErrorCode.REBOOTSTRAP_REQUIRED, [])


@pytest.mark.parametrize("half", [{"cluster_id": "x"}, {"node_id": 1}])
def test_cluster_and_node_are_named_together(raw: RawClient, half: dict[str, Any]) -> None:
    assert ask(raw, 5, **half).error_code == ErrorCode.INVALID_REQUEST


@every_form
def test_kept_answer_is_that_which_would_be_made(raw: RawClient, version: int) -> None:
    """The epoch of the features, which grows with every change, is told in the next answer."""
    before = [ask(raw, version) for _ in range(2)]
    new_topic(raw)

    after = [ask(raw, version) for _ in range(2)]

    keeping = HANDLERS[API_VERSIONS.key]
    HANDLERS[API_VERSIONS.key] = dataclasses.replace(keeping, at_once=None)
    try:
        made = ask(raw, version)
    finally:
        HANDLERS[API_VERSIONS.key] = keeping
    assert before[0] == before[1]
    assert after == [made, made]
    assert (before[0] == made) is (version < 3)
