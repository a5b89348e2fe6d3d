"""Tests of protocol/headers.py."""

import pytest

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.headers import RequestHeader, ResponseHeader

HEADER = RequestHeader(request_api_key=3, request_api_version=9, correlation_id=7, client_id="me")


@pytest.mark.parametrize(("version", "tail"), [(1, ""), (2, "00")])
def test_request_header_keeps_the_old_form_of_the_client_id(version: int, tail: str) -> None:
    """v2 ends in tagged fields, yet its client id has an int16 length (KIP-482)."""
    assert (
        codec_for(RequestHeader, version).build(HEADER).hex(" ")
        == f"00 03 00 09 00 00 00 07 00 02 6d 65 {tail}".strip()
    )


def test_client_id_may_be_null() -> None:
    """Clients need not say who they are."""
    data = bytes.fromhex("0012 0000 00000001 ffff")

    assert codec_for(RequestHeader, 1).parse(data).client_id is None


@pytest.mark.parametrize(("version", "data"), [(0, "00000007"), (1, "0000000700")])
def test_response_header_is_the_correlation_id(version: int, data: str) -> None:
    """v1 adds tagged fields."""
    assert codec_for(ResponseHeader, version).build(ResponseHeader(correlation_id=7)).hex() == data
