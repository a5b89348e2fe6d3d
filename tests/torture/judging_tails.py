"""Opens a log whose end was spoilt, twice, and holds it to what `mangling.Expected` says.

Used by `test_tails` and the long runs.
"""

from collections.abc import Callable
from pathlib import Path

from tests.torture.faulty_files import CountedFiles
from tests.torture.mangling import CONFIG, Expected, Tail
from tests.torture.scenarios import ONE
from tests.torture.store import NotAsAcknowledged, Store, contents, restore, served
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogDirectory, PartitionLog


def reopened(folder: Path, judge: Callable[[PartitionLog, list[str]], None]) -> str:
    """Open the log, judge it and drop it; what it was refused with, empty if it was not."""
    store = Store(folder, CONFIG)
    files = CountedFiles()
    try:
        directory = store.directory = LogDirectory.open(folder, node_id=1, files=files)
        try:
            log = store.open_log(ONE)
        except KafkaError as error:
            if error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
                raise
            return error.message
        judge(log, directory.notices)
        return ""
    finally:
        store.drop()
        files.let_go()


class Judge:
    """Holds one opened log to what there has to be."""

    def __init__(self, tail: Tail, expected: Expected) -> None:
        self.tail, self.expected = tail, expected

    def __call__(self, log: PartitionLog, notices: list[str]) -> None:
        wanted = self.tail.account.batches[: self.expected.batches]
        end = self.tail.account.batches[self.expected.batches][0] if self._shorter else self.tail.account.end
        if log.log_end_offset < self.tail.recovery_point:
            raise NotAsAcknowledged(f"ends at {log.log_end_offset}, flushed to {self.tail.recovery_point}")
        if (log.log_end_offset, list(served(log))) != (end, wanted):
            raise NotAsAcknowledged(f"ends at {log.log_end_offset} and not at {end}; {notices}")
        for offset, data in wanted:
            piece = log.read(offset + 1, 1, up_to_offset=end, at_least_one_batch=True).read()
            if piece != data:
                raise NotAsAcknowledged(f"what is served at offset {offset + 1} is another batch")

    @property
    def _shorter(self) -> bool:
        return self.expected.batches < len(self.tail.account.batches)


def judge_mangled(folder: Path, tail: Tail, files: dict[str, bytes]) -> str:
    """Open a spoilt folder twice; what became of it. Raises NotAsAcknowledged."""
    expected = Expected.of(files, tail)
    restore(folder, files)
    judge = Judge(tail, expected)
    refusal = reopened(folder, judge)
    first = contents(folder)
    if refusal:
        if not expected.more_behind:
            raise NotAsAcknowledged(f"refused, though nothing whole is behind: {refusal}")
        if ".log has no batch at position" not in refusal:
            raise NotAsAcknowledged(f"refused without the place: {refusal}")
        if {name: first.get(name) for name in files if name.endswith(".log")} != {
            name: data for name, data in files.items() if name.endswith(".log")
        }:
            raise NotAsAcknowledged("refused, and changed all the same")
    elif expected.more_behind:
        raise NotAsAcknowledged("batches were behind the damage, and were cut away")
    if reopened(folder, judge) != refusal or contents(folder) != first:
        raise NotAsAcknowledged("a second start found other bytes than the first left")
    return "refused" if refusal else "whole" if not judge._shorter else "cut"
