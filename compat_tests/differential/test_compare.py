"""The comparison itself, without brokers: what it sees, what it lets pass, what it finds stale.

Read by pytest; calls `compare`, `purpose`, `fields` and `plain`. Source: the rules in those files.
"""

from __future__ import annotations

import pytest

from compat_tests.differential.batches import LOG_APPEND_TIME, Record, batch
from compat_tests.differential.compare import Comparison
from compat_tests.differential.fields import Plain, Stands
from compat_tests.differential.plain import plain
from compat_tests.differential.purpose import OnPurpose, Some
from compat_tests.differential.side import Exchange
from wirekafka.protocol.apis.heartbeat import HeartbeatResponse
from wirekafka.protocol.apis.metadata import MetadataResponseTopic

CODE = OnPurpose("s: one v*", "rows.code", 3, 0, "because", ("rows.more",))


def exchange(answer: Plain, label: str = "one", version: int = 1) -> Exchange:
    return Exchange("s", label, "Api", version, answer, 0.0)


def compared(kafka: Plain, ours: Plain, *purposes: OnPurpose) -> Comparison:
    comparison = Comparison()
    comparison.add([exchange(kafka)], [exchange(ours)], purposes)
    return comparison


def rows(code: int, more: int) -> Plain:
    return {"rows": [{"name": "a", "code": code, "more": more}]}


def test_equal_answers_have_no_difference() -> None:
    """What is the same in every field is the same."""
    assert compared(rows(1, 2), rows(1, 2)).unexplained == []


def test_difference_names_field_and_place() -> None:
    """A difference is told by its field, and where in the answer it stands."""
    (difference,) = compared(rows(1, 2), rows(9, 2)).unexplained

    assert (difference.field, difference.place) == ("rows.code", ".rows[a].code")
    assert (difference.kafka, difference.ours) == (1, 9)


@pytest.mark.parametrize("ours", ["closes the connection", {"rows": []}, {"rows": None}, {}, None])
def test_missing_parts_are_seen(ours: Plain) -> None:
    """Silence, an empty list, a null and an absent field all differ from a row."""
    assert len(compared(rows(1, 2), ours).unexplained) == 1


def test_purpose_explains_its_values_and_what_follows() -> None:
    """An entry takes its own difference, and with it those that it entails."""
    comparison = compared(rows(3, 1), rows(0, 2), CODE)

    assert comparison.unexplained == []
    assert comparison.explained == {CODE: 1}


def test_purpose_explains_no_other_values() -> None:
    """An entry for 3 against 0 says nothing of 4 against 0, nor of what else differs then."""
    assert len(compared(rows(4, 1), rows(0, 2), CODE).unexplained) == 2


def test_entailed_field_alone_is_not_explained() -> None:
    """What an entry entails is let pass only where the entry itself holds."""
    assert len(compared(rows(3, 1), rows(3, 2), CODE).unexplained) == 1


def test_unused_purpose_is_stale_when_its_scenario_ran() -> None:
    """An entry that explains nothing fails the run, but not a run of other scenarios."""
    comparison = compared(rows(1, 1), rows(1, 1), CODE)

    assert comparison.stale([CODE], ["s"], whole=False) == [CODE]
    assert comparison.stale([CODE], ["other"], whole=False) == []
    assert comparison.stale([CODE], ["other"], whole=True) == [CODE]


def test_scenario_that_breaks_off_is_a_difference() -> None:
    """One side with fewer exchanges, or others, is out of step."""
    comparison = Comparison()
    comparison.add([exchange(1), exchange(1, "two")], [exchange(1)], [])
    comparison.add([exchange(1, "three")], [exchange(1, "four")], [])

    assert [difference.field for difference in comparison.unexplained] == ["exchange", "exchange"]


def test_names_are_used_once() -> None:
    """Two exchanges of one name would share their differences on purpose."""
    with pytest.raises(ValueError, match="two exchanges are called s: one v1"):
        Comparison().add([exchange(1)] * 2, [exchange(1)] * 2, [])


def test_words_of_a_message_may_differ_but_not_that_there_is_one() -> None:
    """Free text equals free text; null does not."""
    one, other = (Stands().for_text("error_message", text) for text in ("No such topic.", "Unknown."))

    assert compared({"m": one}, {"m": other}).unexplained == []
    assert len(compared({"m": one}, {"m": None}).unexplained) == 1
    assert not Some.TEXT.is_like(None)


def test_random_ids_stand_for_names() -> None:
    """A known topic id is its topic, no id is none, and any other id is itself."""
    stands = Stands(topics={b"\1" * 16: "topic a"})
    ids = [b"\1" * 16, bytes(16), b"\2" * 16]
    topics = [MetadataResponseTopic(error_code=0, name="", topic_id=i, partitions=[]) for i in ids]

    told = [plain(topic, stands) for topic in topics]

    assert [t["topic_id"] for t in told if isinstance(t, dict)] == ["topic a", "no topic", "02" * 16]


def test_error_code_is_compared_as_it_is() -> None:
    """A field without a rule is its value."""
    assert plain(HeartbeatResponse(error_code=16), Stands()) == {"throttle_time_ms": 0, "error_code": 16}


def test_batches_are_compared_header_by_header() -> None:
    """Stored batches show their fields; with log append time, time and CRC are the broker's own."""
    created, stamped = batch([Record()], base_offset=7), batch([Record()], attributes=LOG_APPEND_TIME)

    told = plain(created + stamped + b"torn", Stands(), "records")

    assert isinstance(told, list)
    first, second, rest = told
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert (first["base_offset"], first["record_count"]) == (7, 1)
    assert (second["max_timestamp"], second["crc"]) == ("a time", "of a time")
    assert rest == {"torn_bytes": 4}
