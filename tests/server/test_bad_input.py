"""Whatever a peer sends, it hurts itself alone: bad input over TCP against a running broker.

What is malformed closes its own connection; what is a wrong request gets an error code and may go on.
"""

import os
import random
import socket
import struct
import threading
from collections.abc import Iterator

import pytest
from crc32c import crc32c

from tests.support.raw_client import RawClient, framed, parse_response, request_frame
from tests.support.requests import batch_of, create_topic, fetch, produce, values_in
from tests.support.samples import sample, with_hostile_counts
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.records import BATCH_HEADER
from wirekafka.protocol.records.batch import HEADER
from wirekafka.testing import RunningBroker, running_broker

HTTP = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
TLS_HELLO = bytes.fromhex("16030100c8010000c40303") + bytes(range(100))
BATCH = batch_of(b"one", b"two")
CRC_POSITION, CRC_COVERS_FROM, MAGIC_POSITION = 17, 21, 16


def header(key: int, version: int, *, flexible: bool = False) -> bytes:
    head = RequestHeader(request_api_key=key, request_api_version=version, correlation_id=1, client_id="bad")
    return codec_for(RequestHeader, 2 if flexible else 1).build(head)


def hostile_counts() -> Iterator[tuple[str, bytes]]:
    """Every array of every request, at its newest version, announcing 2^31-1 elements."""
    for api in APIS.values():
        version = api.versions.newest
        head = header(api.key, version, flexible=api.is_flexible(version))
        for index, body in enumerate(with_hostile_counts(api.request, version)):
            yield f"{api.name} v{version}, array {index}", framed(head + body)


def wrong_lengths() -> Iterator[tuple[str, bytes]]:
    for length in (-1, 0, 2**31 - 1, -(2**31)):
        yield f"length {length}", struct.pack(">i", length) + b"xyz"


def wrong_headers() -> Iterator[tuple[str, bytes]]:
    for key in (-1, 9999, 32767):
        yield f"key {key}", framed(header(key, 0))
    for api in APIS.values():
        if api is not API_VERSIONS:
            yield f"{api.name} v-1", framed(header(api.key, -1))
            yield f"{api.name} too new", framed(header(api.key, api.versions.newest + 1))
    yield "no header", framed(b"\0\0")


def cut_frames() -> Iterator[tuple[str, bytes]]:
    for api in APIS.values():
        whole = request_frame(sample(api.request, api.versions.newest), api.versions.newest)
        yield f"{api.name} cut", whole[: len(whole) // 2]
        yield f"{api.name} short of its own end", framed(whole[4:-1])


def noise() -> Iterator[tuple[str, bytes]]:
    rng = random.Random(18)
    for n in range(40):
        yield f"noise {n}", rng.randbytes(rng.choice([1, 3, 4, 50, 5000]))
        yield f"framed noise {n}", framed(rng.randbytes(rng.choice([1, 9, 200])))


def other_protocols() -> Iterator[tuple[str, bytes]]:
    yield "HTTP", HTTP
    yield "TLS", TLS_HELLO


def all_bad_input() -> list[tuple[str, bytes]]:
    kinds = (noise, other_protocols, wrong_lengths, wrong_headers, cut_frames, hostile_counts)
    return [attack for kind in kinds for attack in kind()]


class Attacker:
    """A connection that sends some bytes and no more, and listens to the end."""

    def __init__(self, broker: RunningBroker, data: bytes) -> None:
        self.socket = socket.create_connection((broker.host, broker.port), timeout=10)
        self.socket.sendall(data)

    def cut(self) -> bytes:
        """Stop sending; give what the broker answers until it closes."""
        answer = bytearray()
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while piece := self.socket.recv(65536):
                answer += piece
        except OSError:  # a reset: the broker closed with some of our bytes unread
            pass
        finally:
            self.socket.close()
        return bytes(answer)


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(scope="module")
def topic(broker: RunningBroker) -> str:
    with RawClient(broker.bootstrap) as raw:
        create_topic(raw, "bad-input")
    return "bad-input"


@pytest.mark.parametrize(
    ("kind", "data"),
    [*wrong_lengths(), *other_protocols(), *wrong_headers()],
    ids=lambda value: str(value)[:30],
)
def test_a_frame_that_is_no_request_closes_the_connection(
    broker: RunningBroker, kind: str, data: bytes
) -> None:
    """At once and without an answer, though the peer goes on listening and sending nothing."""
    with RawClient(broker.bootstrap) as raw:
        raw.send(data)

        assert raw.hung_up(), kind


def test_a_hostile_count_in_any_array_closes_the_connection(broker: RunningBroker) -> None:
    """2^31-1 elements are refused before any is read; the frame is whole, so nothing is waited for."""
    answered = []
    for kind, data in hostile_counts():
        with RawClient(broker.bootstrap) as raw:
            raw.send(data)
            if not raw.hung_up():
                answered.append(kind)

    assert answered == []


def test_every_array_is_among_the_hostile_counts() -> None:
    """The walk finds arrays at every depth: Fetch has topics, partitions, and forgotten ones."""
    kinds = [kind for kind, _ in hostile_counts()]

    assert len([kind for kind in kinds if kind.startswith("Fetch ")]) == 4
    assert len(kinds) > 30


def test_a_broken_frame_closes_the_connection_after_the_good_ones_before_it(broker: RunningBroker) -> None:
    """What was asked before is answered before the connection goes."""
    with RawClient(broker.bootstrap) as raw:
        good = request_frame(MetadataRequest(topics=[]), 12)
        raw.send(good + framed(header(9999, 0)) + good)

        correlation_id, metadata = parse_response(APIS[3], 12, raw.receive_frame())
        assert correlation_id == 7
        assert metadata.topics == []
        assert raw.hung_up()


def test_a_too_new_api_versions_request_is_answered_and_may_be_asked_again(broker: RunningBroker) -> None:
    """KIP-511: code 35 and the versions of ApiVersions itself, in v0; the connection stays."""
    with RawClient(broker.bootstrap) as raw:
        raw.send(framed(header(18, 99) + b"\xff\xfe"))
        _, answer = parse_response(API_VERSIONS, 0, raw.receive_frame())
        again = raw.ask(ApiVersionsRequest(client_software_name="t", client_software_version="1"), 3)

    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(key.api_key, key.min_version, key.max_version) for key in answer.api_keys] == [(18, 0, 5)]
    assert again.error_code == ErrorCode.NONE


def changed(**fields: int) -> bytes:
    """The batch with other header fields, and the CRC that goes with them."""
    names = [field.name for field in BATCH_HEADER.subcons]
    values = dict(zip(names, HEADER.unpack_from(BATCH), strict=True)) | fields
    data = bytearray(BATCH)
    HEADER.pack_into(data, 0, *values.values())
    struct.pack_into(">I", data, CRC_POSITION, crc32c(bytes(data[CRC_COVERS_FROM:])))
    return bytes(data)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (BATCH[:-1] + bytes([BATCH[-1] ^ 1]), ErrorCode.CORRUPT_MESSAGE),
        (changed(batch_length=len(BATCH) - 11), ErrorCode.INVALID_RECORD),
        (changed(batch_length=2**31 - 1), ErrorCode.INVALID_RECORD),
        (changed(batch_length=10), ErrorCode.CORRUPT_MESSAGE),
        (changed(batch_length=-1), ErrorCode.CORRUPT_MESSAGE),
        (changed(batch_length=len(BATCH) - 13), ErrorCode.CORRUPT_MESSAGE),
        (changed(record_count=3), ErrorCode.INVALID_RECORD),
        (changed(record_count=2**31 - 1), ErrorCode.INVALID_RECORD),
        (changed(record_count=-1), ErrorCode.INVALID_RECORD),
        (changed(last_offset_delta=7), ErrorCode.INVALID_RECORD),
        (changed(magic=0), ErrorCode.INVALID_RECORD),
        (changed(magic=1), ErrorCode.INVALID_RECORD),
        (changed(magic=3), ErrorCode.CORRUPT_MESSAGE),
        (changed(magic=-1), ErrorCode.CORRUPT_MESSAGE),
        (BATCH[:-1], ErrorCode.INVALID_RECORD),
        (BATCH[:20], ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (BATCH + BATCH, ErrorCode.INVALID_RECORD),
    ],
    ids=[
        "crc", "a-byte-longer", "longest", "ten-bytes", "length-minus-one", "a-byte-shorter", "count-3",
        "count-most", "count-minus-one", "delta", "magic-0", "magic-1", "magic-3",
        "magic-minus-one", "cut", "cut-in-header", "none", "two",
    ],
)  # fmt: skip
def test_a_bad_batch_is_refused_by_code_and_leaves_nothing_in_the_log(
    raw: RawClient, topic: str, records: bytes, code: ErrorCode
) -> None:
    """Kafka's codes (LogValidator, DefaultRecordBatch, ProduceRequest.validateRecords); the same
    connection then appends a good batch, which is the only one in the log."""
    before = len(values_in(fetch(raw, topic)))
    refused = produce(raw, topic, records)
    accepted = produce(raw, topic, BATCH)
    after = len(values_in(fetch(raw, topic)))

    assert (ErrorCode(refused), accepted) == (code, 0)
    assert after - before == 2


def test_a_connection_cut_in_the_middle_of_a_frame_is_closed_on_this_side_too(broker: RunningBroker) -> None:
    """No answer to half a request, and no connection left open for its other half."""
    answers = {kind: Attacker(broker, data).cut() for kind, data in cut_frames() if kind.endswith(" cut")}

    assert set(answers.values()) == {b""}
    assert len(answers) == len(APIS)


def test_a_connection_that_is_reset_in_the_middle_of_a_frame_hurts_nobody(
    broker: RunningBroker, raw: RawClient
) -> None:
    """A peer that dies without a farewell (RST) is an event like any other."""
    for _ in range(10):
        attacker = Attacker(broker, request_frame(MetadataRequest(topics=[]), 12)[:-3])
        attacker.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        attacker.socket.close()

    assert raw.ask(MetadataRequest(topics=[]), 12).topics == []


def test_hundreds_of_bad_connections_disturb_no_good_client_and_leave_nothing_behind() -> None:
    """One client produces and fetches between all of them and sees no error; threads and descriptors
    are as before."""
    attacks = all_bad_input()
    random.Random(3).shuffle(attacks)
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        create_topic(raw, "t")
        produce(raw, "t", batch_of(b"first"))
        fetch(raw, "t")
        descriptors, threads = open_descriptors(), threading.active_count()
        sent, codes = [b"first"], set()
        for number, (_, data) in enumerate(attacks):
            attacker = Attacker(broker, data)
            sent.append(b"value %d" % number)
            codes.add(produce(raw, "t", batch_of(sent[-1])))
            fetched = values_in(fetch(raw, "t", len(sent) - 1))
            attacker.cut()
            assert fetched == [sent[-1]]
        everything = values_in(fetch(raw, "t"))
        for _ in range(100):  # each turn goes through the broker's loop, which closes what was cut
            if open_descriptors() <= descriptors:
                break
            fetch(raw, "t")
        left = (open_descriptors(), threading.active_count())

    assert len(attacks) >= 200
    assert codes == {0}
    assert everything == sent
    assert left[0] <= descriptors
    assert left[1] <= threads
