"""What a power cut, or a disk, may make of the bytes of a log; and what a start has to make of that.

`Tail` is a log of which a part was flushed. `mangle` spoils the rest of it, `Expected` says from the spoilt
bytes alone where the log has to end, or that it has to be refused. Used by `test_tails`.
"""

import random
from dataclasses import dataclass
from pathlib import Path

from tests.torture.faulty_files import CountedFiles
from tests.torture.scenarios import ONE
from tests.torture.store import Account, Store, contents
from wirekafka.storage import LogConfig

PAGE_BYTES = (512, 1024, 4096)
CONFIG = LogConfig(segment_bytes=8000, index_interval_bytes=400)
_LENGTH_ENDS_AT = 12
_FLUSHED_BATCHES = 7
_BATCHES = 22


@dataclass(frozen=True, slots=True)
class Tail:
    """A folder as a kill leaves it, and what of it a flush had made last."""

    files: dict[str, bytes]
    account: Account
    recovery_point: int
    flushed_bytes: dict[str, int]
    """By segment file; a segment begun since has none."""

    @classmethod
    def make(cls, path: Path, seed: int) -> "Tail":
        """Write a log of a few segments with batches of many sizes, flushed in the middle."""
        chance = random.Random(seed)
        files = CountedFiles()
        store = Store(path, CONFIG)
        store.open(files)
        log = store.open_log(ONE)
        sizes = [chance.choice((20, 60, 200, 900, 3000)) for _ in range(_BATCHES)]
        for size in sizes[:_FLUSHED_BATCHES]:
            store.append(ONE, size=size)
        log.flush()
        assert store.directory is not None
        store.directory.checkpoint()
        flushed = {name: len(data) for name, data in contents(path).items() if name.endswith(".log")}
        for size in sizes[_FLUSHED_BATCHES:]:
            store.append(ONE, size=size)
        point = log.recovery_point
        del log
        store.drop()
        files.let_go()
        return cls(contents(path), store.accounts[ONE], point, flushed)

    def segments(self) -> list[str]:
        """The segment files, in order."""
        return sorted(name for name in self.files if name.endswith(".log"))


def mangle(tail: Tail, chance: random.Random) -> tuple[dict[str, bytes], str]:
    """The folder's files with something wrong in what was not flushed, and a word for what."""
    files = {name: bytearray(data) for name, data in tail.files.items()}
    done = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        unflushed = [n for n in files if len(files[n]) > tail.flushed_bytes.get(n, 0) and n.endswith(".log")]
        if not unflushed:
            break
        name = chance.choice([*unflushed, max(unflushed)])
        start = tail.flushed_bytes.get(name, 0)
        how = chance.choice(_WAYS)
        done.append(f"{how.__name__.strip('_')} in {name}")
        how(files, name, start, chance)
    return {name: bytes(data) for name, data in files.items()}, ", ".join(done)


Files = dict[str, bytearray]


def _cut(files: Files, name: str, start: int, chance: random.Random) -> None:
    """The file's end was never written."""
    del files[name][chance.randint(start, len(files[name])) :]


def _cut_between_batches(files: Files, name: str, start: int, chance: random.Random) -> None:
    """The file's end was never written, and what is left looks right."""
    ends = [start]
    while ends[-1] + _LENGTH_ENDS_AT <= len(files[name]):
        length = int.from_bytes(files[name][ends[-1] + 8 : ends[-1] + _LENGTH_ENDS_AT], "big")
        ends.append(ends[-1] + _LENGTH_ENDS_AT + length)
    del files[name][chance.choice(ends) :]


def _lose_segment(files: Files, name: str, start: int, chance: random.Random) -> None:
    """The file itself is not there, unless something of it was flushed."""
    if start == 0:
        del files[name]


def _cut_all_behind(files: Files, name: str, start: int, chance: random.Random) -> None:
    """Nor were the segments that came after, whose names may be there or not."""
    _cut(files, name, start, chance)
    for other in [n for n in files if n > name and n.endswith(".log")]:
        if chance.random() < 0.5:
            files[other].clear()
        else:
            del files[other]


def _place(data: bytearray, start: int, chance: random.Random) -> tuple[int, int]:
    """A page of the file, as far as it was not flushed."""
    size = chance.choice(PAGE_BYTES)
    begin = chance.randint(start, max(start, len(data) - 1)) // size * size
    return max(begin, start), min(begin + size, len(data))


def _zero(files: Files, name: str, start: int, chance: random.Random) -> None:
    """A page was never written, the ones after it were."""
    begin, end = _place(files[name], start, chance)
    files[name][begin:end] = bytes(end - begin)


def _swap(files: Files, name: str, start: int, chance: random.Random) -> None:
    """Two pages lie in each other's place."""
    data = files[name]
    (first, first_end), (second, second_end) = _place(data, start, chance), _place(data, start, chance)
    size = min(first_end - first, second_end - second)
    one, two = data[first : first + size], data[second : second + size]
    data[first : first + size], data[second : second + size] = two, one


def _double(files: Files, name: str, start: int, chance: random.Random) -> None:
    """A page lies in another's place as well."""
    data = files[name]
    (first, first_end), (second, second_end) = _place(data, start, chance), _place(data, start, chance)
    size = min(first_end - first, second_end - second)
    data[second : second + size] = data[first : first + size]


def _add_garbage(files: Files, name: str, start: int, chance: random.Random) -> None:
    """The file is longer than what was written to it."""
    fill = chance.choice((bytes(1), b"\xff", chance.randbytes(700)))
    files[name] += (fill * 5000)[: chance.randint(1, 5000)]


def _lose_indexes(files: Files, name: str, start: int, chance: random.Random) -> None:
    """What is not synced before a checkpoint may be torn, empty or not there."""
    for other in [n for n in files if n.endswith((".index", ".timeindex", ".snapshot"))]:
        if other[:-6].rpartition(".")[0] < name.rpartition(".")[0]:
            continue
        if chance.random() < 0.3:
            del files[other]
        else:
            del files[other][chance.randint(0, len(files[other])) :]


_WAYS = (
    _cut,
    _cut_all_behind,
    _cut_between_batches,
    _lose_segment,
    _zero,
    _swap,
    _double,
    _add_garbage,
    _lose_indexes,
)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a start has to find in a spoilt folder."""

    batches: int
    """How many of the batches are there, one after the other, before the first that is not."""
    more_behind: bool
    """Whether a batch that was written is whole somewhere behind that place."""

    @classmethod
    def of(cls, files: dict[str, bytes], tail: Tail) -> "Expected":
        """Look for every batch where it was written, and for the rest anywhere behind."""
        batches = tail.account.batches
        names = sorted(name for name in files if name.endswith(".log"))
        found, slot, position = 0, 0, 0
        while found < len(batches) and slot < len(names):
            data = batches[found][1]
            if files[names[slot]].startswith(data, position):
                found, position = found + 1, position + len(data)
            elif position == len(files[names[slot]]) and _base(names, slot + 1) == batches[found][0]:
                slot, position = slot + 1, 0
            else:
                break
        rest = [files[name] for name in names[slot:]]
        rest[:1] = [piece[position:] for piece in rest[:1]]
        behind = any(batch in piece for _, batch in batches[found:] for piece in rest)
        return cls(found, behind)


def _base(names: list[str], slot: int) -> int:
    return int(names[slot].rpartition("/")[2].partition(".")[0]) if slot < len(names) else -1
