"""unpacking: what is done in a thread, and what stays of it."""

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
import trio

from tests.broker.support import WAIT_SECONDS
from wirekafka.broker.unpacking import run_unpacking
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


class Unpacked(bytearray):
    """Megabytes, that can be watched."""


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Only what nobody refers to goes."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def test_the_value_comes_back_from_another_thread() -> None:
    assert await run_unpacking(threading.current_thread) is not threading.current_thread()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("kind", [KafkaError, OSError])
async def test_what_a_refused_batch_was_unpacked_to_goes_at_once(kind: type[KafkaError | OSError]) -> None:
    """A client that sends bombs, one after the other, must not fill the memory with what is left of them."""
    seen: list[weakref.ref[Unpacked]] = []

    def unpack() -> None:
        unpacked = Unpacked(100)
        seen.append(weakref.ref(unpacked))
        try:
            unpacked.index(b"end")
        except ValueError as error:
            if kind is OSError:
                raise OSError(5, "Input/output error") from error
            raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, "It is too large.") from error

    async def is_refused(request: Unpacked) -> bool:
        seen.append(weakref.ref(request))
        try:
            await run_unpacking(unpack)
        except kind:
            return True
        return False

    assert [await is_refused(Unpacked(10)) for _ in range(3)] == [True] * 3
    with trio.move_on_after(WAIT_SECONDS):  # the thread may not have put the last outcome down yet
        while any(reference() is not None for reference in seen):
            await trio.lowlevel.checkpoint()
    assert [reference() for reference in seen] == [None] * 6
