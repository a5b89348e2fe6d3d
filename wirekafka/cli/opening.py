"""Shows how far the opening of a data folder has come: a bar on a terminal, log lines elsewhere.

Called by `serve`. Nothing is shown of a start that takes no time, and nothing imported for it.
"""

from typing import TextIO

import trio

from wirekafka.broker import Watch, log_progress
from wirekafka.storage import OpeningProgress

_SHOWN_AFTER_SECONDS = 0.5
_DRAWN_EVERY_SECONDS = 0.1


def watch_for(stream: TextIO) -> Watch:
    """Choose what suits a stream."""
    return draw_progress if stream.isatty() else log_progress


async def draw_progress(progress: OpeningProgress) -> None:
    """Draw a bar on the terminal of stderr until cancelled."""
    await trio.sleep(_SHOWN_AFTER_SECONDS)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        what = "Checking what was not flushed" if progress.bytes_total else "Opening the data folder"
        task = bar.add_task(what, total=1.0, told=str(progress))
        while True:
            bar.update(task, completed=progress.share_done, told=str(progress))
            await trio.sleep(_DRAWN_EVERY_SECONDS)
