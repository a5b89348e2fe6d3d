"""Requests as bytes, and answers read by hand: what every bench sends over plain sockets.

Requests are built once, outside what is timed, by the package's own codec; every kind of request is
checked once for being answered with what was asked for.
"""

import os
import socket
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from wirekafka.ids import NO_TOPIC_ID
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from wirekafka.protocol.apis.create_topics import (
    CREATE_TOPICS,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from wirekafka.protocol.apis.delete_topics import DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.fetch import FETCH, FetchPartition, FetchRequest, FetchResponse, FetchTopic
from wirekafka.protocol.apis.list_offsets import (
    LIST_OFFSETS,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from wirekafka.protocol.apis.metadata import METADATA, MetadataRequest
from wirekafka.protocol.apis.produce import (
    PRODUCE,
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.headers import RequestHeader
from wirekafka.protocol.message import Message
from wirekafka.protocol.records import Record, build_batch

TOPIC = "bench"
RECORD_BYTES = 1024
PRODUCE_VERSION, FETCH_VERSION, CREATE_VERSION, LIST_VERSION = 9, 12, 7, 7
METADATA_VERSION, API_VERSIONS_VERSION, DELETE_VERSION = 12, 3, 6
_PLAIN_HEADER, _FLEXIBLE_HEADER = 1, 2
_LARGEST_ANSWER = 64 * 1024

M = TypeVar("M", bound=Message)


def frame(key: int, version: int, message: Message) -> bytes:
    """A request with its length prefix."""
    header = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=1, client_id="bench"
    )
    header_version = _FLEXIBLE_HEADER if version in type(message).flexible else _PLAIN_HEADER
    body = codec_for(RequestHeader, header_version).build(header)
    body += codec_for(type(message), version).build(message)
    return struct.pack(">i", len(body)) + body


def numbered(request: bytes, correlation_id: int) -> bytes:
    """The same request under another correlation id."""
    return request[:8] + struct.pack(">i", correlation_id) + request[12:]


def batch_of(batch_bytes: int) -> bytearray:
    """A batch of records of RECORD_BYTES, uncompressed, about `batch_bytes` in all."""
    record = Record(value=os.urandom(RECORD_BYTES))
    count = max(1, batch_bytes // (RECORD_BYTES + 11))
    return bytearray(build_batch([record] * count, timestamp_ms=int(time.time() * 1000)))


def produce_frame(
    batch_bytes: int, topic: str = TOPIC, *, partitions: Sequence[int] = (0,), acks: int = 1
) -> bytes:
    """A produce request of one batch for each partition."""
    batch = memoryview(batch_of(batch_bytes))
    topics = [TopicProduceData(name=topic, partition_data=_each(partitions, batch))]
    return _produce(PRODUCE_VERSION, acks, topics)


def produce_frame_of(
    batch: bytearray, topic: str | bytes = TOPIC, *, version: int, partitions: Sequence[int] = (0,)
) -> bytes:
    """A produce request of any version with this batch for each partition; acks=all, as clients send it.

    `topic` is a name, or from version 13 on an id.
    """
    data = _each(partitions, memoryview(batch))
    if isinstance(topic, bytes):
        return _produce(version, -1, [TopicProduceData(topic_id=topic, partition_data=data)])
    return _produce(version, -1, [TopicProduceData(name=topic, partition_data=data)])


def _each(partitions: Sequence[int], batch: memoryview) -> list[PartitionProduceData]:
    return [PartitionProduceData(index=index, records=batch) for index in partitions]


def _produce(version: int, acks: int, topics: list[TopicProduceData]) -> bytes:
    return frame(PRODUCE.key, version, ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=topics))


def fetch_frame(offset: int, max_bytes: int, topic: str = TOPIC) -> bytes:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    topics = [FetchTopic(topic=topic, partitions=[wanted])]
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, topics=topics)
    return frame(FETCH.key, FETCH_VERSION, request)


def list_offsets_frame(timestamp_ms: int, topic: str = TOPIC) -> bytes:
    partitions = [ListOffsetsPartition(partition_index=0, timestamp=timestamp_ms)]
    topics = [ListOffsetsTopic(name=topic, partitions=partitions)]
    return frame(LIST_OFFSETS.key, LIST_VERSION, ListOffsetsRequest(replica_id=-1, topics=topics))


def metadata_frame() -> bytes:
    """Ask for every topic."""
    return frame(METADATA.key, METADATA_VERSION, MetadataRequest(topics=None))


def api_versions_frame() -> bytes:
    request = ApiVersionsRequest(client_software_name="bench", client_software_version="1")
    return frame(API_VERSIONS.key, API_VERSIONS_VERSION, request)


def receive_exactly(sock: socket.socket, space: memoryview) -> None:
    """Fill `space`; RuntimeError where the socket has a time-out, and nothing comes in that time."""
    while len(space):
        try:
            count = sock.recv_into(space)
        except TimeoutError as error:
            raise RuntimeError("the server did not answer in time") from error
        if count == 0:
            raise ConnectionError("the server hung up")
        space = space[count:]


def receive_frame(sock: socket.socket, space: bytearray) -> memoryview:
    """The next answer, in `space`; in a larger one if it does not fit."""
    view = memoryview(space)
    receive_exactly(sock, view[:4])
    (length,) = struct.unpack_from(">i", space)
    if length > len(space):
        view = memoryview(bytearray(length))
    receive_exactly(sock, view[:length])
    return view[:length]


def ask(sock: socket.socket, request: bytes, response: type[M], version: int) -> M:
    """Send one request of a flexible version and parse its answer."""
    sock.sendall(request)
    answer = receive_frame(sock, bytearray(_LARGEST_ANSWER))
    return codec_for(response, version).parse(bytes(answer[5:]))


def create_topic(
    sock: socket.socket, name: str = TOPIC, *, partitions: int = 1, configs: Mapping[str, str] | None = None
) -> bytes:
    """Create a topic; give its id."""
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )
    request = frame(
        CREATE_TOPICS.key, CREATE_VERSION, CreateTopicsRequest(topics=[topic], timeout_ms=120_000)
    )
    response = ask(sock, request, CREATE_TOPICS.response, CREATE_VERSION)
    assert response.topics[0].error_code == 0, response
    return response.topics[0].topic_id


def delete_topic(sock: socket.socket, name: str) -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name, topic_id=NO_TOPIC_ID)], timeout_ms=120_000
    )
    response = ask(
        sock, frame(DELETE_TOPICS.key, DELETE_VERSION, request), DELETE_TOPICS.response, DELETE_VERSION
    )
    assert response.responses[0].error_code == 0, response


def check_answered(sock: socket.socket, request: bytes) -> int:
    """A request of any kind is answered with no error; give the answer's size, its length prefix included."""
    key, version = struct.unpack_from(">hh", request, 4)
    sock.sendall(request)
    answer = bytes(receive_frame(sock, bytearray(_LARGEST_ANSWER)))
    api = APIS[key]
    has_tags = api.is_flexible(version) and api is not API_VERSIONS
    response = codec_for(api.response, version).parse(answer[5 if has_tags else 4 :])
    assert not list(_errors(response)), response
    return 4 + len(answer)


def _errors(value: object) -> Iterator[int]:
    """Every error code in a response that is one."""
    if isinstance(value, list):
        for each in value:
            yield from _errors(each)
    if isinstance(value, Message):
        for name in value.__slots__:  # type: ignore[attr-defined]
            each = getattr(value, name)
            if name == "error_code" and each:
                yield each
            yield from _errors(each)


def check_produced(sock: socket.socket, request: bytes) -> int:
    """The broker really takes these requests: one is answered with no error. Give the batch's base offset."""
    response = ask(sock, request, ProduceResponse, PRODUCE_VERSION)
    for partition in response.responses[0].partition_responses:
        assert partition.error_code == 0, response
    return response.responses[0].partition_responses[0].base_offset


def check_fetched(sock: socket.socket, request: bytes, least_bytes: int) -> None:
    """The broker really gives records."""
    response = ask(sock, request, FetchResponse, FETCH_VERSION)
    data = response.responses[0].partitions[0]
    assert data.error_code == 0, data.error_code
    assert data.records is not None
    assert len(data.records) >= least_bytes, len(data.records)
