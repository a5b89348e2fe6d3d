"""preparing: long work beside the event loop, a little at a time."""

import threading

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.broker.support import WAIT_SECONDS, batch
from wirekafka.broker import preparing
from wirekafka.broker.preparing import prepared
from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Codec, RecordBatch
from wirekafka.storage import Buffer, LogConfig

HERE = TopicPartition("t", 0)
GZIP = LogConfig(compression_type="gzip")


async def test_batch_is_packed_as_the_topic_has_it() -> None:
    ready = await prepared(memoryview(batch(5)), HERE, GZIP, now_ms=1)

    assert RecordBatch(ready).codec == Codec.GZIP


async def test_refusal_is_raised_where_it_is_waited_for() -> None:
    damaged = batch()
    damaged[-1] ^= 1

    with pytest.raises(KafkaError) as refusal:
        await prepared(damaged, HERE, GZIP, now_ms=1)
    assert refusal.value.code == ErrorCode.CORRUPT_MESSAGE


async def test_few_run_at_a_time_and_the_loop_goes_on(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may unpack megabytes: a hundred at once would be gigabytes."""
    gate, running, most = threading.Event(), [0], [0]
    count = threading.Lock()

    def slow(records: Buffer, *_: object, **__: object) -> Buffer:
        with count:
            running[0] += 1
            most[0] = max(most[0], running[0])
        assert gate.wait(WAIT_SECONDS)
        with count:
            running[0] -= 1
        return records

    monkeypatch.setattr(preparing, "prepare", slow)
    done: list[Buffer] = []

    async def prepare_one() -> None:
        done.append(await prepared(batch(), HERE, GZIP, now_ms=1))

    for _ in range(6):
        nursery.start_soon(prepare_one)
    await wait_all_tasks_blocked()
    gate.set()
    while len(done) < 6:
        await trio.lowlevel.checkpoint()

    assert most[0] <= 2
