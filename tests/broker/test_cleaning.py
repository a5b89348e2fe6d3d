"""cleaning: which logs are compacted, when, and what is remembered of it."""

import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from crc32c import crc32c

from tests.broker.support import broker_config, create_topic, delete_topic
from wirekafka.broker import Broker, BrokerConfig, open_broker
from wirekafka.broker.cleaning import _Pace
from wirekafka.broker.partition import Partition
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records import Record, build_batch, decode_records
from wirekafka.storage import PartitionLog, clean, cleanable

FEW_SETTINGS = {"log_cleaner_backoff_ms": "100"}
LARGE = b"v" * 200_000


@pytest.fixture
def resting(tmp_path: Path) -> BrokerConfig:
    """Of a broker that compacts nothing by itself."""
    return broker_config(tmp_path, log_cleaner_enable="false")


async def topic(broker: Broker, name: str = "t", **configs: str) -> Partition:
    await create_topic(broker, name, 1, cleanup_policy="compact", **configs)
    return broker.partitions.find(name, 0)


def put(broker: Broker, partition: Partition, key: str, value: bytes | None) -> None:
    now_ms = broker.clock.wall_ms()
    partition.append(build_batch([Record(key.encode(), value, now_ms)]), now_ms=now_ms)


def contents(log: PartitionLog) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(r.offset, r.key, r.value) for batch in log.batches(0) for r in decode_records(batch)]


def checkpoint(config: BrokerConfig) -> str:
    file = config.data_dir / "cleaner-offset-checkpoint"
    return file.read_text() if file.exists() else ""


class Rounds:
    """Looks on as the broker looks for what is due: what each round has found."""

    def __init__(self, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[list[Partition]] = []
        look = broker.cleaning._dirtiest

        def look_and_note() -> list[Partition]:
            self.found.append(look())
            return self.found[-1]

        monkeypatch.setattr(broker.cleaning, "_dirtiest", look_and_note)

    async def pass_over(self, partition: Partition) -> None:
        """Return when two more rounds have come, which leave a partition alone."""
        before = len(self.found)
        await until(lambda: len(self.found) >= before + 2)
        assert all(partition not in found for found in self.found[before:])


class Held:
    """A compaction that waits in its thread as soon as it has read something, if it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, waits: bool) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        if not waits:
            self.go_on.set()
        monkeypatch.setattr("wirekafka.broker.cleaning.clean", self._clean)

    def _clean(self, *args: Any, pace: Callable[[int], None], **named: Any) -> Any:
        def hold(size_bytes: int) -> None:
            if size_bytes:
                self.begun.set()
                assert self.go_on.wait(10)
            pace(size_bytes)

        return clean(*args, pace=hold, **named)


async def until(holds: Callable[[], Any]) -> None:
    with trio.fail_after(10):
        while not holds():
            await trio.sleep(0.02)


# --- when asked


async def test_compact_now_and_remember_how_far(resting: BrokerConfig) -> None:
    """The active segment is sealed first; the checkpoint is Kafka's."""
    async with open_broker(resting) as broker:
        partition = await topic(broker)
        for value in (b"1", b"2", b"3"):
            put(broker, partition, "a", value)
        put(broker, partition, "b", b"1")

        await broker.compact("t")

        assert contents(partition.log) == [(2, b"a", b"3"), (3, b"b", b"1")]
        assert checkpoint(resting) == "0\n1\nt 0 4\n"
        put(broker, partition, "b", b"2")
        await broker.compact("t")
        assert contents(partition.log) == [(2, b"a", b"3"), (4, b"b", b"2")]


async def test_all_partitions_of_a_topic(resting: BrokerConfig) -> None:
    """One after the other; other topics are left alone."""
    async with open_broker(resting) as broker:
        await create_topic(broker, "t", 3, cleanup_policy="compact")
        partitions = [broker.partitions.find("t", index) for index in range(3)]
        other = await topic(broker, "other")
        for partition in [*partitions, other]:
            put(broker, partition, "a", b"1")
            put(broker, partition, "a", b"2")

        await broker.compact("t")

        assert [len(contents(partition.log)) for partition in [*partitions, other]] == [1, 1, 1, 2]


async def test_tombstones_that_may_go_at_once_are_gone(resting: BrokerConfig) -> None:
    """With delete.retention.ms=0; else they stay for that long, with their horizon."""
    async with open_broker(resting) as broker:
        soon, late = await topic(broker, "soon", delete_retention_ms="0"), await topic(broker, "late")
        for partition in (soon, late):
            put(broker, partition, "a", b"1")
            put(broker, partition, "a", None)
            put(broker, partition, "b", b"1")

        await broker.compact("soon")
        await broker.compact("late")

        assert contents(soon.log) == [(2, b"b", b"1")]
        assert contents(late.log) == [(1, b"a", None), (2, b"b", b"1")]


async def test_several_passes_where_memory_is_short(tmp_path: Path) -> None:
    """Until all of it is compacted, however few keys there is room for."""
    config = broker_config(
        tmp_path,
        log_cleaner_enable="false",
        log_cleaner_dedupe_buffer_size=str(2 * 1024 * 1024),
        log_cleaner_io_buffer_load_factor="0.002",
    )
    async with open_broker(config) as broker:
        partition = await topic(broker)
        for _ in range(2):
            for key in range(60):
                put(broker, partition, str(key), b"v")

        await broker.compact("t")

        assert [offset for offset, _, _ in contents(partition.log)] == list(range(60, 120))
        assert checkpoint(config) == "0\n1\nt 0 120\n"


async def test_what_the_lag_protects_stays(resting: BrokerConfig) -> None:
    """min.compaction.lag.ms is a promise to consumers; asking for compaction does not break it."""
    async with open_broker(resting) as broker:
        partition = await topic(broker, min_compaction_lag_ms="100000")
        put(broker, partition, "a", b"1")
        put(broker, partition, "a", b"2")

        await broker.compact("t")

        assert len(contents(partition.log)) == 2


async def test_a_topic_that_is_not_compacted(resting: BrokerConfig) -> None:
    """Or is not there."""
    async with open_broker(resting) as broker:
        await create_topic(broker, "kept")

        with pytest.raises(KafkaError) as caught:
            await broker.compact("kept")
        assert caught.value.code is ErrorCode.POLICY_VIOLATION
        with pytest.raises(KafkaError) as caught:
            await broker.compact("nowhere")
        assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_a_damaged_batch_is_told_and_the_log_is_compacted_no_more(
    resting: BrokerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is lost by it; the place stands in the log."""
    async with open_broker(resting) as broker:
        partition = await topic(broker)
        put(broker, partition, "a", b"1")
        put(broker, partition, "a", b"2")
        partition.log.flush()
        file = resting.data_dir / "t-0" / f"{0:020d}.log"
        file.write_bytes(file.read_bytes()[:-2] + b"x\0")

        with pytest.raises(KafkaError) as caught:
            await broker.compact("t")

        assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
        assert f"of {0:020d}.log is not right" in caplog.text
        assert partition.log.log_end_offset == 2
        put(broker, partition, "b", b"1")


async def test_the_files_go_when_their_time_has_come(resting: BrokerConfig) -> None:
    """file.delete.delay.ms of the topic."""
    async with open_broker(resting) as broker:
        soon, late = await topic(broker, "soon", file_delete_delay_ms="0"), await topic(broker, "late")
        for partition in (soon, late):
            put(broker, partition, "a", b"1")
            put(broker, partition, "a", b"2")

        await broker.compact("soon")
        await broker.compact("late")

        await until(lambda: not list((resting.data_dir / "soon-0").glob("*.deleted")))
        assert list((resting.data_dir / "late-0").glob("*.deleted"))


async def test_a_topic_deleted_before_its_turn_is_passed_over(resting: BrokerConfig) -> None:
    """While somebody else had its log."""
    async with open_broker(resting) as broker, trio.open_nursery() as nursery:
        partition = await topic(broker)
        put(broker, partition, "a", b"1")

        async with broker.cleaning._claims.hold(partition.topic_partition):
            nursery.start_soon(broker.compact, "t")
            await trio.testing.wait_all_tasks_blocked()
            assert await delete_topic(broker, "t") == 0


async def test_a_compaction_gives_way_by_time_and_not_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a millisecond: most batches of an internal topic have one record, and giving way costs as much."""
    given_way: list[float] = []
    monkeypatch.setattr("wirekafka.broker.cleaning.sleep", given_way.append)
    clock = trio.testing.MockClock()
    pace = _Pace(1e12, clock)

    def work() -> None:
        for _ in range(1600):
            pace(0)
            clock.jump(1 / 16384)

    await trio.to_thread.run_sync(work)

    assert 80 <= len(given_way) <= 100


# --- by itself


async def test_what_is_dirty_enough_is_compacted(tmp_path: Path) -> None:
    """By min.cleanable.dirty.ratio, without being asked; topics of another policy are not."""
    config = broker_config(tmp_path, **FEW_SETTINGS)
    async with open_broker(config) as broker:
        dirty = await topic(broker, "dirty", segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        await create_topic(broker, "kept", segment_bytes="1048576")
        kept = broker.partitions.find("kept", 0)
        for _ in range(12):
            put(broker, dirty, "a", LARGE)
            put(broker, kept, "a", LARGE)

        await until(lambda: contents(dirty.log)[0][0] > 4)

        assert len(contents(kept.log)) == 12
        await until(lambda: checkpoint(config).startswith("0\n1\ndirty 0 "))


async def test_damage_stops_one_log_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried once, and the others go on."""
    config = broker_config(tmp_path, **FEW_SETTINGS)
    async with open_broker(config) as broker:
        rounds = Rounds(broker, monkeypatch)
        broken = await topic(broker, "broken", segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        for _ in range(5):
            put(broker, broken, "a", LARGE)
        file = config.data_dir / "broken-0" / f"{0:020d}.log"
        with file.open("r+b") as data:
            data.seek(100)
            data.write(b"x")
        sound = await topic(broker, "sound", segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        broken.log.roll(0)
        for _ in range(12):
            put(broker, sound, "a", LARGE)

        await until(lambda: contents(sound.log)[0][0] > 4 and "compacted no more" in caplog.text)
        await rounds.pass_over(broken)

        assert caplog.text.count("compacted no more") == 1
        assert broken.log.log_end_offset == 5


async def test_what_a_client_wrote_stops_one_log_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Kafka takes times that no compaction can write, and its folder may be ours now; the broker goes on."""
    config = broker_config(tmp_path, **FEW_SETTINGS)
    async with open_broker(config) as broker:
        await create_topic(broker, "t", 1)
        partition, now_ms = broker.partitions.find("t", 0), broker.clock.wall_ms()
        batch = build_batch([Record(b"a", b"1", now_ms), Record(b"a", b"2", now_ms + 10)])
        partition.append(batch, now_ms=now_ms)
        struct.pack_into(">q", batch, 27, (1 << 63) - 1)  # the base timestamp, which the second is behind
        struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
        (config.data_dir / "t-0" / f"{0:020d}.log").write_bytes(batch)
        partition.reconfigure(
            replace(partition.log.config, cleanup_policy=("compact",), min_cleanable_dirty_ratio=0)
        )
        partition.log.roll(now_ms)

        await until(lambda: "compacted no more" in caplog.text)

        assert "of 00000000000000000000.log is not right" in caplog.text
        put(broker, partition, "b", b"1")


async def test_a_topic_deleted_meanwhile_ends_its_compaction(
    resting: BrokerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker goes on; nothing of it is remembered, nor found by the next topic of the name."""
    held = Held(monkeypatch, waits=True)
    async with open_broker(resting) as broker:
        partition = await topic(broker)
        for _ in range(5):
            put(broker, partition, "a", LARGE)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(broker.compact, "t")
            await until(held.begun.is_set)
            assert await delete_topic(broker, "t") == 0
            again = await topic(broker)
            put(broker, again, "b", b"1")
            held.go_on.set()

        assert "t 0" not in checkpoint(resting)
        assert contents(again.log) == [(0, b"b", b"1")]
        names = [path.name for path in (resting.data_dir / "t-0").iterdir()]
        assert [name for name in names if name.endswith((".cleaned", ".swap"))] == []


async def test_a_stop_ends_a_compaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not wait for one that is held to a few bytes a second, and a start finds everything."""
    held = Held(monkeypatch, waits=False)
    config = broker_config(tmp_path, log_cleaner_enable="false", log_cleaner_io_max_bytes_per_second="10000")
    with trio.fail_after(60):  # at that pace the compaction alone takes six minutes
        async with open_broker(config) as broker:
            partition = await topic(broker)
            for _ in range(10):
                put(broker, partition, "a", LARGE)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(broker.compact, "t")
                await until(held.begun.is_set)
                nursery.cancel_scope.cancel()
            assert len(contents(partition.log)) == 10

    async with open_broker(config) as broker:
        assert len(contents(broker.partitions.find("t", 0).log)) == 10


async def test_a_log_that_cannot_be_looked_through_is_left_for_a_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker goes on, the others are compacted, and nobody tries it again at once."""
    config = broker_config(tmp_path, **FEW_SETTINGS)
    looked: list[object] = []

    def failing(log: PartitionLog, *args: Any, **named: Any) -> Any:
        if log.topic_partition.topic == "broken":
            looked.append(log)
            raise OSError(5, "Input/output error")
        return cleanable(log, *args, **named)

    async with open_broker(config) as broker:
        monkeypatch.setattr("wirekafka.broker.cleaning.cleanable", failing)
        await topic(broker, "broken")
        sound = await topic(broker, "sound", segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        for _ in range(12):
            put(broker, sound, "a", LARGE)

        await until(lambda: contents(sound.log)[0][0] > 4 and looked)

        with pytest.raises(KafkaError, match="Input/output error") as caught:
            await broker.compact("broken")
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert len(looked) == 2
        assert "broken-0 could not be looked through for what is dirty: Input/output error." in caplog.text


async def test_a_compaction_that_fails_is_not_tried_again_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk each attempt takes the last of it, from every append."""
    config = broker_config(tmp_path, **FEW_SETTINGS)
    tried: list[object] = []

    def failing(*args: Any, **named: Any) -> Any:
        tried.append(args)
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space.")

    async with open_broker(config) as broker:
        monkeypatch.setattr("wirekafka.broker.cleaning.clean", failing)
        rounds = Rounds(broker, monkeypatch)
        partition = await topic(broker, segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        for _ in range(12):
            put(broker, partition, "a", LARGE)

        await until(lambda: tried)
        await rounds.pass_over(partition)

        assert len(tried) == 1


async def test_a_log_is_known_as_compacted_before_it_is(
    resting: BrokerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill behind the first swap leaves gaps that no start, and no tool, may take for losses."""
    seen: list[str] = []

    def noting(*args: Any, **named: Any) -> Any:
        seen.append(checkpoint(resting))
        return clean(*args, **named)

    monkeypatch.setattr("wirekafka.broker.cleaning.clean", noting)
    async with open_broker(resting) as broker:
        partition = await topic(broker)
        put(broker, partition, "a", b"1")
        put(broker, partition, "a", b"2")

        await broker.compact("t")

    assert seen[0] == "0\n1\nt 0 0\n"
    assert checkpoint(resting) == "0\n1\nt 0 2\n"


@pytest.mark.parametrize("at", ["cleanable", "clean"])
async def test_what_nobody_foresaw_stops_one_log_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """The broker goes on, the others are compacted, and that one is not tried again."""
    config = broker_config(tmp_path, **FEW_SETTINGS)
    real: Any = {"cleanable": cleanable, "clean": clean}[at]

    def failing(what: Any, *args: Any, **named: Any) -> Any:
        log = what if at == "cleanable" else what.log
        if log.topic_partition.topic == "struck":
            raise ZeroDivisionError("who would have thought")
        return real(what, *args, **named)

    async with open_broker(config) as broker:
        monkeypatch.setattr(f"wirekafka.broker.cleaning.{at}", failing)
        rounds = Rounds(broker, monkeypatch)
        struck = await topic(broker, "struck", segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        sound = await topic(broker, "sound", segment_bytes="1048576", min_cleanable_dirty_ratio="0.1")
        for _ in range(12):
            put(broker, struck, "a", LARGE)
            put(broker, sound, "a", LARGE)

        await until(lambda: contents(sound.log)[0][0] > 4 and "who would have thought" in caplog.text)
        await rounds.pass_over(struck)

        assert caplog.text.count("struck-0: no more compaction until the next start") == 1
        assert len(contents(struck.log)) == 12
