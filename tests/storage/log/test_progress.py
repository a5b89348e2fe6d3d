"""Tests of storage.log.progress: how far an opening has come."""

import pytest

from wirekafka.storage.log.progress import OpeningGivenUp, OpeningProgress


def test_partitions_are_told_when_nothing_is_to_be_checked() -> None:
    """A clean start."""
    progress = OpeningProgress()
    progress.expect(4, 0)
    progress.opened()

    assert (str(progress), progress.share_done) == ("1 of 4 partitions open", 0.25)


def test_bytes_are_told_when_logs_are_checked() -> None:
    """An unclean start takes as long as its bytes."""
    progress = OpeningProgress()
    progress.expect(2, 8 << 20)
    progress.opened()
    progress.checked(2 << 20)

    assert str(progress) == "1 of 2 partitions open, 2 of 8 MiB checked"
    assert progress.share_done == 0.25


def test_nothing_to_open_is_all_done() -> None:
    """No division by it."""
    assert OpeningProgress().share_done == 1.0


def test_more_than_was_expected_is_no_more_than_all() -> None:
    """What lay ahead is an estimate."""
    progress = OpeningProgress()
    progress.expect(1, 10)
    progress.checked(20)

    assert progress.share_done == 1.0


def test_given_up_opening_ends_at_the_next_piece() -> None:
    """A thread that reads a large log is not waited for."""
    progress = OpeningProgress()
    progress.checked(1)
    progress.give_up()

    with pytest.raises(OpeningGivenUp):
        progress.checked(1)
