"""What the producers were told, kept outside the broker; and what a record's value has to be.

The load writes it, an entry a delivery report; the judge reads it. The file is not of the broker's
filesystem and not of its process, so no kill and no cut takes anything from it.
"""

import struct
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

ENTRY = struct.Struct(">BHIq")
"""Producer, partition, sequence, offset."""
Source = tuple[int, int]
"""A producer, and the partition it sent to: within it sequences go 0, 1, 2, ..."""


@dataclass(slots=True)
class Acknowledged:
    """Offsets by sequence for each source, as the broker told them."""

    offsets: dict[Source, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    count: int = 0

    def add(self, producer: int, partition: int, sequence: int, offset: int) -> None:
        self.offsets[producer, partition][sequence] = offset
        self.count += 1


class OracleFile:
    """The file of acknowledgements, read on from where the last look ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self.acknowledged = Acknowledged()

    def look(self) -> Acknowledged:
        """Everything acknowledged up to now."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._position)
                data = file.read()
            whole = len(data) // ENTRY.size * ENTRY.size
            self._position += whole
            for entry in ENTRY.iter_unpack(data[:whole]):
                self.acknowledged.add(*entry)
        return self.acknowledged


def value_of(producer: int, partition: int, sequence: int, size: int) -> bytes:
    """The value that a record must have: it names itself, and every byte follows from its name."""
    name = b"%d %d %d " % (producer, partition, sequence)
    return (name + b"%08x" % crc32(name) * (size // 8 + 1))[: max(size, len(name) + 8)]


def name_of(value: bytes) -> tuple[int, int, int] | None:
    """Producer, partition and sequence of a value; None when it is not one that was sent."""
    parts = value.split(b" ", 3)
    if len(parts) != 4 or not all(part.isdigit() for part in parts[:3]):
        return None
    producer, partition, sequence = (int(part) for part in parts[:3])
    if value != value_of(producer, partition, sequence, len(value)):
        return None
    return producer, partition, sequence


def key_of(producer: int, sequence: int, keys: int) -> bytes:
    """The key of a record: each producer has keys of its own, in turn."""
    return b"%d-%d" % (producer, sequence % keys)
