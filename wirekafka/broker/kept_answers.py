"""Answers that are asked for again and again, kept as bytes while what they tell of is the same.

Held by `broker`, used by `handlers.metadata` and `handlers.api_versions`. Every client asks for metadata when
it starts and every few minutes, and a broker with thousands of topics takes long to write that down.

Source: ours; Kafka builds each answer anew from its MetadataCache.
"""

import sys
from collections.abc import Callable, Hashable

from wirekafka.protocol.connection import Built

_MOST_BYTES = 4 * 1024 * 1024
_AROUND_BYTES = 200
"""What an answer takes besides its body and what it is kept under."""


class KeptAnswers:
    """Bodies of answers by whatever decides what they say, besides the generation of the cluster's state."""

    def __init__(self, generation: Callable[[], Hashable]) -> None:
        self._generation_now = generation
        self._generation: Hashable = None
        self._answers: dict[Hashable, Built] = {}
        self._size_bytes = 0

    def find(self, key: Hashable) -> Built | None:
        """Give the answer kept under a key, if nothing has changed since."""
        generation = self._generation_now()
        if generation != self._generation:
            self._clear()
            self._generation = generation
        return self._answers.get(key)

    def keep(self, key: Hashable, body: bytes) -> Built:
        """Keep a body that was made since `find` was last asked for it, with nothing waited for."""
        size_bytes = _size_bytes(key) + len(body) + _AROUND_BYTES
        if self._size_bytes + size_bytes > _MOST_BYTES:
            self._clear()
        answer = Built((body,))
        if size_bytes <= _MOST_BYTES:
            self._answers[key] = answer
            self._size_bytes += size_bytes
        return answer

    def _clear(self) -> None:
        self._answers.clear()
        self._size_bytes = 0


def _size_bytes(key: Hashable) -> int:
    """What a key takes: a client says what is in it, and may say much to be told little."""
    within = sum(_size_bytes(part) for part in key) if isinstance(key, tuple) else 0
    return sys.getsizeof(key) + within
