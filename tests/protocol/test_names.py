"""Tests of protocol/names.py."""

import pytest

from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.names import MESSAGES, decode, encode, supported

HEARTBEAT_V0 = bytes.fromhex("0001 67  00000005  0001 6d")


def test_every_request_and_response_has_its_name() -> None:
    """What ApiVersions lists can be decoded by name."""
    names = {cls.__name__ for api in APIS.values() for cls in (api.request, api.response)}

    assert names <= MESSAGES.keys()


@pytest.mark.parametrize(
    "name",
    ["RequestHeader", "ResponseHeader", "ConsumerProtocolSubscription", "OffsetCommitValue", "TopicRecord"],
)
def test_headers_and_stored_messages_have_names_too(name: str) -> None:
    """Tools read what is stored by the same call."""
    assert supported(name) is not None


def test_names_are_the_classes_own_and_parts_have_none() -> None:
    """Only whole messages are spoken of by name."""
    assert all(cls.__name__ == name and cls.is_whole() for name, cls in MESSAGES.items())


def test_supported_gives_the_range_of_versions() -> None:
    """First and last that can be coded."""
    assert supported("HeartbeatRequest") == range(5)


def test_supported_is_none_for_a_name_nobody_knows() -> None:
    """Asking is no error."""
    assert supported("HartbeatRequest") is None


def test_decode_reads_by_name_and_encode_writes_back() -> None:
    """The pair is what witnesses from outside use."""
    value = decode("HeartbeatRequest", 0, HEARTBEAT_V0)

    assert value == HeartbeatRequest(group_id="g", generation_id=5, member_id="m")
    assert encode(value, 0) == HEARTBEAT_V0


def test_decode_of_a_cut_message_is_a_value_error() -> None:
    """MalformedMessage is one, so a caller needs no name of ours."""
    with pytest.raises(ValueError, match="HeartbeatRequest v0"):
        decode("HeartbeatRequest", 0, HEARTBEAT_V0[:-1])


def test_decode_of_a_version_nobody_has_is_malformed() -> None:
    """The range is checked before the bytes are looked at."""
    with pytest.raises(MalformedMessage, match="has no version 9"):
        decode("HeartbeatRequest", 9, HEARTBEAT_V0)


def test_decode_of_an_unknown_name_is_a_key_error() -> None:
    """A misspelt name is the caller's fault, not the bytes'."""
    with pytest.raises(KeyError):
        decode("HartbeatRequest", 0, HEARTBEAT_V0)
