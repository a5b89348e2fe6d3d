"""`Disk`: what the logs of one data folder share.

Made by `directory`, handed to every log and segment.
"""

from dataclasses import dataclass

from wirekafka.storage.files import Files
from wirekafka.storage.health import Health
from wirekafka.storage.open_files import DEFAULT_LIMIT, OpenFiles


@dataclass(frozen=True, slots=True)
class Disk:
    """The operating system's calls, the files held open, and whether writing still makes sense."""

    files: Files
    open_files: OpenFiles
    health: Health

    @classmethod
    def on(cls, files: Files, *, open_files: int = DEFAULT_LIMIT) -> "Disk":
        """A sound disk on which at most `open_files` segments are held open."""
        return cls(files, OpenFiles(files, open_files), Health())
