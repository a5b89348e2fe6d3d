"""Log lines: one logger a room, key=value details, nothing from a peer printed raw.

Called by every room above the rules. Source: Kafka's log4j loggers have the same part: one a class,
to standard error unless told otherwise.
"""

import logging

_ROOT = "wirekafka"


def get_logger(room: str) -> logging.Logger:
    """The logger of a room: `wirekafka.server` and its like."""
    return logging.getLogger(f"{_ROOT}.{room}")


def log_to_stderr(level: str = "INFO") -> None:
    """Send this package's log lines to standard error, with time and level."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logger = logging.getLogger(_ROOT)
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
