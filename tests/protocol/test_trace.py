"""Tests of protocol/trace.py."""

import pytest

from wirekafka.protocol.apis.fetch import FetchRequest, ReplicaState
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.message import Message, wire
from wirekafka.protocol.trace import MalformedAt, TracedField, trace_message
from wirekafka.protocol.wire import BOOLEAN, INT8, nullable_struct_of, struct_of

HEARTBEAT_V4 = bytes.fromhex("0267 00000005 026d 00 00")


class Inner(Message):
    flag: bool = wire(BOOLEAN)


class Outer(Message, versions="0"):
    plain: Inner = wire(struct_of(Inner))
    present: Inner | None = wire(nullable_struct_of(Inner))
    absent: Inner | None = wire(nullable_struct_of(Inner))
    last: int = wire(INT8)


def traced(cls: type[Message], version: int, data: bytes) -> list[TracedField]:
    return list(trace_message(cls, version, data))


def read_until_fault(cls: type[Message], version: int, data: bytes) -> tuple[list[str], MalformedAt]:
    """Names of the fields in front of the fault, and the fault."""
    names: list[str] = []

    def read() -> None:
        for field in trace_message(cls, version, data):
            names.append(field.name)

    with pytest.raises(MalformedAt) as caught:
        read()
    return names, caught.value


def test_fields_come_in_order_with_their_bytes() -> None:
    """One after the other, lengths included."""
    assert traced(HeartbeatRequest, 4, HEARTBEAT_V4) == [
        TracedField(0, "group_id", "text", "g", 0, 2),
        TracedField(0, "generation_id", "number", 5, 2, 6),
        TracedField(0, "member_id", "text", "m", 6, 8),
        TracedField(0, "group_instance_id", "text", None, 8, 9),
        TracedField(0, "tagged fields", "tags", 0, 9, 10),
    ]


def test_trace_may_begin_behind_a_header() -> None:
    """Positions are those of the whole frame."""
    fields = list(trace_message(HeartbeatRequest, 4, b"head" + HEARTBEAT_V4, 4))

    assert (fields[0].start, fields[-1].end) == (4, 14)


def test_elements_stand_below_their_array() -> None:
    """An array's own bytes are its count; elements are numbered."""
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=b"i" * 16, name="t")])
    data = codec_for(MetadataRequest, 12).build(request)

    shown = [(f.depth, f.name, f.form, f.value, f.start, f.end) for f in traced(MetadataRequest, 12, data)]

    assert shown == [
        (0, "topics", "array", 1, 0, 1),
        (1, "[0]", "struct", 2, 1, 1),
        (2, "topic_id", "id", b"i" * 16, 1, 17),
        (2, "name", "text", "t", 17, 19),
        (2, "tagged fields", "tags", 0, 19, 20),
        (0, "allow_auto_topic_creation", "flag", True, 20, 21),
        (0, "include_topic_authorized_operations", "flag", False, 21, 22),
        (0, "tagged fields", "tags", 0, 22, 23),
    ]


def test_null_array_has_no_elements() -> None:
    """Null is told from empty."""
    data = codec_for(MetadataRequest, 12).build(MetadataRequest(topics=None))

    assert traced(MetadataRequest, 12, data)[0] == TracedField(0, "topics", "array", None, 0, 1)


def test_structs_show_their_marker_and_their_fields() -> None:
    """A plain struct has no byte of its own, a nullable one has its marker (KIP-893)."""
    shown = [
        (f.depth, f.name, f.value, f.start, f.end) for f in traced(Outer, 0, bytes.fromhex("00 0101 ff 07"))
    ]

    assert shown == [
        (0, "plain", 1, 0, 0),
        (1, "flag", False, 0, 1),
        (0, "present", 1, 1, 2),
        (1, "flag", True, 2, 3),
        (0, "absent", None, 3, 4),
        (0, "last", 7, 4, 5),
    ]


def test_tagged_fields_stand_below_their_tags() -> None:
    """Tag and size first, then the field; a tag nobody knows is shown as bytes."""
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, topics=[], replica_state=ReplicaState(replica_id=3), cluster_id="c"
    )
    data = bytearray(codec_for(FetchRequest, 15).build(request))
    at = data.index(b"\x02\x00\x02\x02c")
    data[at] = 3
    data += bytes.fromhex("63 02 aabb")

    shown = [(f.depth, f.name, f.value) for f in traced(FetchRequest, 15, bytes(data)) if f.start >= at]

    assert shown == [
        (0, "tagged fields", 3),
        (1, "tag 0", 0),
        (2, "cluster_id", "c"),
        (1, "tag 1", 1),
        (2, "replica_state", 2),
        (3, "replica_id", 3),
        (3, "replica_epoch", -1),
        (3, "tagged fields", 0),
        (1, "tag 99", 99),
        (2, "unknown", b"\xaa\xbb"),
    ]


@pytest.mark.parametrize(
    ("data", "names", "position", "path", "reason"),
    [
        ("", [], 0, "group_id", "the end comes within this field"),
        ("00", [], 0, "group_id", "null where none may be"),
        ("0567", [], 0, "group_id", "announces 4 bytes, 1 bytes are left"),
        ("02ff 00000005", [], 0, "group_id", "not UTF-8: invalid start byte"),
        ("ffffffffff01", [], 0, "group_id", "a varint of more than five bytes"),
        ("0267 0000", ["group_id"], 2, "generation_id", "the end comes within this field"),
        (
            "0267 00000005 026d 00 01 05 04 00",
            ["group_id", "generation_id", "member_id", "group_instance_id", "tagged fields"],
            10,
            "tagged fields",
            "tag 5 announces 4 bytes, 1 are left",
        ),
    ],
)
def test_fault_says_where_and_why_behind_the_fields_before_it(
    data: str, names: list[str], position: int, path: str, reason: str
) -> None:
    """What was read is shown, then the position, the field and the reason."""
    read, fault = read_until_fault(HeartbeatRequest, 4, bytes.fromhex(data))

    assert read == names
    assert (fault.position, fault.path, fault.reason) == (position, path, reason)
    assert str(fault) == f"byte {position}, {path}: {reason}"


def test_path_of_a_fault_leads_through_arrays() -> None:
    """`topics[1].name` is what a reader looks for."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name="a"), MetadataRequestTopic(name="b")])
    data = codec_for(MetadataRequest, 1).build(request)

    _, fault = read_until_fault(MetadataRequest, 1, data[:-1])

    assert (fault.position, fault.path) == (7, "topics[1].name")


@pytest.mark.parametrize(
    ("data", "reason"), [("fffffffe", "a length of -2"), ("7fffffff", "announces 2147483647")]
)
def test_hostile_count_is_a_fault_at_once(data: str, reason: str) -> None:
    """No element is read for a count that cannot be."""
    _, fault = read_until_fault(MetadataRequest, 1, bytes.fromhex(data))

    assert fault.reason.startswith(reason)


def test_known_tag_of_another_size_is_a_fault() -> None:
    """The size that was announced is the size that must be taken."""
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[], cluster_id="c")
    data = codec_for(FetchRequest, 15).build(request).replace(b"\x01\x00\x02\x02c", b"\x01\x00\x03\x02c?")

    _, fault = read_until_fault(FetchRequest, 15, data)

    assert fault.reason == "tag 0 announces 3 bytes, its field takes 2"
