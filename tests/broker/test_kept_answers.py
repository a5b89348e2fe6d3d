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
    monkeypatch.setattr(kept_answers, "_MOST_BYTES", 10)
    kept = State().kept
    kept.find("t")

    for key, size in (("t", 6), ("u", 4), ("v", 5)):
        kept.keep(key, bytes(size))
    found = [key for key in "tuv" if kept.find(key)]
    too_large = kept.keep("w", bytes(11))

    assert (found, too_large, kept.find("w")) == (["v"], Built((bytes(11),)), None)
