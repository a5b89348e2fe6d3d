"""What is done at intervals: make sealed and written data last, and remember how far it does.

Run by `broker`. After a broker was killed only what lies behind the recovery points is checked, so this
is what keeps such a start short.

Source: Kafka's LogManager (flush of rolled segments, log.flush.offset.checkpoint.interval.ms).
"""

import trio

from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage import LogDirectory

logger = get_logger("broker")


async def checkpoint_at_intervals(directory: LogDirectory, interval_ms: int) -> None:
    """Flush every log that has something to flush, each in a thread, then checkpoint; forever."""
    while True:
        await trio.sleep(interval_ms / 1000)
        try:
            for log in directory.unflushed_logs():
                await trio.to_thread.run_sync(log.flush)
            directory.checkpoint()
        except KafkaError as error:
            logger.error("what was written may not last: %s", error)


def report_notices(directory: LogDirectory) -> None:
    """Log what the folder had to be mended of, once."""
    for notice in directory.notices:
        logger.warning("%s", notice)
    directory.notices.clear()
