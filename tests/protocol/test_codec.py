"""Tests of protocol/codec.py: what callers see of both directions."""

import pytest

from wirekafka.protocol.apis.api_versions import ApiVersionsRequest
from wirekafka.protocol.apis.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from wirekafka.protocol.apis.heartbeat import HeartbeatRequest
from wirekafka.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from wirekafka.protocol.codec import Buffer, codec_for
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.headers import RequestHeader

COPY_LIMIT_BYTES = 32 * 1024


def heartbeat(**changes: object) -> HeartbeatRequest:
    given = {"group_id": "g", "generation_id": 5, "member_id": "m"} | changes
    return HeartbeatRequest(**given)  # type: ignore[arg-type]


def produce(records: bytes) -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=memoryview(records))
    topic = TopicProduceData(name="t", partition_data=[partition])
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


def fetched(records: "object") -> FetchResponse:
    partition = PartitionData(
        partition_index=0,
        error_code=0,
        high_watermark=1,
        aborted_transactions=None,
        records=records,  # type: ignore[arg-type]
    )
    topic = FetchableTopicResponse(topic_id=b"i" * 16, partitions=[partition])
    return FetchResponse(throttle_time_ms=0, responses=[topic])


class SliceOfAFile:
    """Stands for data that the connection sends by itself."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length


def test_codec_is_made_once_for_each_class_and_version() -> None:
    """Compiling takes a millisecond; nobody pays it twice."""
    assert codec_for(HeartbeatRequest, 3) is codec_for(HeartbeatRequest, 3)
    assert codec_for(HeartbeatRequest, 3) is not codec_for(HeartbeatRequest, 4)


@pytest.mark.parametrize("version", [-1, 5])
def test_codec_of_a_version_the_class_lacks_is_malformed(version: int) -> None:
    """What a peer may ask for is checked here, too."""
    with pytest.raises(MalformedMessage, match="HeartbeatRequest has no version"):
        codec_for(HeartbeatRequest, version)


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_parse_takes_any_buffer(form: type[Buffer]) -> None:
    """Frames are views, stored records bytes."""
    codec = codec_for(HeartbeatRequest, 4)
    data = codec.build(heartbeat(group_instance_id="i"))

    assert codec.parse(form(data)) == heartbeat(group_instance_id="i")


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_parse_from_takes_any_buffer(form: type[Buffer]) -> None:
    """The header is read out of the frame as it was received."""
    header = RequestHeader(request_api_key=18, request_api_version=3, correlation_id=7, client_id="c")
    data = codec_for(RequestHeader, 2).build(header)

    assert codec_for(RequestHeader, 2).parse_from(form(b"four" + data + b"body"), 4) == (
        header,
        4 + len(data),
    )


def test_parsed_values_do_not_depend_on_the_frame() -> None:
    """Only record data is a view: the rest outlives the buffer it came in."""
    codec = codec_for(HeartbeatRequest, 0)
    frame = bytearray(codec.build(heartbeat()))
    value = codec.parse(memoryview(frame))
    frame[:] = bytes(len(frame))

    assert value == heartbeat()


@pytest.mark.parametrize("version", [3, 9])
def test_parsed_records_are_a_view_of_the_frame(version: int) -> None:
    """An append may rewrite offset and epoch in place; nothing is copied."""
    codec = codec_for(ProduceRequest, version)
    frame = bytearray(codec.build(produce(b"batch")))
    records = codec.parse(frame).topic_data[0].partition_data[0].records
    assert records is not None
    records[:1] = b"c"

    assert b"catch" in bytes(frame)


def test_reason_names_message_and_version() -> None:
    """The log line of a refused frame says what was being read."""
    with pytest.raises(MalformedMessage, match=r"^HeartbeatRequest v4: .+"):
        codec_for(HeartbeatRequest, 4).parse(b"")


def test_compact_string_longer_than_the_old_form_allows_is_refused() -> None:
    """Kafka holds compact strings to the 32767 bytes of the old form, in both directions."""
    codec = codec_for(HeartbeatRequest, 4)
    longest = codec.build(heartbeat(group_id="g" * 32767))
    longer = longest.replace(b"\x80\x80\x02", b"\x81\x80\x02", 1).replace(b"gg", b"ggg", 1)

    assert codec.parse(longest).group_id == "g" * 32767
    with pytest.raises(MalformedMessage, match="a length beyond"):
        codec.parse(longer)
    with pytest.raises(MalformedMessage, match="a length beyond"):
        codec.build(heartbeat(group_id="g" * 32768))


@pytest.mark.parametrize(
    "changes",
    [
        {"generation_id": 2**31},
        {"generation_id": -(2**31) - 1},
        {"generation_id": "5"},
        {"generation_id": 1.5},
        {"group_id": "g" * 32768},
        {"group_id": b"g"},
        {"group_id": "\ud800"},
        {"group_id": 5},
    ],
)
@pytest.mark.parametrize("version", [0, 4])
def test_value_without_byte_form_is_refused(version: int, changes: dict[str, object]) -> None:
    """Whatever is wrong with a value, building raises MalformedMessage."""
    with pytest.raises(MalformedMessage, match=f"HeartbeatRequest v{version}"):
        codec_for(HeartbeatRequest, version).build(heartbeat(**changes))


@pytest.mark.parametrize("topic_id", [b"", b"i" * 15, b"i" * 17])
def test_id_of_another_length_is_refused(topic_id: bytes) -> None:
    """`struct` alone would cut or pad it in silence."""
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)])

    with pytest.raises(MalformedMessage, match="other than 16 bytes"):
        codec_for(MetadataRequest, 12).build(request)


def test_build_into_appends_behind_what_is_there() -> None:
    """The header stands in the same bytearray."""
    parts: list[object] = []
    out = codec_for(ApiVersionsRequest, 0).build_into(ApiVersionsRequest(), bytearray(b"head"), parts)

    assert bytes(out) == b"head"
    assert parts == []


@pytest.mark.parametrize("version", [4, 12, 16])
def test_records_up_to_the_limit_are_copied(version: int) -> None:
    """One small buffer is cheaper to send than three."""
    parts: list[object] = []
    out = codec_for(FetchResponse, version).build_into(fetched(b"r" * COPY_LIMIT_BYTES), bytearray(), parts)

    assert parts == []
    assert len(out) > COPY_LIMIT_BYTES


@pytest.mark.parametrize("version", [4, 12, 16])
@pytest.mark.parametrize("records", [b"r" * (COPY_LIMIT_BYTES + 1), SliceOfAFile(10), SliceOfAFile(10**6)])
def test_large_records_and_slices_of_files_become_parts(version: int, records: object) -> None:
    """What lies before them is a part, they are one, and the rest of the message goes behind."""
    head, parts = bytearray(b"head"), list[object]()
    last = codec_for(FetchResponse, version).build_into(fetched(records), head, parts)

    assert parts == [head, records]
    assert parts[1] is records
    assert head.startswith(b"head")
    assert bytes(last) == (b"" if version < 12 else b"\0\0\0")


def test_build_joins_the_parts() -> None:
    """A large message reads back as it was."""
    codec = codec_for(ProduceRequest, 9)
    message = produce(b"r" * 100_000)

    assert codec.parse(codec.build(message)) == message
