"""`Complaints`: a failure that comes back every second is logged when it is new.

Used by the tasks of a broker that go on trying: a disk that is full for a night should fill no log.
Source: ours.
"""

from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import KafkaError

logger = get_logger("broker")


class Complaints:
    """What one task has last had to say."""

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._last = ""

    def hear(self, error: KafkaError | None) -> None:
        """Log a failure unless the last time brought the same, and that it is over when it is."""
        message = "" if error is None else error.message
        if message and message != self._last:
            logger.error("%s: %s", self._subject, message)
        elif self._last and not message:
            logger.info("%s: no longer", self._subject)
        self._last = message
