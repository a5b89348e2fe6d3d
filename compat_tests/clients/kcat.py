"""kcat behind the common face: each consumer is a running kcat, each production a kcat that ends.

Called by stories through `clients.adapter`; runs the program `kcat`.
Source: kcat 1.7 `-h`, and what it prints.
"""

from __future__ import annotations

import json
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import IO, ClassVar, NoReturn

from compat_tests.clients.adapter import (
    CLIENT_LIMIT_BYTES,
    DEADLINE_SECONDS,
    Acks,
    Admin,
    BrokerError,
    Capability,
    Code,
    Consumer,
    ConsumerSettings,
    GroupDescription,
    MortalConsumer,
    NotSupported,
    Partition,
    Place,
    Rebalance,
    Received,
    Record,
    Start,
)

# Between records, and between key and value, of what kcat is given to produce: no story's bytes hold them.
RECORD_END, KEY_END = b"\x1e", b"\x1f"
# One line of numbers and names, then key and value, whose lengths the line has told.
OUTPUT_FORMAT = r"%t %p %o %T %K %S %h\n%k%s\n"
DELIVERED = re.compile(r"Message delivered to partition (\d+) \(offset (-?\d+)\)")
# Eager: "% Group g rebalanced (memberid m): assigned: t [0]"; cooperative:
# "% Group g rebalanced: incremental revoke of 1 partition(s) (memberid m, COOPERATIVE …): t [0]".
EAGER = re.compile(r"% Group \S+ rebalanced \(memberid [^)]*\): (assigned|revoked): ?(.*)")
COOPERATIVE = re.compile(r"% Group \S+ rebalanced: incremental (assignment|revoke) of [^:]*: ?(.*)")
PARTITION = re.compile(r"(\S+) \[(\d+)\]")
REACHED_END = re.compile(r"% Reached end of topic (\S+) \[(\d+)\]")
GROUP_ADMINISTRATION = (
    Capability.GROUP_ADMIN,
    Capability.GROUP_FILTERS,
    Capability.GROUP_DELETION,
    Capability.GROUP_CONFIGS,
    Capability.OFFSET_LISTING,
    Capability.OFFSET_ALTERATION,
    Capability.OFFSET_DELETION,
)
CODES = {
    "Broker: Message size too large": Code.MESSAGE_TOO_LARGE,
    "Broker: Unknown topic or partition": Code.UNKNOWN_TOPIC_OR_PARTITION,
    "Broker: Invalid topic": Code.INVALID_TOPIC,
}


def _raise_refusal(text: str) -> NoReturn:
    for sentence, code in CODES.items():
        if sentence in text:
            raise BrokerError(code, sentence)
    raise RuntimeError(f"kcat failed: {text}")


class KcatConsumer:
    """The `Consumer` of kcat: one process per assigned partition, or one for a subscription.

    What kcat cannot do once it runs (seek, pause, commit) raises NotSupported.
    """

    def __init__(self, bootstrap: str, settings: ConsumerSettings) -> None:
        self._bootstrap = bootstrap
        self._settings = settings
        self._is_member = False
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        self._records: queue.SimpleQueue[Received] = queue.SimpleQueue()
        self._assignment: set[Partition] = set()
        self._at_end: set[Partition] = set()

    def assign(self, topic: str, starts: Mapping[int, Start]) -> None:
        for partition, start in starts.items():
            self._run("-C", "-t", topic, "-p", str(partition), "-o", str(start))
            self._assignment.add((topic, partition))
        wanted = {(topic, partition) for partition, start in starts.items() if start == "end"}
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not wanted <= self._at_end:
            if time.monotonic() > deadline:
                raise TimeoutError(f"kcat did not reach the end of {wanted - self._at_end}")
            time.sleep(0.01)

    def subscribe(self, topics: Sequence[str]) -> None:
        settings = {
            "session.timeout.ms": self._settings.session_timeout_ms,
            "heartbeat.interval.ms": self._settings.heartbeat_interval_ms,
            "partition.assignment.strategy": self._settings.assignor,
            "enable.auto.commit": str(self._settings.auto_commit).lower(),
            "topic.metadata.refresh.interval.ms": self._settings.metadata_max_age_ms,
        }
        if self._settings.instance_id is not None:
            settings["group.instance.id"] = self._settings.instance_id
        if self._settings.request_timeout_ms is not None:
            settings["socket.timeout.ms"] = self._settings.request_timeout_ms
        options = [option for name, value in settings.items() for option in ("-X", f"{name}={value}")]
        self._is_member = True
        self._run("-G", str(self._settings.group), *options, *topics)

    def _run(self, *arguments: str) -> None:
        # -E: go on when the broker is away for a while.
        command = ["kcat", "-E", "-b", self._bootstrap, "-u", "-f", OUTPUT_FORMAT]
        command += ["-X", f"auto.offset.reset={self._settings.reset}"]
        command += ["-X", f"fetch.wait.max.ms={self._settings.fetch_wait_ms}", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._processes.append(process)
        for reader, stream in ((self._read_records, process.stdout), (self._read_notices, process.stderr)):
            assert stream is not None
            thread = threading.Thread(target=reader, args=(stream,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _read_records(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline():
                topic, partition, offset, timestamp, key_size, value_size, headers = (
                    line.decode().rstrip("\n").split(" ", 6)
                )
                key = stream.read(int(key_size)) if int(key_size) >= 0 else None
                value = stream.read(int(value_size)) if int(value_size) >= 0 else None
                stream.readline()
                self._records.put(
                    Received(
                        topic=topic,
                        partition=int(partition),
                        offset=int(offset),
                        key=key,
                        value=value,
                        headers=_headers(headers),
                        timestamp_ms=int(timestamp),
                    )
                )

    def _read_notices(self, stream: IO[bytes]) -> None:
        with stream:
            while line := stream.readline().decode():
                if ended := REACHED_END.match(line):
                    self._at_end.add((ended[1], int(ended[2])))
                elif moved := EAGER.match(line):
                    self._assignment = _partitions(moved[2]) if moved[1] == "assigned" else set()
                elif moved := COOPERATIVE.match(line):
                    change = _partitions(moved[2])
                    held = self._assignment
                    self._assignment = held | change if moved[1] == "assignment" else held - change

    def subscribe_pattern(self, pattern: str) -> None:
        self.subscribe([f"^{pattern}$"])

    def assignment(self) -> set[Partition]:
        return set(self._assignment)

    def rebalances(self) -> list[Rebalance]:
        raise NotSupported(Kcat, Capability.REBALANCE_LISTENER)

    def poll(self, timeout_seconds: float) -> list[Received]:
        try:
            received = [self._records.get(timeout=timeout_seconds)]
        except queue.Empty:
            return []
        while not self._records.empty():
            received.append(self._records.get())
        return received

    def beginning_offset(self, partition: Partition) -> int:
        return int(self._query(partition, -2) or 0)

    def end_offset(self, partition: Partition) -> int:
        return int(self._query(partition, -1) or 0)

    def offset_for_time(self, partition: Partition, timestamp_ms: int) -> int | None:
        return self._query(partition, timestamp_ms)

    def _query(self, partition: Partition, timestamp_ms: int) -> int | None:
        answer = _finish(self._bootstrap, "-Q", "-t", f"{partition[0]}:{partition[1]}:{timestamp_ms}")
        offset = int(answer.stdout.split()[-1])
        return offset if offset >= 0 else None

    def seek(self, partition: Partition, start: Start) -> None:
        raise NotSupported(Kcat, Capability.SEEK)

    def position(self, partition: Partition) -> int:
        raise NotSupported(Kcat, Capability.POSITION)

    def pause(self, partitions: Sequence[Partition]) -> None:
        raise NotSupported(Kcat, Capability.PAUSE)

    def resume(self, partitions: Sequence[Partition]) -> None:
        raise NotSupported(Kcat, Capability.PAUSE)

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        raise NotSupported(Kcat, Capability.COMMIT)

    def committed(self, partition: Partition) -> int | None:
        raise NotSupported(Kcat, Capability.COMMIT)

    def close(self) -> None:
        for process in self._processes:
            # Only a member has a farewell to say, and it takes a moment.
            process.terminate() if self._is_member else process.kill()
        try:
            self._end(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    def kill(self) -> None:
        for process in self._processes:
            process.kill()
        self._end(DEADLINE_SECONDS)

    def freeze(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGCONT)

    def _end(self, timeout_seconds: float) -> None:
        for process in self._processes:
            process.wait(timeout_seconds)
        for thread in self._threads:
            thread.join()
        self._assignment = set()


def _partitions(text: str) -> set[Partition]:
    return {(topic, int(number)) for topic, number in PARTITION.findall(text)}


def _headers(text: str) -> tuple[tuple[str, bytes], ...]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return tuple((name, value.encode()) for name, _, value in pairs)


def _finish(
    bootstrap: str, *arguments: str, given: bytes = b"", failing: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run a kcat that ends by itself; raises on a bad exit unless `failing` is foreseen."""
    command = ["kcat", "-b", bootstrap, *arguments]
    answer = subprocess.run(command, input=given, capture_output=True, timeout=DEADLINE_SECONDS, check=False)
    if answer.returncode and not failing:
        _raise_refusal(answer.stderr.decode())
    return answer


class KcatAdmin:
    """The `Admin` of kcat: it can list, no more."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def list_topics(self) -> set[str]:
        listing = json.loads(_finish(self._bootstrap, "-L", "-J").stdout)
        return {topic["topic"] for topic in listing["topics"]}

    def describe_topic(self, name: str) -> set[int]:
        listing = json.loads(_finish(self._bootstrap, "-L", "-J", "-t", name).stdout)
        (topic,) = listing["topics"]
        if "error" in topic:
            _raise_refusal(topic["error"])
        return {entry["partition"] for entry in topic["partitions"] if entry["leader"] >= 0}

    def create_topic(self, name: str, partition_count: int, configs: Mapping[str, str]) -> None:
        raise NotSupported(Kcat, Capability.TOPIC_ADMIN)

    def delete_topic(self, name: str) -> None:
        raise NotSupported(Kcat, Capability.TOPIC_ADMIN)

    def create_partitions(self, name: str, total_count: int) -> None:
        raise NotSupported(Kcat, Capability.TOPIC_ADMIN)

    def describe_configs(self, topic: str) -> dict[str, str | None]:
        raise NotSupported(Kcat, Capability.DESCRIBE_CONFIGS)

    def alter_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        raise NotSupported(Kcat, Capability.ALTER_CONFIGS)

    def list_groups(self) -> set[str]:
        raise NotSupported(Kcat, Capability.GROUP_ADMIN)

    def find_groups(self, *, state: str | None = None, kind: str | None = None) -> set[str]:
        raise NotSupported(Kcat, Capability.GROUP_FILTERS)

    def describe_group(self, group: str) -> GroupDescription:
        raise NotSupported(Kcat, Capability.GROUP_ADMIN)

    def delete_group(self, group: str) -> None:
        raise NotSupported(Kcat, Capability.GROUP_DELETION)

    def group_offsets(self, group: str) -> dict[Partition, int]:
        raise NotSupported(Kcat, Capability.OFFSET_LISTING)

    def alter_group_offsets(self, group: str, offsets: Mapping[Partition, int]) -> None:
        raise NotSupported(Kcat, Capability.OFFSET_ALTERATION)

    def delete_group_offsets(self, group: str, partition: Partition) -> None:
        raise NotSupported(Kcat, Capability.OFFSET_DELETION)

    def alter_group_configs(self, group: str, configs: Mapping[str, str]) -> None:
        raise NotSupported(Kcat, Capability.GROUP_CONFIGS)


class Kcat:
    """kcat, pointed at one broker."""

    name: ClassVar[str] = "kcat"
    not_supported: ClassVar[Mapping[Capability, str]] = {
        Capability.RECORD_TIMESTAMP: "stamps records itself",
        Capability.SEEK: "reads in one direction from where it was started",
        Capability.POSITION: "does not tell its position",
        Capability.PAUSE: "cannot pause a partition",
        Capability.COMMIT: "commits by itself only",
        Capability.STICKY: "librdkafka's sticky assignor is the cooperative one",
        Capability.SERVER_SIDE_ASSIGNOR: "its librdkafka (2.0) is older than KIP-848",
        Capability.TOPIC_ADMIN: "has no topic administration",
        Capability.DESCRIBE_CONFIGS: "has no topic administration",
        Capability.ALTER_CONFIGS: "has no topic administration",
        **dict.fromkeys(GROUP_ADMINISTRATION, "has no group administration"),
        Capability.SERVER_SIDE_PATTERN: "its librdkafka (2.0) is older than KIP-848",
        Capability.EARLY_SUBSCRIPTION: "ends when a topic is not there",
        Capability.FULL_GROUP: "joins again without a word",
        Capability.REBALANCE_LISTENER: "tells of rebalances without the time",
        Capability.REBALANCES_IN_POLL: "polls all the time",
    }

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def produce(
        self,
        topic: str,
        records: Sequence[Record],
        *,
        codec: str = "none",
        acks: Acks = "all",
        idempotent: bool = False,
        partition: int | None = None,
    ) -> list[Place]:
        options = ["-P", "-vv", "-t", topic, "-z", codec, "-D", RECORD_END.decode(), "-K", KEY_END.decode()]
        options += ["-X", f"acks={acks}", "-X", f"enable.idempotence={str(idempotent).lower()}"]
        options += ["-X", f"message.max.bytes={CLIENT_LIMIT_BYTES}"]
        options += [] if partition is None else ["-p", str(partition)]
        places: list[Place] = []
        # Headers, and whether empty means null, are set for a whole run of kcat.
        for (headers, null), run in groupby(records, lambda record: (record.headers, record.value is None)):
            own = [option for name, value in headers for option in ("-H", f"{name}={value.decode()}")]
            own += ["-Z"] if null else []
            given = RECORD_END.join(_input(record) for record in run)
            answer = _finish(self._bootstrap, *options, *own, given=given, failing=True)
            notices = answer.stderr.decode()
            if answer.returncode or "Delivery failed" in notices:
                _raise_refusal(notices)
            places += [(int(number), int(offset)) for number, offset in DELIVERED.findall(notices)]
        return [] if acks == "0" else places

    def consumer(self, settings: ConsumerSettings) -> Consumer:
        return KcatConsumer(self._bootstrap, settings)

    def mortal_consumer(self, settings: ConsumerSettings) -> MortalConsumer:
        return KcatConsumer(self._bootstrap, settings)

    def admin(self) -> Admin:
        return KcatAdmin(self._bootstrap)

    def close(self) -> None:
        """Do nothing: no process outlives its call but consumers, which are closed by their owner."""


def _input(record: Record) -> bytes:
    key, value = record.key, record.value or b""
    if key is None and not value:
        raise ValueError("kcat skips a record with neither key nor value")
    if RECORD_END in value or KEY_END in value + (key or b"") or record.timestamp_ms is not None:
        raise ValueError("not a record kcat can be given")
    return value if key is None else key + KEY_END + value
