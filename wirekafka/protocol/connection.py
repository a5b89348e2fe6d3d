"""The server's side of one connection, without any input or output.

Bytes go in, requests come out; a response goes in, the parts of its frame come out. Called by
`server.connection`, which alone touches the socket.

Source: the Kafka protocol guide, "Common Request and Response Structure"; KIP-511 for ApiVersions.
"""

import struct
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any

from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS
from wirekafka.protocol.codec import codec_for
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


def parse_request(frame: memoryview) -> ReceivedRequest:
    """Read header and body of one frame. Raises MalformedMessage."""
    if len(frame) < _KEY_AND_VERSION.size:
        raise MalformedMessage(f"a request of {len(frame)} bytes has no header")
    key, version = _KEY_AND_VERSION.unpack_from(frame)
    api = APIS.get(key)
    if api is None:
        raise MalformedMessage(f"request key {key} (version {version}) is not known here")
    if version not in api.versions:
        if api is not API_VERSIONS:
            raise MalformedMessage(f"{api.name} v{version} is not served (v{_spoken(api)} are)")
        header, _ = codec_for(RequestHeader, 1).parse_from(frame, 0)
        return ReceivedRequest(api, version, header.correlation_id, header.client_id, None)
    header, position = codec_for(RequestHeader, 2 if api.is_flexible(version) else 1).parse_from(frame, 0)
    # What lies behind a request is passed over, as Kafka does: librdkafka 2.16 asks for all topics with
    # a null array of four bytes where the compact form has one.
    message, _ = codec_for(api.request, version).parse_first(frame[position:])
    return ReceivedRequest(api, version, header.correlation_id, header.client_id, message)


def response_parts(request: ReceivedRequest, response: Message) -> Sequence[Sized]:
    """The frame that answers `request`: buffers, and slices of files, in the order to be sent."""
    version = request.response_version
    out = bytearray(_LENGTH_AND_CORRELATION.size)
    if request.api is not API_VERSIONS and request.api.is_flexible(version):
        out.append(0)  # the empty tagged section of response header v1
    parts: list[Any] = []
    first = out
    last = codec_for(type(response), version).build_into(response, out, parts)
    parts.append(last)
    length = sum(map(len, parts)) - 4
    _LENGTH_AND_CORRELATION.pack_into(first, 0, length, request.correlation_id)
    return parts


def _spoken(api: Api[Any, Any]) -> str:
    return f"{api.versions.oldest}-{api.versions.newest}"
