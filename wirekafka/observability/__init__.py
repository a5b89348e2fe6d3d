"""What happened, in lines a person reads."""

from wirekafka.observability.logging import get_logger, log_to_stderr

__all__ = ["get_logger", "log_to_stderr"]
