"""kept_answers: the same as long as nothing changes, and never too much."""

import pytest

from wirekafka.broker import kept_answers
from wirekafka.broker.kept_answers import KeptAnswers
from wirekafka.protocol.connection import Built


class State:
    def __init__(self) -> None:
        self.generation = 0
        self.kept = KeptAnswers(lambda: self.generation)


def test_answer_is_found_under_its_key_alone() -> None:
    kept = State().kept

    before = kept.find("t")
    made = kept.keep("t", b"body")

    assert (before, made, kept.find("t"), kept.find("u")) == (None, Built((b"body",)), made, None)


def test_any_change_forgets_all() -> None:
    state = State()
    state.kept.find("t")
    state.kept.keep("t", b"body")

    state.generation += 1

    assert state.kept.find("t") is None
    state.kept.keep("t", b"other")
    assert state.kept.find("t") == Built((b"other",))


def test_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too much begins anew; what is larger than all of the room is answered and not kept."""
    monkeypatch.setattr(kept_answers, "_MOST_BYTES", 10_000)
    kept = State().kept
    kept.find("t")

    for key, size in (("t", 6000), ("u", 3000), ("v", 5000)):
        kept.keep(key, bytes(size))
    found = [key for key in "tuv" if kept.find(key)]
    too_large = kept.keep("w", bytes(11_000))

    assert (found, too_large, kept.find("w")) == (["v"], Built((bytes(11_000),)), None)


def test_what_was_asked_for_takes_room_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client may ask for one topic a thousand times over, or with a long name beside its id."""
    monkeypatch.setattr(kept_answers, "_MOST_BYTES", 1_000_000)
    kept = State().kept
    kept.find("t")

    long_names = [(3, ((f"{number}" + "n" * 30_000, bytes(16)),)) for number in range(100)]
    many_times = [(3, (("t", bytes(16)),) * (5_000 + number)) for number in range(100)]
    found = []
    for keys in (long_names, many_times):
        for key in keys:
            kept.keep(key, b"body")
        found.append(sum(kept.find(key) is not None for key in keys))

    assert 0 < found[0] < 33
    assert 0 < found[1] < 25


def test_small_answers_take_room_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "_MOST_BYTES", 10_000)
    kept = State().kept
    kept.find("t")

    for number in range(1000):
        kept.keep(number, b"")

    assert 0 < sum(kept.find(number) is not None for number in range(1000)) < 100
