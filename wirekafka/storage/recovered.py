"""What a start found in a partition's folder.

Made by `recovery`; a `PartitionLog` is made of it.

Source: Kafka's LoadedLogOffsets.
"""

from dataclasses import dataclass

from wirekafka.storage.epochs import LeaderEpochs
from wirekafka.storage.producer_state import ProducerState
from wirekafka.storage.segment import Segment


@dataclass(slots=True, kw_only=True)
class Recovered:
    """Segments that are right as far as that is known, and what was read or made anew beside them."""

    segments: list[Segment]
    epochs: LeaderEpochs
    producers: ProducerState
    snapshot_offsets: list[int]
    log_start_offset: int
    recovery_point: int
    is_new_folder: bool
