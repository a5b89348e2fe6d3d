"""Requests that are as an earlier one of their connection, answered without being parsed where that is plain.

`server.connection` asks for `answers` before it takes the next request, and shows each request that was
answered the usual way. Which kind the one at hand is, its key tells.

Source: ours.
"""

from collections.abc import Sequence, Sized

from wirekafka.handlers.context import ClientConnection
from wirekafka.handlers.repeated_fetch import RepeatedFetch, Waiting
from wirekafka.handlers.repeated_produce import RepeatedProduce
from wirekafka.protocol.apis.fetch import FETCH
from wirekafka.protocol.apis.produce import PRODUCE
from wirekafka.protocol.connection import ReceivedRequest
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.framing import LENGTH_BYTES, FrameBuffer

_KEY_BYTES = 2
_PRODUCE, _FETCH = (api.key.to_bytes(_KEY_BYTES, "big") for api in (PRODUCE, FETCH))
_NOTHING: tuple[int, Sequence[Sized]] = (0, ())


class Repeated:
    """What one connection has said so far, and the answers to more of it."""

    __slots__ = ("_fetch", "_produce")

    def __init__(self, client: ClientConnection) -> None:
        self._produce = RepeatedProduce(client)
        self._fetch = RepeatedFetch(client)

    def answers(self, frames: FrameBuffer) -> tuple[int, Sequence[Sized] | Waiting]:
        """Take requests at hand that are alike and plain; give how many, and the frames that answer them.

        One that has to wait is given alone, and is answered as its kind is.

        Raises CloseConnection for a failed write of what is not answered. When anything else is raised
        nothing is taken, and `answers_after` is to be called.
        """
        view, start, end = frames.unread()
        key = bytes(view[start + LENGTH_BYTES : min(start + LENGTH_BYTES + _KEY_BYTES, end)])
        if key == _PRODUCE:
            count, answers = self._produce.answers(frames)
            return (count, (answers,)) if count else _NOTHING
        if key == _FETCH and (parts := self._fetch.answer(frames)) is not None:
            return 1, parts
        return _NOTHING

    def answers_after(self, error: KafkaError, frames: FrameBuffer) -> tuple[int, Sequence[Sized]]:
        """Give what `answers` would have given, had it not failed; the error, where batches were begun with.

        None, when all can go the usual way. Raises CloseConnection where no answer is awaited.
        """
        count, answers = self._produce.answers_after(error, frames)
        return (count, (answers,)) if count else _NOTHING

    def learn(self, request: ReceivedRequest) -> None:
        """Know the likes of a request that was answered the usual way, if they can be answered here."""
        if request.api is PRODUCE:
            self._produce.learn(request)
        elif request.api is FETCH:
            self._fetch.learn(request)
