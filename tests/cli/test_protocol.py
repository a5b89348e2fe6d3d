"""Tests of cli/protocol.py."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirekafka.cli.protocol import protocol
from wirekafka.ids import uuid_text
from wirekafka.protocol.apis.api_versions import ApiVersionsResponse
from wirekafka.protocol.apis.heartbeat import HeartbeatResponse
from wirekafka.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.headers import RequestHeader, ResponseHeader
from wirekafka.protocol.message import Message
from wirekafka.protocol.records import Record, build_batch

HEARTBEAT = "000c 0004 00000007 0002 6d65 00  0267 00000005 026d 00 00"
"""A request without its length: header v2, then HeartbeatRequest v4."""

HEARTBEAT_LINES = [
    "0  00 0c  request_api_key  12 (Heartbeat)",
    "2  00 04  request_api_version  4",
    "4  00 00 00 07  correlation_id  7",
    "8  00 02 6d 65  client_id  'me'",
    "12  00  tagged fields  0",
    "HeartbeatRequest  v4",
    "13  02 67  group_id  'g'",
    "15  00 00 00 05  generation_id  5",
    "19  02 6d  member_id  'm'",
    "21  00  group_instance_id  null",
    "22  00  tagged fields  0",
]


def decode(data: bytes | str, *options: str) -> Result:
    return CliRunner().invoke(protocol, ["decode", *options], input=data)


def lines(result: Result) -> list[str]:
    """What was listed, with runs of blanks between columns made two."""
    return [
        "  ".join(part.strip() for part in line.split("  ") if part.strip())
        for line in result.stdout.splitlines()
    ]


def produce_request(records: bytes) -> bytes:
    header = RequestHeader(request_api_key=0, request_api_version=13, correlation_id=1, client_id=None)
    partition = PartitionProduceData(index=0, records=memoryview(records))
    topic = TopicProduceData(topic_id=bytes(range(16)), partition_data=[partition])
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])
    return codec_for(RequestHeader, 2).build(header) + codec_for(ProduceRequest, 13).build(request)


def response(message: Message, version: int, header_version: int) -> bytes:
    header = codec_for(ResponseHeader, header_version).build(ResponseHeader(correlation_id=9))
    return header + codec_for(type(message), version).build(message)


def test_request_is_shown_field_by_field_with_positions_and_bytes() -> None:
    """Header first, then the body named by it."""
    result = decode(HEARTBEAT)

    assert lines(result) == HEARTBEAT_LINES
    assert result.exit_code == 0


def test_length_in_front_is_recognised() -> None:
    """A frame as it was on the wire; positions count from the length."""
    result = decode("00000017" + HEARTBEAT)

    assert lines(result)[:2] == ["0  00 00 00 17  length  23", "4  00 0c  request_api_key  12 (Heartbeat)"]
    assert result.exit_code == 0


@pytest.mark.parametrize("length", ["00000020", "00000002"])
def test_length_that_does_not_fit_is_shown_and_malformed(length: str) -> None:
    """A cut capture still shows what it holds."""
    result = decode(length + HEARTBEAT)

    assert f"length  {int(length, 16)}, but 23 bytes follow" in lines(result)[0]
    assert len(lines(result)) == 1 + len(HEARTBEAT_LINES)
    assert "byte 0, length" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize(
    "text",
    [
        HEARTBEAT.upper(),
        HEARTBEAT.replace(" ", "\n"),
        "0x" + HEARTBEAT.replace(" ", ":"),
        HEARTBEAT.replace(" ", ""),
    ],
)
def test_hex_is_taken_however_it_was_copied(text: str) -> None:
    """Any case, blanks, line ends, colons, 0x."""
    assert lines(decode(text)) == HEARTBEAT_LINES


def test_binary_is_recognised() -> None:
    """What is no hex is the frame itself."""
    assert lines(decode(bytes.fromhex(HEARTBEAT))) == HEARTBEAT_LINES


def test_options_overrule_the_look_at_the_input(tmp_path: Path) -> None:
    """Bytes that happen to be hex digits can be said to be binary, and the other way."""
    file = tmp_path / "frame"
    file.write_bytes(b"0000")

    binary = decode(b"", "--binary", "--raw-message", "ResponseHeader", "0", str(file))
    hexadecimal = decode(b"\xff", "--hex")

    assert lines(binary) == ["0  30 30 30 30  correlation_id  808464432"]
    assert "Not hex" in hexadecimal.stderr
    assert hexadecimal.exit_code == 1


def test_odd_number_of_hex_digits_is_refused() -> None:
    """Half a byte is a slip in copying."""
    result = decode("000")

    assert result.exit_code == 1
    assert "Not hex: 3 characters" in result.stderr


def test_malformed_frame_is_shown_up_to_the_fault() -> None:
    """Then position, field and reason, and exit status 1."""
    result = decode(bytes.fromhex(HEARTBEAT)[:-6])

    assert lines(result) == HEARTBEAT_LINES[:7]
    assert result.stderr == "Malformed: byte 15, generation_id: the end comes within this field\n"
    assert result.exit_code == 1


def test_bytes_behind_the_message_are_malformed() -> None:
    """A frame holds one message."""
    result = decode(HEARTBEAT + "ffff")

    assert lines(result) == HEARTBEAT_LINES
    assert result.stderr == "Malformed: byte 23, HeartbeatRequest: 2 bytes behind the end of the message\n"
    assert result.exit_code == 1


def test_empty_input_is_malformed() -> None:
    """Nothing is no frame."""
    result = decode(b"")

    assert result.exit_code == 1
    assert "byte 0, request_api_key" in result.stderr


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ("7fff 0000 00000001 ffff", "byte 0, request_api_key: 32767 is no API that is known here"),
        ("000c 0063 00000001 ffff 00", "byte 2, request_api_version: 99, while v0 to v4 are known here"),
    ],
)
def test_header_is_shown_of_a_request_nobody_knows(frame: str, reason: str) -> None:
    """Key and version are said before the listing ends."""
    result = decode(frame)

    assert "4  00 00 00 01  correlation_id  1" in lines(result)
    assert reason in result.stderr
    assert result.exit_code == 1


def test_batches_are_summed_up() -> None:
    """Base offset, count, codec and CRC, at the batch's own position."""
    records = bytes(build_batch([Record(value=b"v"), Record(value=b"w")], base_offset=5, codec=1))
    frame = produce_request(records + b"torn")
    first = frame.index(records)

    result = decode(frame)

    shown = lines(result)
    assert f"{first}  batch  base offset 5, 2 records, gzip, crc ok, {len(records)} bytes" in shown
    assert f"{first + len(records)}  torn  4 bytes that are no whole batch" in shown
    assert result.exit_code == 0


def test_batch_shows_what_is_wrong_and_whose_it_is() -> None:
    """A CRC that does not match, a producer, a transaction."""
    records = build_batch(
        [Record(value=b"v")], producer_id=7, producer_epoch=1, base_sequence=3, attributes=0x10
    )
    records[-1] ^= 1

    result = decode(produce_request(bytes(records)))

    assert "CRC WRONG" in result.stdout
    assert "producer 7 epoch 1 from 3, transactional" in result.stdout


def test_long_fields_are_cut_and_ids_written_as_kafka_prints_them() -> None:
    """Twelve bytes and how many more there are; a topic id in base64."""
    result = decode(produce_request(b""))

    assert "topic_id  " + uuid_text(bytes(range(16))) in result.stdout
    assert "00 01 02 03 04 05 06 07 08 09 0a 0b +4" in result.stdout


def test_response_is_read_by_the_api_and_version_of_its_request() -> None:
    """A response does not say what it is; error codes get their names."""
    frame = response(HeartbeatResponse(throttle_time_ms=0, error_code=27), 4, 1)

    result = decode(frame, "--response", "--api", "heartbeat", "--version", "4")

    assert lines(result) == [
        "0  00 00 00 09  correlation_id  9",
        "4  00  tagged fields  0",
        "HeartbeatResponse  v4",
        "5  00 00 00 00  throttle_time_ms  0",
        "9  00 1b  error_code  27 (REBALANCE_IN_PROGRESS)",
        "11  00  tagged fields  0",
    ]
    assert result.exit_code == 0


def test_api_versions_response_has_the_old_header() -> None:
    """At every version (KIP-511); the API may be given by its key, and a length may be in front."""
    frame = response(ApiVersionsResponse(error_code=0, api_keys=[]), 3, 0)

    result = decode(len(frame).to_bytes(4, "big") + frame, "--response", "--api", "18", "--version", "3")

    assert lines(result)[:3] == [
        "0  00 00 00 0c  length  12",
        "4  00 00 00 09  correlation_id  9",
        "ApiVersionsResponse  v3",
    ]
    assert result.exit_code == 0


def test_raw_message_has_no_header() -> None:
    """Stored records are looked at in the same way."""
    result = decode("0001 67 0001 74 00000003", "--raw-message", "OffsetCommitKey", "0")

    assert lines(result) == [
        "0  00 01 67  group  'g'",
        "3  00 01 74  topic  't'",
        "6  00 00 00 03  partition  3",
    ]
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--response"], "--response needs --api and --version"),
        (["--response", "--api", "Fetch"], "--response needs --api and --version"),
        (["--api", "Fetch"], "go with --response"),
        (["--response", "--raw-message", "FetchResponse", "4"], "exclude each other"),
        (["--response", "--api", "Fetsch", "--version", "4"], "Did you mean Fetch"),
        (["--response", "--api", "Fetch", "--version", "99"], "has no version 99; known are 4 to 18"),
        (["--raw-message", "FetchRespons", "4"], "Did you mean FetchResponse"),
        (["--raw-message", "qqq", "4"], "Known: "),
    ],
)
def test_options_that_make_no_sense_are_explained(options: list[str], reason: str) -> None:
    """A usage error says what would be right."""
    result = decode(HEARTBEAT, *options)

    assert reason in " ".join(result.stderr.split())
    assert result.exit_code == 2


def test_example_of_the_help_works() -> None:
    """What is printed there can be pasted."""
    help_text = CliRunner().invoke(protocol, ["decode", "--help"]).output
    example = next(line for line in help_text.splitlines() if "echo" in line)

    result = decode(example.partition("echo ")[2].partition(" |")[0])

    assert "client_id  'wirecatch'" in result.stdout
    assert result.exit_code == 0
