"""The topics that the members of a classic consumer group subscribe to.

Called by `classic.group`. The broker needs them for one thing: not to expire offsets that are in use.

Source: Kafka's ClassicGroup.computeSubscribedTopics; KIP-211.
"""

from collections.abc import Iterable

from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.stored.consumer_protocol import ConsumerProtocolSubscription

CONSUMER_PROTOCOL_TYPE = "consumer"

_VERSION_BYTES = 2


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """Gather the topics of all members; None when one member's metadata cannot be read.

    Version 0 is the beginning of every version, so it is what is read, and what follows is left.
    """
    codec = codec_for(ConsumerProtocolSubscription, 0)
    topics: set[str] = set()
    for one in metadata:
        try:
            subscription, _ = codec.parse_from(one, _VERSION_BYTES)
        except MalformedMessage:
            return None
        topics.update(subscription.topics)
    return frozenset(topics)
