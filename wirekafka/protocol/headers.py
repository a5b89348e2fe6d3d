"""What stands before every request and every response.

Request header v1 has the client id; v2 adds tagged fields but keeps the client id in its old form.
Response header v0 is the correlation id alone; v1 adds tagged fields. ApiVersions answers with v0
at every version, since its reader cannot know yet what the broker speaks (KIP-511).

Source: the Kafka protocol guide, section "Request and Response Headers"; KIP-482.
"""

from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.wire import INT16, INT32, NULLABLE_STRING


class RequestHeader(Message, versions="1-2", flexible="2+"):
    request_api_key: int = wire(INT16)
    request_api_version: int = wire(INT16)
    correlation_id: int = wire(INT32)
    client_id: str | None = wire(NULLABLE_STRING, flexible="none")


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    correlation_id: int = wire(INT32)
