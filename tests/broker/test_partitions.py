"""partitions: opened, made and removed as the metadata says."""

import dataclasses
import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.broker.support import TOPIC_ID, WAIT_SECONDS, append
from wirekafka.broker.partitions import Partitions
from wirekafka.ids import TopicId, TopicPartition
from wirekafka.metadata import MetadataImage, TopicImage
from wirekafka.metadata.image import PartitionImage
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.stored.cluster_metadata import RemoveTopicRecord, TopicRecord
from wirekafka.storage import Files, LogConfig, LogDirectory, PartitionLog
from wirekafka.storage.disk.files import SyncFailed
from wirekafka.storage.segments.scan import Damaged

OTHER_ID = TopicId(b"\x02" * 16)


def topic(name: str = "t", topic_id: bytes = TOPIC_ID, count: int = 1, leader_epoch: int = 0) -> TopicImage:
    one = PartitionImage(leader=1, leader_epoch=leader_epoch, replicas=(1,), isr=(1,))
    return TopicImage(name=name, topic_id=TopicId(topic_id), partitions=dict.fromkeys(range(count), one))


def image(*topics: TopicImage) -> MetadataImage:
    made = MetadataImage()
    for one in topics:
        made.apply(TopicRecord(name=one.name, topic_id=one.topic_id))
        made.topics[one.name].partitions.update(one.partitions)
    return made


Make = Callable[..., Partitions]


@pytest.fixture
def make(directory: LogDirectory) -> Make:
    def partitions(*topics: TopicImage, config: LogConfig | None = None) -> Partitions:
        return Partitions(
            directory, image(*topics), log_config=lambda name: config or LogConfig(), now_ms=lambda: 1
        )

    return partitions


def code_of(partitions: Partitions, name: str, index: int) -> ErrorCode:
    with pytest.raises(KafkaError) as refusal:
        partitions.find(name, index)
    return refusal.value.code


async def test_generation_grows_when_a_partition_comes_and_when_it_goes(make: Make) -> None:
    """Kept answers about what is on line go by it."""
    partitions = make(topic())
    generations = [partitions.generation]
    await partitions.open_all()
    generations.append(partitions.generation)
    partitions.remove_topic(TOPIC_ID)
    generations.append(partitions.generation)

    assert generations == sorted(set(generations))


async def test_each_topic_has_a_generation_of_its_own(make: Make) -> None:
    """A number that was one topic's is never that of a later state: what was told of it is told anew."""
    partitions = make(topic(), topic("u", OTHER_ID))
    seen = [(partitions.generation_of("t"), partitions.generation_of("u"))]
    await partitions.open_all()
    seen.append((partitions.generation_of("t"), partitions.generation_of("u")))
    partitions.remove_topic(TOPIC_ID)
    partitions.open_one(topic(topic_id=b"\3" * 16), 0)
    seen.append((partitions.generation_of("t"), partitions.generation_of("u")))

    of_t, of_u = zip(*seen, strict=True)

    assert (of_t[0], of_u[0]) == (0, 0)
    assert 0 < of_t[1] < of_t[2]
    assert 0 < of_u[1] == of_u[2]


async def test_every_partition_of_the_metadata_is_opened(make: Make, tmp_path: Path) -> None:
    """With its leader epoch, and a folder made if there is none."""
    partitions = make(topic(count=2, leader_epoch=4))
    await partitions.open_all()

    assert partitions.find("t", 1).leader_epoch == 4
    assert (tmp_path / "t-1").is_dir()
    assert partitions.is_online("t", 0)
    assert (partitions.exists("t", 1), partitions.exists("t", 2), partitions.exists("u", 0)) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(("name", "index"), [("t", 1), ("t", -1), ("u", 0), ("", 0)])
async def test_unknown_partitions_are_not_found(make: Make, name: str, index: int) -> None:
    partitions = make(topic())
    await partitions.open_all()

    assert code_of(partitions, name, index) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_topics_are_named_by_id(make: Make) -> None:
    partitions = make(topic())

    assert partitions.name_of(TOPIC_ID) == "t"
    with pytest.raises(KafkaError) as refusal:
        partitions.name_of(OTHER_ID)
    assert refusal.value.code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize(
    "stray",
    [
        (TopicPartition("gone", 0), TOPIC_ID),
        (TopicPartition("t", 5), TOPIC_ID),
        (TopicPartition("t", 0), OTHER_ID),
    ],
    ids=["unknown topic", "unknown partition", "earlier topic of the name"],
)
async def test_folders_of_no_topic_are_set_aside(
    make: Make, directory: LogDirectory, tmp_path: Path, stray: tuple[TopicPartition, TopicId]
) -> None:
    """Never deleted, and never taken for the data of a topic that is named alike."""
    topic_partition, topic_id = stray
    directory.open_log(topic_partition, topic_id, LogConfig(), now_ms=1)
    directory.close(clean=True)
    again = LogDirectory.open(tmp_path, node_id=1)
    partitions = Partitions(again, image(topic()), log_config=lambda name: LogConfig(), now_ms=lambda: 1)

    await partitions.open_all()

    kept = [path.name for path in tmp_path.iterdir() if path.name.endswith("-stray")]
    assert len(kept) == 1
    assert kept[0].startswith(str(topic_partition))
    assert partitions.find("t", 0).log.log_end_offset == 0
    again.close(clean=True)


async def test_partition_that_cannot_be_opened_is_offline(
    make: Make, directory: LogDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others serve; this one answers with what is wrong."""
    real = directory.open_log

    def open_log(topic_partition: TopicPartition, *given: object, **named: object) -> object:
        if topic_partition.partition == 1:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "t-1 could not be opened.")
        return real(topic_partition, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(directory, "open_log", open_log)
    partitions = make(topic(count=2))
    await partitions.open_all()

    assert partitions.find("t", 0).high_watermark == 0
    assert code_of(partitions, "t", 1) == ErrorCode.KAFKA_STORAGE_ERROR
    assert (partitions.exists("t", 1), partitions.is_online("t", 1)) == (True, False)
    partitions.remove_topic(TOPIC_ID)
    assert code_of(partitions, "t", 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_removed_topic_is_gone_at_once(make: Make, tmp_path: Path) -> None:
    """Its fetches wake, its name is free, its folder is marked for deletion."""
    partitions = make(topic())
    await partitions.open_all()
    partition, bell = partitions.find("t", 0), trio.Event()
    append(partition)
    partition.wait_with(bell)

    name = partitions.remove_topic(TOPIC_ID)

    assert (name, bell.is_set()) == ("t", True)
    assert code_of(partitions, "t", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not (tmp_path / "t-0").exists()
    partitions.open_one(topic(topic_id=OTHER_ID), 0)
    assert partitions.find("t", 0).high_watermark == 0


async def test_topic_whose_folder_stays_is_removed_nevertheless(
    make: Make, directory: LogDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metadata have forgotten it; the folder is set aside at the next start."""

    def delete_log(log: object, *, later: object) -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "t-0 could not be deleted.")

    partitions = make(topic())
    await partitions.open_all()
    monkeypatch.setattr(directory, "delete_log", delete_log)

    assert partitions.remove_topic(TOPIC_ID) == "t"
    assert code_of(partitions, "t", 0) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


async def test_changed_settings_reach_the_open_logs(make: Make, directory: LogDirectory) -> None:
    """Of that topic alone."""
    configs = {"t": LogConfig(), "u": LogConfig()}
    partitions = Partitions(
        directory,
        image(topic(), topic("u", OTHER_ID)),
        log_config=configs.__getitem__,
        now_ms=lambda: 1,
    )
    await partitions.open_all()
    changed = dataclasses.replace(LogConfig(), max_message_bytes=7)
    configs["t"] = configs["u"] = changed

    partitions.reconfigure("t")

    assert partitions.find("t", 0).log.config is changed
    assert partitions.find("u", 0).log.config is not changed


async def test_each_refusal_of_an_offline_partition_is_an_error_of_its_own(
    make: Make, directory: LogDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was raised before keeps the frames of that raise alive, and with them its request."""

    def open_log(*_: object, **__: object) -> object:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "t-0 could not be opened.")

    monkeypatch.setattr(directory, "open_log", open_log)
    partitions = make(topic())
    await partitions.open_all()
    refusals = []
    for _ in range(2):
        with pytest.raises(KafkaError) as refusal:
            partitions.find("t", 0)
        refusals.append(refusal.value)

    assert refusals[0] is not refusals[1]
    assert [str(error) for error in refusals] == ["KAFKA_STORAGE_ERROR: t-0 could not be opened."] * 2


async def test_a_deletion_that_was_broken_off_is_finished(directory: LogDirectory, tmp_path: Path) -> None:
    """The metadata says that the topic was deleted; a kill has left one of its folders."""
    deleted = TopicPartition("gone", 1)
    directory.open_log(deleted, OTHER_ID, LogConfig(), now_ms=1).close()
    metadata = image(topic(), topic("gone", OTHER_ID, count=2))
    metadata.apply(RemoveTopicRecord(topic_id=OTHER_ID))
    partitions = Partitions(directory, metadata, log_config=lambda name: LogConfig(), now_ms=lambda: 1)
    await partitions.open_all()

    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["t-0"]
    assert metadata.removed_topic_ids == set()


def no_space(files: Files, path: str) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


async def nobody_asked(partitions: Partitions) -> bool:
    with trio.move_on_after(0) as scope:
        await partitions.reopen_asked()
    return scope.cancelled_caught


async def test_partition_that_found_no_space_is_tried_again_when_it_is_asked_for(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk passes. That it is still full is logged once."""
    partitions = make(topic())
    with monkeypatch.context() as full:
        full.setattr(Files, "make_folder", no_space)
        await partitions.open_all()
        unasked = await nobody_asked(partitions)
        code = code_of(partitions, "t", 0)
        tried_in_vain = await partitions.reopen_asked()
    code_of(partitions, "t", 0)
    tried = await partitions.reopen_asked()

    assert (unasked, code, tried_in_vain) == (True, ErrorCode.KAFKA_STORAGE_ERROR, [])
    assert tried == [TopicPartition("t", 0)]
    assert partitions.find("t", 0).high_watermark == 0
    assert caplog.text.count("t-0 is offline") == 1


@pytest.mark.parametrize("cause", [None, Damaged(errno.EIO, "no batch"), SyncFailed(errno.EIO, "lost")])
async def test_damaged_partition_is_not_tried_again(
    make: Make, directory: LogDirectory, monkeypatch: pytest.MonkeyPatch, cause: OSError | None
) -> None:
    """It would be read through each time, to no other end."""

    def open_log(*_: object, **__: object) -> object:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "t-0 is damaged.") from cause

    monkeypatch.setattr(directory, "open_log", open_log)
    partitions = make(topic())
    await partitions.open_all()
    code_of(partitions, "t", 0)

    assert await nobody_asked(partitions)


@pytest.mark.parametrize("is_made_again", [True, False])
async def test_topic_that_is_deleted_while_its_log_is_tried_again_goes(
    make: Make,
    directory: LogDirectory,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    nursery: trio.Nursery,
    is_made_again: bool,
) -> None:
    """Its folder is the thread's until then; one that has its name gets a folder of its own."""
    partitions = make(topic())
    with monkeypatch.context() as full:
        full.setattr(Files, "make_folder", no_space)
        await partitions.open_all()
    real, begun, gate = directory.open_log, threading.Event(), threading.Event()

    def open_log(*given: Any, **named: Any) -> PartitionLog:
        log = real(*given, **named)
        begun.set()
        assert gate.wait(WAIT_SECONDS)
        return log

    monkeypatch.setattr(directory, "open_log", open_log)
    code_of(partitions, "t", 0)
    nursery.start_soon(partitions.reopen_asked)
    while not begun.is_set():
        await trio.lowlevel.checkpoint()
    partitions.remove_topic(TOPIC_ID)
    partitions._image.apply(RemoveTopicRecord(topic_id=TOPIC_ID))
    if is_made_again:
        again = topic(topic_id=OTHER_ID)
        partitions._image.apply(TopicRecord(name="t", topic_id=OTHER_ID))
        partitions._image.topics["t"].partitions.update(again.partitions)
        partitions.open_one(again, 0)
        assert code_of(partitions, "t", 0) == ErrorCode.KAFKA_STORAGE_ERROR
    gate.set()
    while (tmp_path / "t-0").exists() != is_made_again or partitions.is_online("t", 0) != is_made_again:
        await trio.lowlevel.checkpoint()

    assert [log.topic_id for log in directory.logs()] == ([OTHER_ID] if is_made_again else [])


async def test_what_is_noted_of_topics_that_are_no_more_is_forgotten(
    make: Make, directory: LogDirectory
) -> None:
    """They were deleted before a kill: made again, they have nothing to miss."""
    noted = directory.checkpoints.recovery_points
    kept = {TopicPartition("__cluster_metadata", 0): 3}
    noted.update({**kept, TopicPartition("gone", 0): 9, TopicPartition("t", 7): 9})
    await make(topic()).open_all()

    assert noted == kept
    assert directory.notices == []
