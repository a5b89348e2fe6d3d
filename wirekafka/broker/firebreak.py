"""`Firebreak`: what nobody foresaw, met in the upkeep of one log, costs that log its upkeep and no more.

Used by the tasks of upkeep, which work on every log of a broker in the background: without it one log with
bytes of a kind that no test has thought of would end the broker, and again at every start. `contained` and
`noticed` are the same for `journal` and `coordination`, whose machines decide on deadlines that no client
waits for. So this is the one place below `server.dispatch` that catches every exception.
Source: Kafka's LogCleaner, which marks a partition uncleanable after any exception, and CoordinatorRuntime,
which logs what fails in a timer.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wirekafka.observability import get_logger
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage import PartitionLog

logger = get_logger("broker")


class Firebreak:
    """The logs that are left alone until the next start."""

    def __init__(self, upkeep: str) -> None:
        self._upkeep = upkeep
        self._given_up: set[PartitionLog] = set()

    def has_given_up(self, log: PartitionLog) -> bool:
        return log in self._given_up

    @contextmanager
    def around(self, log: PartitionLog) -> Iterator[None]:
        """Let an exception that nobody foresaw end no more than the block, and the upkeep of this log.

        It is logged with its traceback. A KafkaError is foreseen, and raised.
        """
        try:
            yield
        except KafkaError:
            raise
        except Exception:
            self._given_up = {given_up for given_up in self._given_up if not given_up.closed} | {log}
            logger.exception(
                "%s: no more %s until the next start, after a failure nobody foresaw",
                log.topic_partition,
                self._upkeep,
            )


@contextmanager
def contained(
    subject: str, then: Callable[[], None], *, foreseen: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Let an exception end no more than the block: log it with its traceback, and do what is to follow.

    What is `foreseen` is raised.
    """
    try:
        yield
    except foreseen:
        raise
    except Exception:
        logger.exception("%s failed in a way nobody foresaw", subject)
        then()


@contextmanager
def noticed(then: Callable[[], None]) -> Iterator[None]:
    """Do what is to follow when an exception leaves the block that nobody foresaw, as a KafkaError is."""
    try:
        yield
    except KafkaError:
        raise
    except Exception:
        then()
        raise
