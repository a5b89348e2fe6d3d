"""Ten thousand logs whose unflushed end was torn, zeroed, shuffled or prolonged, each opened twice."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.torture.faulty_files import CountedFiles
from tests.torture.mangling import CONFIG, Expected, Tail, mangle
from tests.torture.scenarios import ONE
from tests.torture.store import Account, NotAsAcknowledged, Store, contents, restore, served
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import LogDirectory, PartitionLog

LOGS, MANGLED_EACH = 20, 500


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


@pytest.mark.parametrize("seed", range(LOGS))
def test_a_mangled_tail_is_cut_to_a_prefix_or_refused(folder: Path, seed: int) -> None:
    """To the recovery point at least, never a wrong byte, and the same bytes when it is done twice."""
    tail = Tail.make(folder, seed)
    outcomes: Counter[str] = Counter()

    for number in range(MANGLED_EACH):
        files, how = mangle(tail, random.Random(seed * MANGLED_EACH + number))
        try:
            outcomes[judge_mangled(folder, tail, files)] += 1
        except (NotAsAcknowledged, OSError, ValueError) as error:
            pytest.fail(f"seed {seed}, number {number}: {how}: {type(error).__name__}: {error}")

    assert outcomes["cut"] > MANGLED_EACH // 10
    assert outcomes["refused"] > MANGLED_EACH // 20


def test_the_judge_of_tails_can_fail(folder: Path) -> None:
    """It notices a log that lost flushed records, one that lost others, and a batch nobody wrote."""
    tail = Tail.make(folder, 0)
    last = tail.segments()[-1]
    assert judge_mangled(folder, tail, tail.files) == "whole"

    with pytest.raises(NotAsAcknowledged, match="flushed to 1000"):
        judge_mangled(folder, replace(tail, recovery_point=1000), tail.files)
    expected = Expected(len(tail.account.batches), more_behind=False)
    restore(folder, {**tail.files, last: tail.files[last][:-10]})
    with pytest.raises(NotAsAcknowledged, match="and not at 44"):
        reopened(folder, Judge(tail, expected))
    written = Account([*tail.account.batches[:-1], (42, b"another")], end=44)
    restore(folder, tail.files)
    with pytest.raises(NotAsAcknowledged, match="ends at 44 and not at 44"):
        reopened(folder, Judge(replace(tail, account=written), expected))
