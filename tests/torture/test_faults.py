"""Every call that writes is made to fail once, and to be the last once, in every operation.

The scenarios are a table in `scenarios`; the process dies in the sense that nothing after the call has
any effect. `python -m tests.torture` has the same from outside, with strace.
"""

from pathlib import Path

import pytest

from tests.torture.faulty_files import Fault
from tests.torture.scenarios import OF_WRITES, SCENARIOS, Wrong, calls_of, cases, strike
from tests.torture.store import NotAsAcknowledged
from wirekafka.protocol.records import RecordBatch
from wirekafka.storage.segments.segment import Segment


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name.lower())
@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_call_is_struck_what_was_acknowledged_is_there(
    folder: Path, name: str, fault: Fault
) -> None:
    """Errors are 56, reads go on, no start fails, nothing is lost and nothing is left over."""
    struck = [strike(folder, name, fault, at, closes=closes) for at, closes in cases(folder, name, fault)]

    assert struck or fault in OF_WRITES
    assert all(struck)


def test_the_judge_of_faults_can_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that forgets to write, and says that it did, is found out by the next start."""
    monkeypatch.setattr(Segment, "append", _append_in_memory_only)

    with pytest.raises((Wrong, NotAsAcknowledged)):
        strike(folder, "append-and-roll", Fault.KILL, 1, closes=False)


def _append_in_memory_only(segment: Segment, records: bytes, batch: RecordBatch) -> None:
    segment.file.write(bytes(len(records)), segment.size)
    segment._note(batch, segment.size)


def test_what_storage_calls_is_all_counted(folder: Path) -> None:
    """Each kind of call that a broker's life makes is met by some fault in some scenario."""
    kinds = {call.split()[0] for name in SCENARIOS for call in calls_of(folder, name)}

    assert {"open", "pwrite", "fdatasync", "sync_folder", "rename", "unlink", "make_folder"} <= kinds
    assert {"ftruncate", "remove_folder", "sync_filesystem"} <= kinds
