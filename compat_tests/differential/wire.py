"""One connection that sends any message at any version, or any bytes, and shows what comes back.

No retry, no metadata, no opinion. Called by `side`; calls the wire layer for the forms of messages.
Source: the Kafka protocol guide, sections "Network" and "Protocol Primitive Types".
"""

from __future__ import annotations

import enum
import socket
import struct
from typing import Any

from wirekafka.protocol import MalformedMessage, codec_for
from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS
from wirekafka.protocol.headers import RequestHeader, ResponseHeader
from wirekafka.protocol.message import Message

TIMEOUT_SECONDS = 20.0
CORRELATION_ID = 7
# Any: the table holds the Api of every pair of message types.
API_OF_REQUEST: dict[type[Message], Api[Any, Any]] = {api.request: api for api in APIS.values()}


class Silence(enum.Enum):
    """What a broker does instead of answering."""

    CLOSED = "closes the connection"
    NO_ANSWER = "does not answer"


class Connection:
    """A blocking socket to one broker. Used as a context manager."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self._socket.close()

    def exchange(self, frame: bytes, patience_seconds: float = TIMEOUT_SECONDS) -> bytes | Silence:
        """Send a frame with its length, and give the next frame without its length."""
        self._socket.settimeout(patience_seconds)
        try:
            self._socket.sendall(frame)
            return self.receive(patience_seconds)
        except TimeoutError:
            return Silence.NO_ANSWER
        except ConnectionError:
            return Silence.CLOSED

    def send(self, frame: bytes) -> None:
        """Send a frame with its length, and do not wait for its answer."""
        self._socket.sendall(frame)

    def receive(self, patience_seconds: float = TIMEOUT_SECONDS) -> bytes | Silence:
        """Give the next frame without its length."""
        self._socket.settimeout(patience_seconds)
        try:
            (length,) = struct.unpack(">i", self._exactly(4))
            return self._exactly(length)
        except TimeoutError:
            return Silence.NO_ANSWER
        except ConnectionError:
            return Silence.CLOSED

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise ConnectionResetError(f"closed after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def request_body(
    message: Message, version: int, client_id: str | None = "raw", correlation_id: int = CORRELATION_ID
) -> bytes:
    """A request, header and all, without the length in front."""
    api = API_OF_REQUEST[type(message)]
    header = RequestHeader(
        request_api_key=api.key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_version = 2 if api.is_flexible(version) else 1
    body = codec_for(api.request, version).build(message)
    return codec_for(RequestHeader, header_version).build(header) + body


def header_only(api_key: int, version: int) -> bytes:
    """A request header v1 for a key and version that need not exist."""
    return struct.pack(">hhih", api_key, version, CORRELATION_ID, 3) + b"raw"


class Unreadable(Exception):
    """An answer that is not what its API and version say."""


# Any: the response's type follows from the request's.
def read_answer(api: Api[Any, Any], version: int, frame: bytes) -> Any:
    """Give the message of a response frame.

    It must come back with our correlation id, and written again it must give the same bytes: so a
    default sent as a tagged field, an unknown tag or a null in another form is seen. Raises Unreadable.
    """
    flexible = api is not API_VERSIONS and api.is_flexible(version)
    try:
        header, position = codec_for(ResponseHeader, 1 if flexible else 0).parse_from(frame, 0)
        answer = codec_for(api.response, version).parse(frame[position:])
        again = codec_for(api.response, version).build(answer)
    except MalformedMessage as error:
        raise Unreadable(f"{error}: {frame.hex()}") from error
    if header.correlation_id != CORRELATION_ID:
        raise Unreadable(f"correlation id {header.correlation_id}")
    if again != frame[position:]:
        raise Unreadable(f"not the form we know: {frame[position:].hex()} is {again.hex()} for us")
    return answer
