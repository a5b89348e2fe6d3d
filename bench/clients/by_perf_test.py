"""kafka-producer-perf-test and kafka-consumer-perf-test at work. Run as a program by `fleet`.

One Java machine runs the tools' own main methods one after the other (`Again.java`), several at once on a
thread each, so that a work costs no start of Java, and is done by code that has been compiled: a tool has to
move gigabytes before it is, and takes ten times the processor time until then. The rate is the one that the
tool tells. Java has the options that the tools' scripts give it.
Source: Kafka's kafka-producer-perf-test.sh and kafka-run-class.sh; ProducerPerformance, ConsumerPerformance.
"""

import json
import re
import subprocess
import sys

from instrument.processes import busiest_seconds, cpu_seconds, thread_seconds

from clients import java
from clients.work import PATIENCE_SECONDS, Outcome, Work, tell, wait_for_go
from compat_tests.apache_kafka import jars

_JAVA_OPTIONS = (
    "-Xmx512M",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:MaxInlineLevel=15",
    "-Djava.awt.headless=true",
)
_TOOLS = "org.apache.kafka.tools"
_SENT = re.compile(r"^(\d+) records sent, ([\d.]+) records/sec .* 99\.9th\.$")
_COLUMNS, _FETCH_RECORDS_A_SECOND = 10, 9
"""The column fetch.nMsg.sec: without the time that joining a group took."""


class PerfTests:
    """A Java machine that runs the tools."""

    def __init__(self) -> None:
        self._java = subprocess.Popen(
            ["java", *_JAVA_OPTIONS, "-cp", f"{java.compiled()}:{jars.class_path()}", java.MAIN_CLASS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    @property
    def process_id(self) -> int:
        return self._java.pid

    def run(self, words: list[str], *, together: int) -> list[str]:
        """Run a tool so many times at once; give the lines that all of them print."""
        assert self._java.stdin is not None
        assert self._java.stdout is not None
        self._java.stdin.write(" ".join([str(together), *words]) + "\n")
        self._java.stdin.flush()
        told: list[str] = []
        for line in self._java.stdout:
            if line.strip() == "done":
                return told
            told.append(line.strip())
        raise RuntimeError(f"{words[0]} ended: {told[-3:]}")

    def stop(self) -> None:
        assert self._java.stdin is not None
        self._java.stdin.close()
        self._java.wait()


def produce(work: Work, tests: PerfTests) -> float:
    """Give the seconds by the rate that the slowest tool tells."""
    words = [f"{_TOOLS}.ProducerPerformance", "--topic", work.topic, "--throughput", "-1"]
    words += ["--num-records", str(work.records), "--record-size", str(work.record_bytes)]
    words += ["--bootstrap-server", work.bootstrap, "--command-property", f"acks={work.acks}"]
    words += [f"compression.type={work.compression}"]
    lines = tests.run(words, together=work.together)
    told = [found for found in map(_SENT.match, lines) if found is not None]
    if [int(each[1]) for each in told] != [work.records] * work.together:
        raise RuntimeError(f"not all records were sent: {lines[-3:]}")
    return work.records / min(float(each[2]) for each in told)


def consume(work: Work, tests: PerfTests) -> float:
    """Give the seconds by the rate that the slowest tool tells."""
    words = [f"{_TOOLS}.ConsumerPerformance", "--bootstrap-server", work.bootstrap, "--topic", work.topic]
    words += ["--num-records", str(work.records), "--timeout", str(int(PATIENCE_SECONDS * 1000))]
    lines = tests.run([*words, "--hide-header"], together=work.together)
    told = [columns for line in lines if len(columns := line.split(",")) == _COLUMNS]
    if len(told) != work.together:
        raise RuntimeError(f"not all records were read: {lines[-3:]}")
    return work.records / min(float(columns[_FETCH_RECORDS_A_SECOND]) for columns in told)


def main() -> None:
    """Do what comes down standard input until it ends."""
    tests, verbs = PerfTests(), {"produce": produce, "consume": consume}
    try:
        for line in sys.stdin:
            work = Work(**json.loads(line))
            wait_for_go()
            used, threads = cpu_seconds(tests.process_id), thread_seconds(tests.process_id)
            seconds = verbs[work.verb](work, tests)
            used = cpu_seconds(tests.process_id) - used
            busiest = busiest_seconds(threads, thread_seconds(tests.process_id))
            tell(Outcome(work.records * work.together, seconds, used, busiest))
    finally:
        tests.stop()


if __name__ == "__main__":
    main()
