"""A mock cluster of librdkafka that stands by itself. Run as a program by `librdkafka_mock`.

    python bench/rivals/mock_cluster.py READY_FILE

Source: librdkafka's rdkafka_mock.h, by the setting test.mock.num.brokers.
"""

import signal
import sys
from pathlib import Path

from confluent_kafka import Producer


def serve(ready_file: Path) -> None:
    """Hold a mock cluster of one broker until the process is told to end; write its port into the file."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    holder = Producer({"test.mock.num.brokers": 1})
    (broker,) = holder.list_topics(timeout=10).brokers.values()
    written = ready_file.with_suffix(".new")
    written.write_text(str(broker.port))
    written.rename(ready_file)
    while True:
        signal.pause()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
