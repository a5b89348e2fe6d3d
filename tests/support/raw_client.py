"""A blocking client that sends any message at any version, or any bytes, and shows what comes back.

It is the tests' own: no retry, no metadata, no opinion.
"""

import socket
import struct
from types import TracebackType
from typing import Any

from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.headers import RequestHeader, ResponseHeader
from wirekafka.protocol.message import Message

_API_OF_REQUEST: dict[type[Message], Api[Any, Any]] = {api.request: api for api in APIS.values()}
TIMEOUT_SECONDS = 10.0


def request_frame(
    message: Message, version: int, *, correlation_id: int = 7, client_id: str | None = "raw"
) -> bytes:
    """A request as it goes over the wire, with its length in front."""
    api = _API_OF_REQUEST[type(message)]
    header = RequestHeader(
        request_api_key=api.key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_version = 2 if api.is_flexible(version) else 1
    body = codec_for(RequestHeader, header_version).build(header) + codec_for(api.request, version).build(
        message
    )
    return framed(body)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def parse_response(api: Api[Any, Any], version: int, frame: bytes) -> tuple[int, Any]:
    """The correlation id and the message of a response frame without its length."""
    flexible = api is not API_VERSIONS and api.is_flexible(version)
    header, position = codec_for(ResponseHeader, 1 if flexible else 0).parse_from(frame, 0)
    return header.correlation_id, codec_for(api.response, version).parse(frame[position:])


class RawClient:
    """One connection. Used as a context manager."""

    def __init__(self, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def ask(self, message: Message, version: int, *, client_id: str | None = "raw") -> Any:
        """Send a request and give the response message. Any: its type follows from the request's."""
        self.send(request_frame(message, version, client_id=client_id))
        correlation_id, response = parse_response(
            _API_OF_REQUEST[type(message)], version, self.receive_frame()
        )
        assert correlation_id == 7
        return response

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive_frame(self) -> bytes:
        """The next frame, without its length. Raises ConnectionError when the broker hangs up."""
        return self._exactly(struct.unpack(">i", self._exactly(4))[0])

    def hung_up(self) -> bool:
        """Whether the broker closes the connection without a further byte (waits for it)."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise ConnectionError(f"closed after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)
