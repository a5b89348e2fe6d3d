"""The judge of the soak sees what it is there to see."""

from compat_tests.soak.crew import Group
from compat_tests.soak.ledger import Ledger, Limits

LIMITS = Limits(session_seconds=10.0, slack_seconds=5.0)


def ledger(limits: Limits = LIMITS) -> Ledger:
    """Three records of partition 0, sent and acknowledged at 100; groups g and h."""
    made = Ledger(limits, ["g", "h"])
    for offset in range(3):
        made.note_sent()
        made.note_written((0, offset), 100.0)
    return made


def with_all_read_and_committed(limits: Limits = LIMITS) -> Ledger:
    made = ledger(limits)
    for group in made.groups:
        made.note_read(group, [(0, 0), (0, 1), (0, 1), (0, 2)])
        made.note_committed(group, {("t", 0): 3})
    return made


def test_groups_that_have_read_and_committed_everything_are_without_fault() -> None:
    """At least once: what is read twice is no fault."""
    assert with_all_read_and_committed().faults() == []


def test_record_that_a_group_has_not_read_is_a_fault() -> None:
    """Each group reads all for itself."""
    made = ledger()
    for group in made.groups:
        made.note_committed(group, {("t", 0): 3})
    made.note_read("g", [(0, 0), (0, 1), (0, 2)])
    made.note_read("h", [(0, 0), (0, 2)])

    assert made.faults() == ["h has not read 1 records: [(0, 1)] ..."]


def test_record_may_be_read_before_its_acknowledgement_is_heard() -> None:
    """The writer's client may be slower than a member."""
    made = ledger()
    made.note_read("g", [(1, 0)])
    made.note_written((1, 0), 101.0)

    assert made.unread_count("g") == 3


def test_record_that_was_sent_and_not_acknowledged_is_a_fault() -> None:
    """An idempotent producer gives nothing up; else a broker that takes nothing would lose nothing."""
    made = with_all_read_and_committed()
    made.note_sent()

    assert made.faults() == ["of 4 records that were sent only 3 were acknowledged"]


def test_run_that_did_too_little_is_a_fault() -> None:
    """What nobody wrote, looked at, or killed says nothing."""
    limits = Limits(10.0, 5.0, least_sent=4, least_looks=2, least_deaths=1)
    made = with_all_read_and_committed(limits)
    made.note_committed("h", {("t", 0): 3})
    made.note_death("g", 200.0, is_reading=True)

    assert made.faults() == [
        "only 3 records were sent, less than 4",
        "g: commits were seen only 1 times, less than 2",
        "h: only 0 members were killed, less than 1",
    ]


def test_commit_that_goes_back_or_is_gone_is_a_fault() -> None:
    """Also after the broker was killed."""
    made = ledger()
    made.note_committed("g", {("t", 0): 5, ("t", 1): 7})
    made.note_committed("g", {("t", 0): 4})

    assert made.wrong == [
        "g: ('t', 0) was committed up to 5, now 4",
        "g: ('t', 1) was committed up to 7, now -1",
    ]


def test_partition_that_is_not_committed_up_to_its_end_is_a_fault() -> None:
    """A group that never commits would never go back."""
    made = with_all_read_and_committed()
    made.note_written((1, 0), 101.0)
    for group in made.groups:
        made.note_read(group, [(1, 0)])
    made.note_sent()
    made.note_committed("h", {("t", 0): 3, ("t", 1): 1})

    assert made.faults() == ["g has not committed up to the ends: {1: -1}"]


def test_member_without_a_partition_for_too_long_is_a_fault_once() -> None:
    """And once more when it happens again."""
    made = ledger()
    for since, now in ((0.0, 0.0), (0.0, 14.0), (0.0, 15.5), (0.0, 16.0), (17.0, 17.0), (17.0, 32.1)):
        made.note_without("g", "m", since, now)

    assert made.wrong == ["m had no partition, or said nothing, for more than 15 s"] * 2
    assert made.pages["g"].longest_without == 16.0


def test_record_that_is_not_read_for_too_long_is_a_fault_though_it_is_read_in_the_end() -> None:
    """A member that keeps its partitions and reads nothing is stuck too."""
    made = ledger()
    made.note_read("g", [(0, 0), (0, 1), (0, 2)])
    for now in (114.0, 115.5, 116.0):
        made.look_at_unread(now)
    made.note_read("h", [(0, 0), (0, 1), (0, 2)])
    made.look_at_unread(117.0)

    assert made.wrong == ["h did not read partition 0 for more than 15 s"]
    assert made.pages["h"].longest_unread == 16.0
    assert made.pages["g"].longest_unread == 0.0


def test_wait_is_timed_from_the_last_death_of_the_group_and_the_last_start_of_the_broker() -> None:
    """Each may cost a session; a death in another group costs nothing."""
    made = ledger()
    made.note_death("g", 110.0, is_reading=True)
    made.look_at_unread(120.0)
    assert made.wrong == ["h did not read partition 0 for more than 15 s"]

    made.excuse_all(121.0)
    made.look_at_unread(130.0)
    made.note_without("h", "m", 90.0, 130.0)
    assert len(made.wrong) == 1

    made.note_without("h", "m", 90.0, 137.0)
    assert made.wrong[1:] == ["m had no partition, or said nothing, for more than 15 s"]


def test_death_of_a_member_that_may_wait_to_join_may_cost_a_session_more() -> None:
    """Its JoinGroup waits for others, and its session begins when that is answered."""
    made = ledger()
    made.note_death("g", 110.0, is_reading=False)
    made.look_at_unread(134.0)
    assert made.pages["g"].longest_unread == 14.0

    made.look_at_unread(136.0)
    assert made.wrong == [f"{group} did not read partition 0 for more than 15 s" for group in ("h", "g")]


def test_leave_that_may_have_failed_counts_as_a_death_for_what_is_waited_for() -> None:
    """A client gives up its LeaveGroup when its JoinGroup waits for another that has died."""
    made = ledger()
    made.note_late_leave("g", 110.0)
    made.look_at_unread(120.0)

    assert made.wrong == ["h did not read partition 0 for more than 15 s"]
    assert (made.pages["g"].deaths, made.events["left late"]) == (0, 1)


def test_members_die_two_at_a_time_and_then_not_for_a_while() -> None:
    """Deaths nearer to each other than a session would hide who is stuck."""
    group = Group("g", deaths_until=float("inf"), members_die_along=1)

    assert not group.dies_along()
    assert group.may_die(0.99)
    assert [group.dies_along(), group.dies_along(), group.may_die(0.0)] == [True, False, False]
