"""Tests of protocol/error_codes.py."""

import pytest

from wirekafka.protocol.error_codes import ErrorCode, KafkaError, MalformedMessage


def test_every_code_has_one_name() -> None:
    """An alias would hide a number that was written twice."""
    assert list(ErrorCode.__members__.values()) == list(ErrorCode)
    assert len({int(code) for code in ErrorCode}) == len(ErrorCode)


def test_codes_run_without_a_gap_from_minus_one() -> None:
    """Kafka 4.4 gives out every number from -1 to 136."""
    assert sorted(int(code) for code in ErrorCode) == list(range(-1, 137))


@pytest.mark.parametrize(
    ("name", "number", "retriable"),
    [
        ("UNKNOWN_SERVER_ERROR", -1, False),
        ("NONE", 0, False),
        ("OFFSET_OUT_OF_RANGE", 1, False),
        ("CORRUPT_MESSAGE", 2, True),
        ("UNKNOWN_TOPIC_OR_PARTITION", 3, True),
        ("MESSAGE_TOO_LARGE", 10, False),
        ("COORDINATOR_LOAD_IN_PROGRESS", 14, True),
        ("NOT_COORDINATOR", 16, True),
        ("ILLEGAL_GENERATION", 22, False),
        ("REBALANCE_IN_PROGRESS", 27, False),
        ("UNSUPPORTED_VERSION", 35, False),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", 45, False),
        ("KAFKA_STORAGE_ERROR", 56, True),
        ("FETCH_SESSION_ID_NOT_FOUND", 70, True),
        ("MEMBER_ID_REQUIRED", 79, False),
        ("UNKNOWN_TOPIC_ID", 100, True),
    ],
)
def test_code_has_kafkas_number_and_fate(name: str, number: int, retriable: bool) -> None:
    """Numbers and retriability as the clients' error tables have them."""
    code = ErrorCode[name]

    assert code == number
    assert code.retriable is retriable


def test_error_says_its_code_and_sentence() -> None:
    """Both reach the log; the sentence reaches the client."""
    error = KafkaError(ErrorCode.INVALID_PARTITIONS, "Topic orders cannot have 0 partitions.")

    assert error.code is ErrorCode.INVALID_PARTITIONS
    assert error.message == "Topic orders cannot have 0 partitions."
    assert str(error) == "INVALID_PARTITIONS: Topic orders cannot have 0 partitions."


def test_error_without_a_sentence_reads_as_its_name() -> None:
    """A client that shows the message shows something."""
    assert KafkaError(ErrorCode.NOT_COORDINATOR).message == "Not coordinator."


def test_malformed_message_is_a_value_error() -> None:
    """Outside callers of `protocol.decode` are promised a ValueError."""
    assert issubclass(MalformedMessage, ValueError)
