"""InitProducerId over TCP, held against Kafka 4.4."""

from typing import Any

import pytest

from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.init_producer_id import InitProducerIdRequest
from wirekafka.protocol.error_codes import ErrorCode

every_form = pytest.mark.parametrize("version", range(6))
since_v3 = pytest.mark.parametrize("version", [3, 4, 5])


def ask(raw: RawClient, version: int, **more: Any) -> tuple[int, int, int]:
    """Error code, producer id and epoch."""
    asked = {"transactional_id": None, "transaction_timeout_ms": 1000, **more}
    answer = raw.ask(InitProducerIdRequest(**asked), version)
    return answer.error_code, answer.producer_id, answer.producer_epoch


@every_form
@pytest.mark.parametrize("timeout_ms", [1000, 0, -1, 2**31 - 1])
def test_each_producer_gets_an_id_of_its_own(raw: RawClient, version: int, timeout_ms: int) -> None:
    """The timeout is for transactions alone."""
    answers = [ask(raw, version, transaction_timeout_ms=timeout_ms) for _ in range(2)]

    assert [(code, epoch) for code, _, epoch in answers] == [(0, 0)] * 2
    assert 0 <= answers[0][1] != answers[1][1] >= 0


@every_form
def test_empty_transactional_id_is_refused(raw: RawClient, version: int) -> None:
    assert ask(raw, version, transactional_id="") == (ErrorCode.INVALID_REQUEST, -1, -1)


@every_form
def test_transactions_are_not_served_yet(raw: RawClient, version: int) -> None:
    """Kafka's clients give up on this code, and do not try on and on."""
    assert ask(raw, version, transactional_id="tx") == (ErrorCode.INVALID_REQUEST, -1, -1)


@since_v3
@pytest.mark.parametrize("half", [{"producer_id": 5}, {"producer_epoch": 5}])
def test_id_and_epoch_are_given_together(raw: RawClient, version: int, half: dict[str, int]) -> None:
    """KIP-360."""
    assert ask(raw, version, **half) == (ErrorCode.INVALID_REQUEST, -1, -1)


@since_v3
def test_idempotent_producer_that_names_its_id_gets_a_new_one(raw: RawClient, version: int) -> None:
    """Only a transactional one can have its epoch bumped."""
    code, producer_id, epoch = ask(raw, version, producer_id=2**40, producer_epoch=5)

    assert (code, epoch) == (0, 0)
    assert producer_id != 2**40
