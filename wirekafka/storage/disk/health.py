"""`Health`: whether a data folder can still be written to.

One for all logs of a folder; asked before every append and flush, told by whoever sees a sync fail.

Source: Kafka's LogDirFailureChannel. Stricter than it in one thing: the kernel calls pages clean after a
failed write-back, so the first failed sync is final, and no later one is believed.
"""

from wirekafka.protocol.error_codes import ErrorCode, KafkaError


class Health:
    """Sound until the first failure, which only a restart gets over."""

    __slots__ = ("failure",)

    def __init__(self) -> None:
        self.failure = ""
        """What went wrong first, a sentence; empty while nothing has."""

    def fail(self, failure: str) -> None:
        """Take no more writes. The first failure is the one that is told from then on."""
        self.failure = self.failure or failure

    def check(self) -> None:
        """Raise KAFKA_STORAGE_ERROR once something has failed."""
        if self.failure:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR,
                f"The data folder takes no more records until the broker is restarted: {self.failure}",
            )
