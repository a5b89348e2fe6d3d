"""Bytes to messages and back, without any input or output.

`supported`, `decode` and `encode` speak of messages by Kafka's own names; the names below them are
what the other rooms use. A message's class is in `apis` (requests and responses) or `stored`
(records of internal topics). `names`, which knows them all, is imported when one of the three is
first asked for: the broker itself does without.
"""

from typing import TYPE_CHECKING

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage

if TYPE_CHECKING:
    from wirekafka.protocol.names import decode, encode, supported

__all__ = ["ErrorCode", "KafkaError", "MalformedMessage", "codec_for", "decode", "encode", "supported"]


def __getattr__(name: str) -> object:
    """Import what speaks by Kafka's names."""
    if name not in ("decode", "encode", "supported"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from wirekafka.protocol import names

    found: object = getattr(names, name)
    return found
