"""Bytes to messages and back, without any input or output.

`supported`, `decode` and `encode` speak of messages by Kafka's own names; the names below them are
what the other rooms use. A message's class is in `apis` (requests and responses) or `stored`
(records of internal topics).
"""

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage
from wirekafka.protocol.names import decode, encode, supported

__all__ = ["ErrorCode", "KafkaError", "MalformedMessage", "codec_for", "decode", "encode", "supported"]
