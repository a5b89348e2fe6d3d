"""InitProducerId without transactions. Called by `run`. Source: KIP-98, KIP-360, KIP-588."""

from __future__ import annotations

from typing import Any

from compat_tests.differential.asked_versions import every
from compat_tests.differential.side import Side
from wirekafka.protocol.apis.init_producer_id import InitProducerIdRequest

FIRST_WITH_PRODUCER = 3


def producer_ids(side: Side) -> None:
    """Ask for producer ids with every argument."""
    side.arrange_until(_of(), 2, lambda answer: answer.error_code == 0)
    for version in every(InitProducerIdRequest):
        requests = {
            "plain": _of(),
            "timeout 0": _of(transaction_timeout_ms=0),
            "timeout -1": _of(transaction_timeout_ms=-1),
            "timeout largest": _of(transaction_timeout_ms=2**31 - 1),
            "empty transactional id": _of(transactional_id=""),
            "empty transactional id, timeout 0": _of(transactional_id="", transaction_timeout_ms=0),
        }
        if version >= FIRST_WITH_PRODUCER:
            requests |= {
                "producer id without epoch": _of(producer_id=5),
                "epoch without producer id": _of(producer_epoch=5),
                "producer id and epoch": _of(producer_id=5, producer_epoch=5),
                "negative producer id and epoch": _of(producer_id=-5, producer_epoch=-5),
                "producer id, epoch -2": _of(producer_id=5, producer_epoch=-2),
                "empty transactional id, producer id": _of(transactional_id="", producer_id=5),
            }
        side.ask_each(requests, version)


def _of(**fields: Any) -> InitProducerIdRequest:
    return InitProducerIdRequest(**{"transactional_id": None, "transaction_timeout_ms": 1000} | fields)
