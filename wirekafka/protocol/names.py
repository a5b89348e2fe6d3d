"""Messages by Kafka's own names: what `decode` and `encode` look up.

For people and for witnesses from outside; the broker itself uses the classes.
"""

import inspect
from types import ModuleType

from wirekafka.protocol import headers
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.message import Message
from wirekafka.protocol.stored import cluster_metadata, consumer_groups, consumer_offsets, consumer_protocol


def _messages_of(module: ModuleType) -> dict[str, type[Message]]:
    return {
        name: cls
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and issubclass(cls, Message) and cls is not Message and cls.is_whole()
    }


MESSAGES: dict[str, type[Message]] = {
    cls.__name__: cls for api in APIS.values() for cls in (api.request, api.response)
}
for _module in (headers, consumer_protocol, consumer_offsets, consumer_groups, cluster_metadata):
    MESSAGES |= _messages_of(_module)


def supported(name: str) -> range | None:
    """The versions of the message that can be coded; None for a name that is not known."""
    cls = MESSAGES.get(name)
    return None if cls is None else cls.versions.as_range()


def decode(name: str, version: int, data: bytes) -> Message:
    """Read a message by Kafka's name for it.

    Coordinator keys and values are the body behind their int16. Raises MalformedMessage, a
    ValueError, unless `data` is one whole message; KeyError for a name that is not known.
    """
    return codec_for(MESSAGES[name], version).parse(memoryview(data))


def encode(message: Message, version: int) -> bytes:
    """Write a message at a version. Raises MalformedMessage for a value that has no byte form."""
    return codec_for(type(message), version).build(message)
