"""The server's side of one connection, without any input or output.

Bytes go in, requests come out; a response goes in, the parts of its frame come out. Called by
`server.connection`, which alone touches the socket.

Source: the Kafka protocol guide, "Common Request and Response Structure"; KIP-511 for ApiVersions.
"""

import struct
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS
from wirekafka.protocol.codec import Codec, codec_for
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.framing import FrameBuffer
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message

_KEY_AND_VERSION = struct.Struct(">hh")
_LENGTH_AND_CORRELATION = struct.Struct(">ii")


@dataclass(slots=True)
class ReceivedRequest:
    """One request, parsed. Record data in it is a view, valid until the request is answered."""

    api: Api[Any, Any]
    version: int
    correlation_id: int
    client_id: str | None
    message: Message | None
    """None for an ApiVersions request of a version that nobody here can read (KIP-511)."""

    @property
    def response_version(self) -> int:
        return 0 if self.message is None else self.version


class Built(NamedTuple):
    """The body of an answer that is bytes, and slices of files, already: in the version that was asked in."""

    parts: Sequence[Sized]


class ServerConnection:
    """Frames, headers and codecs of one connection."""

    __slots__ = ("frames",)

    def __init__(self, max_request_bytes: int) -> None:
        self.frames = FrameBuffer(max_request_bytes)

    def next_request(self) -> ReceivedRequest | None:
        """Take the next whole request; None until more bytes came.

        Raises MalformedMessage for what ends the connection: a length no request has, an unknown
        key or version, a body that does not parse.
        """
        frame = self.frames.next_frame()
        return None if frame is None else parse_request(frame)


class _Form(NamedTuple):
    """How requests of one key and version are read, and how their answers are written."""

    api: Api[Any, Any]
    header: Codec[RequestHeader]
    request: Codec[Any]
    response: Codec[Any]
    response_start: bytes
    """Room for length and correlation id; behind it the empty tagged section of response header v1."""


@cache
def _form(key: int, version: int) -> _Form:
    """Look a key and version up. Raises MalformedMessage when they are not served."""
    api = APIS.get(key)
    if api is None:
        raise MalformedMessage(f"request key {key} (version {version}) is not known here")
    if version not in api.versions:
        raise MalformedMessage(f"{api.name} v{version} is not served (v{_spoken(api)} are)")
    flexible = api.is_flexible(version)
    start = bytes(_LENGTH_AND_CORRELATION.size)
    if flexible and api is not API_VERSIONS:
        start += b"\0"
    return _Form(
        api,
        codec_for(RequestHeader, 2 if flexible else 1),
        codec_for(api.request, version),
        codec_for(api.response, version),
        start,
    )


def parse_request(frame: memoryview) -> ReceivedRequest:
    """Read header and body of one frame. Raises MalformedMessage."""
    if len(frame) < _KEY_AND_VERSION.size:
        raise MalformedMessage(f"a request of {len(frame)} bytes has no header")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    if key == API_VERSIONS.key and version not in API_VERSIONS.versions:
        header, _ = codec_for(RequestHeader, 1).parse_from(frame, 0)
        return ReceivedRequest(API_VERSIONS, version, header.correlation_id, header.client_id, None)
    form = _form(key, version)
    header, position = form.header.parse_from(frame, 0)
    # What lies behind a request is passed over, as Kafka does: librdkafka 2.16 asks for all topics with
    # a null array of four bytes where the compact form has one.
    message, _ = form.request.parse_first(frame[position:])
    return ReceivedRequest(form.api, version, header.correlation_id, header.client_id, message)


def response_parts(request: ReceivedRequest, response: Message | Built) -> Sequence[Sized]:
    """The frame that answers `request`: buffers, and slices of files, in the order to be sent."""
    form = _form(request.api.key, request.response_version)
    first = bytearray(form.response_start)
    parts: list[Any]
    if isinstance(response, Built):
        parts = [first, *response.parts]
    else:
        parts = []
        parts.append(form.response.build_into(response, first, parts))
    length = sum(map(len, parts)) - 4
    _LENGTH_AND_CORRELATION.pack_into(first, 0, length, request.correlation_id)
    return parts


def _spoken(api: Api[Any, Any]) -> str:
    return f"{api.versions.oldest}-{api.versions.newest}"
