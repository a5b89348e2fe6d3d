"""complaints: a failure that stays is told once."""

import logging

import pytest

from wirekafka.broker.complaints import Complaints
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

FULL = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left.")


def test_failure_is_told_when_it_is_new_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    """A disk that is full for a night fills no log."""
    caplog.set_level(logging.INFO)
    complaints = Complaints("no checkpoint")

    for error in (None, FULL, FULL, KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no such device."), None, None):
        complaints.hear(error)

    assert caplog.messages == [
        "no checkpoint: no space left.",
        "no checkpoint: no such device.",
        "no checkpoint: no longer",
    ]
