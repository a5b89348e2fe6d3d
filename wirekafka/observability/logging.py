"""Log lines: one logger a room, and one line a message whatever a peer has put into it.

Called by every room above the rules. Source: Kafka's log4j loggers have the same part: one a class,
to standard error unless told otherwise.
"""

import logging

_ROOT = "wirekafka"


def get_logger(room: str) -> logging.Logger:
    """The logger of a room: `wirekafka.server` and its like."""
    return logging.getLogger(f"{_ROOT}.{room}")


class OneLine(logging.Formatter):
    """Escapes line breaks and other control characters of a message; tracebacks keep theirs."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # logging's own name
        text = super().formatMessage(record)
        return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def log_to_stderr(level: str = "INFO") -> None:
    """Send this package's log lines to standard error, with time and level."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logger = logging.getLogger(_ROOT)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
