"""Requests and answers as the codec writes them, and where two of them begin to differ.

Called by `alike.produce` and `alike.fetch`, which find out so where the fields are that change.

Source: ours.
"""

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.connection import ReceivedRequest, response_parts
from wirekafka.protocol.framing import LENGTH_BYTES
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message


def request_frame(request: ReceivedRequest) -> bytes:
    """The request as it is sent, with its length in front."""
    header = RequestHeader(
        request_api_key=request.api.key,
        request_api_version=request.version,
        correlation_id=request.correlation_id,
        client_id=request.client_id,
    )
    header_codec = codec_for(RequestHeader, 2 if request.api.is_flexible(request.version) else 1)
    assert request.message is not None
    body = header_codec.build(header) + codec_for(request.api.request, request.version).build(request.message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def response_frame(request: ReceivedRequest, response: Message) -> bytes:
    """The answer to it, which holds no slice of a file."""
    parts = response_parts(request, response)
    return b"".join(part for part in parts if isinstance(part, bytes | bytearray))


def first_difference(one: bytes, other: bytes, start: int = 0) -> int:
    """Where the two have not the same byte, for the first time from `start` on."""
    return next(at for at in range(start, len(one)) if one[at] != other[at])
