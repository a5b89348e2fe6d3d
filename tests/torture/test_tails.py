"""Ten thousand logs whose unflushed end was torn, zeroed, shuffled or prolonged, each opened twice."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.torture.judging_tails import Judge, judge_mangled, reopened
from tests.torture.mangling import Expected, Tail, mangle
from tests.torture.store import Account, NotAsAcknowledged, restore

LOGS, MANGLED_EACH = 20, 500


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
