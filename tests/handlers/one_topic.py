"""A broker that is one topic of two partitions: all that produce and fetch ask for, without a socket."""

from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

from wirekafka.broker import Broker, Partition
from wirekafka.broker.fetch_sessions import FetchSessions
from wirekafka.broker.timeouts import Timeouts
from wirekafka.handlers import HANDLERS, ClientConnection, Endpoint, Repeated, RequestContext, Waiting
from wirekafka.ids import TopicPartition
from wirekafka.protocol.connection import ServerConnection, response_parts
from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage import Files, FileSlice, LogConfig, LogDirectory

NOW_MS = 1_700_000_000_000
TOPIC_ID = b"\x07" * 16
PARTITIONS = 2
MAX_REQUEST_BYTES = 1 << 20


def split(answers: bytes) -> list[bytes]:
    """Each frame on its own, with its length."""
    frames = []
    while answers:
        end = 4 + int.from_bytes(answers[:4], "big")
        frames.append(answers[:end])
        answers = answers[end:]
    return frames


def joined(parts: Sequence[Sized] | Waiting) -> bytes:
    """What is sent at once."""
    assert not isinstance(parts, Waiting)
    return b"".join(part.read() if isinstance(part, FileSlice) else cast(bytes, part) for part in parts)


class CountingFiles(Files):
    """Counts writes of batches, and fails those that a test says."""

    def __init__(self) -> None:
        self.writes = 0
        self.is_full = False
        self.fails_at = 0
        """Which write fails."""

    def pwrite(self, fd: int, data: Any, position: int) -> int:
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.writes += 1
        if self.writes == self.fails_at:
            raise OSError(5, "Input/output error")
        return super().pwrite(fd, data, position)

    def fdatasync(self, fd: int) -> None:
        return

    def sync_folder(self, path: str) -> None:
        return


class Topic:
    """What a handler asks of a broker that has one topic."""

    def __init__(self, folder: Path, config: LogConfig) -> None:
        self.files = CountingFiles()
        self.directory = LogDirectory.open(folder, node_id=1, files=self.files)
        self.partitions = [
            Partition(self.directory.open_log(TopicPartition("t", index), TOPIC_ID, config, now_ms=NOW_MS), 0)
            for index in range(PARTITIONS)
        ]
        self.timeouts = Timeouts()
        self.sessions = FetchSessions(slots=10, draw_id=count(1).__next__)
        self.taken = 0
        """How many requests were answered as repeated ones."""
        self.waited = 0
        """How many of these had to wait."""
        self.fetch_max_bytes = 55 * 1024 * 1024
        self.client = ClientConnection(
            broker=cast(
                Broker,
                SimpleNamespace(
                    partitions=self,
                    clock=self,
                    settings=self,
                    fetch_sessions=self.sessions,
                    timeouts=self.timeouts,
                ),
            ),
            peer="127.0.0.1:1",
            client_host="/127.0.0.1",
            endpoint=Endpoint("127.0.0.1", 1),
            advertised={},
        )
        self.repeated = Repeated(self.client)

    def wall_ms(self) -> int:
        return NOW_MS

    def now_ms(self) -> int:
        return NOW_MS

    def get_int(self, name: str) -> int:
        assert name == "fetch.max.bytes"
        return self.fetch_max_bytes

    def name_of(self, topic_id: bytes) -> str:
        return "t"

    def find(self, topic: str, index: int) -> Partition:
        if topic == "t" and index < PARTITIONS:
            return self.partitions[index]
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no such partition.")

    async def answers_to(self, data: bytes, *, repeats: bool = True) -> list[bytes]:
        """Answer what has been received, as a connection does; each answer on its own."""
        connection = ServerConnection(MAX_REQUEST_BYTES)
        received = 0
        answers: list[bytes] = []
        while received < len(data):
            space = connection.frames.space()
            count = min(len(space), len(data) - received)
            space[:count] = data[received : received + count]
            connection.frames.received(count)
            received += count
            answers += await self._answers(connection, repeats)
        return answers

    async def _answers(self, connection: ServerConnection, repeats: bool) -> list[bytes]:
        answers: list[bytes] = []
        while True:
            if repeats:
                number, parts = self.repeated.answers(connection.frames)
                if isinstance(parts, Waiting):
                    self.waited += 1
                    response = await parts.later.rest()
                    assert response is not None
                    parts = response_parts(parts.request, response)
                answers += split(joined(parts))
                if number:
                    self.taken += number
                    continue
            request = connection.next_request()
            if request is None:
                return answers
            context = RequestContext(self.client, request.version, request.client_id)
            handler = HANDLERS[request.api.key]
            try:
                response = await handler.function(request.message, context)
            except KafkaError as error:
                response = handler.refusal(request.message, error)
            if response is not None:
                answers.append(joined(response_parts(request, response)))
            self.repeated.learn(request)

    def stored(self) -> list[bytes]:
        """The bytes of every log."""
        logs = [partition.log for partition in self.partitions]
        return [
            b"".join(segment.file.read(segment.size, 0) for segment in log.segments.all()) for log in logs
        ]


@contextmanager
def a_topic(**config: Any) -> Iterator[Topic]:
    with TemporaryDirectory() as folder:
        topic = Topic(Path(folder), LogConfig(**config))
        yield topic
        topic.directory.close(clean=False)
