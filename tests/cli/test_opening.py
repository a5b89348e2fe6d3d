"""Tests of cli/opening.py: how far a start has come, on a terminal and elsewhere."""

import io

import pytest
import trio
import trio.testing

from wirekafka.broker import log_progress
from wirekafka.cli.opening import draw_progress, watch_for
from wirekafka.storage import OpeningProgress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_for_terminals() -> None:
    """A file or a pipe gets lines."""
    assert watch_for(Terminal()) is draw_progress
    assert watch_for(io.StringIO()) is log_progress


@pytest.mark.parametrize(
    ("to_check_bytes", "what"), [(8 << 20, "Checking what was not flushed"), (0, "Opening")]
)
async def test_the_bar_says_what_is_done_and_how_far(
    autojump_clock: trio.testing.MockClock,
    monkeypatch: pytest.MonkeyPatch,
    to_check_bytes: int,
    what: str,
) -> None:
    """Drawn on standard error, and gone in the end."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    progress = OpeningProgress()
    progress.expect(4, to_check_bytes)
    progress.opened()
    with trio.move_on_after(2):
        await draw_progress(progress)

    assert what in terminal.getvalue()
    assert "1 of 4 partitions" in terminal.getvalue()


async def test_nothing_is_drawn_of_a_start_that_takes_no_time(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody wants to see it."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with trio.move_on_after(0.3):
        await draw_progress(OpeningProgress())

    assert terminal.getvalue() == ""
