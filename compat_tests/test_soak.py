"""The judge of the soak sees what it is there to see."""

from compat_tests.soak.ledger import Ledger


def ledger() -> Ledger:
    made = Ledger(session_seconds=10.0, slack_seconds=5.0)
    for offset in range(3):
        made.note_written((0, offset))
    return made


def test_group_that_has_read_everything_is_without_fault() -> None:
    """At least once: what is read twice is no fault."""
    made = ledger()
    made.note_read("g", [(0, 0), (0, 1), (0, 1), (0, 2)])

    assert made.faults(["g"]) == []


def test_record_that_a_group_has_not_read_is_a_fault() -> None:
    """Each group reads all for itself."""
    made = ledger()
    made.note_read("g", [(0, 0), (0, 1), (0, 2)])
    made.note_read("h", [(0, 0), (0, 2)])

    [fault] = made.faults(["g", "h"])
    assert fault.startswith("h has not read 1 records: [(0, 1)]")


def test_commit_that_goes_back_or_is_gone_is_a_fault() -> None:
    """Also after the broker was killed."""
    made = ledger()
    made.note_committed("g", {("t", 0): 5, ("t", 1): 7})
    made.note_committed("g", {("t", 0): 4})

    assert made.wrong == [
        "g: ('t', 0) was committed up to 5, now 4",
        "g: ('t', 1) was committed up to 7, now -1",
    ]


def test_member_without_a_partition_for_too_long_is_a_fault_once() -> None:
    """And once more when it happens again."""
    made = ledger()
    for seconds in (0.0, 14.0, 15.5, 16.0, 0.0, 15.1):
        made.note_without("g", "m", seconds)

    assert made.wrong == ["m had no partition for more than 15 s"] * 2
    assert made.longest_without == {"g": 16.0}
