"""Two thousand data folders with one bit of one file the other way round, after clean and unclean stops."""

import random
from pathlib import Path

import pytest

from tests.torture.flips import Flip, Folder, Look, Seen, given_away, look, wrong
from tests.torture.scenarios import ONE
from tests.torture.store import restore
from wirekafka.protocol.error_codes import KafkaError

FLIPS_EACH = 250
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("clean", [True, False], ids=["clean", "unclean"])
def test_a_flipped_bit_is_no_crash_no_wrong_record_and_no_silent_loss(
    folder: Path, clean: bool, part: int
) -> None:
    """All records are there, or the log is offline with file and place, or it says what it has cut."""
    sound = Folder.make(folder, clean=clean)
    findings = []

    for number in range(part * FLIPS_EACH, (part + 1) * FLIPS_EACH):
        flip = Flip.draw(sound, random.Random(number))
        restore(folder, flip.of(sound.files))
        try:
            findings += [f"{number}, {flip}: {text}" for text in wrong(flip, sound, look(folder, sound))]
        except (OSError, ValueError, ArithmeticError, LookupError, KafkaError) as error:
            findings.append(f"{number}, {flip}: {type(error).__name__}: {error}")

    assert findings == []


def test_the_judge_of_flips_can_fail(folder: Path) -> None:
    """Lost records, wrong ones and refusals of what is sound are found; a sound folder is found so."""
    sound = Folder.make(folder, clean=False)
    flip = Flip("one-0/00000000000000000024.log", 30, 0)
    restore(folder, sound.files)
    assert wrong(flip, sound, look(folder, sound)) == []
    right = look(folder, sound).logs[ONE]

    def judged(**changes: object) -> str:
        seen = Seen(right.refusal, dict(right.batches), right.start, right.end, right.aborted)
        for name, value in changes.items():
            setattr(seen, name, value)
        return " ".join(wrong(flip, sound, Look(logs={ONE: seen})))

    assert "no notice names the file" in judged(end=right.end - 2)
    assert "are said to be aborted" in judged(aborted=[(8, 4)])
    assert "below its recovery point" in judged(end=4)
    assert "records from 2 on are lost" in judged(start=6)
    assert "without the file and the place" in judged(refusal="something is wrong")
    assert "wrong bytes are served at offset 4: 0 bytes" in judged(batches={**right.batches, 4: b""})
    assert "byte 2 of" in judged(batches={**right.batches, 4: _with_base_offset_flipped(right.batches[4])})


def test_a_client_sees_what_its_crc_covers(folder: Path) -> None:
    """Every bit of a batch but those of its place, whose base offset the broker checks itself."""
    batch = Folder.make(folder, clean=True).accounts[ONE].batches[0][1]

    for position in range(len(batch)):
        changed = bytearray(batch)
        changed[position] ^= 4
        assert given_away(bytes(changed), batch) == (position >= 8)


def _with_base_offset_flipped(batch: bytes | None) -> bytes:
    assert batch is not None
    return batch[:2] + b"\x01" + batch[3:]
