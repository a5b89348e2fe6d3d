"""Tests of storage.cleaning.work."""

from tests.storage.cleaning.support import COMPACTED, end_transaction, put_transactional
from tests.storage.support import NOW_MS, Store
from wirekafka.storage.cleaning.work import OnLoop, Work, unhurried


def test_aborted_transactions_are_asked_for_on_the_loop(store: Store) -> None:
    """Their index is the log's, and so is not read beside it."""
    store.config = COMPACTED
    log = store.open()
    put_transactional(log, ("a", "1"), producer_id=1, base_sequence=0)
    end_transaction(log, 1, commit=False)
    calls: list[str] = []

    class Noting(OnLoop):
        def call(self, function):  # type: ignore[no-untyped-def]
            calls.append("called")
            return function()

    work = Work(log, Noting(), unhurried, list[str]().extend, NOW_MS)
    transactions = work.transactions(0, 2)

    assert calls == ["called"]
    [batch, _] = log.batches(0)
    assert transactions.may_drop(batch)
    work.transactions(2, 2)
    assert calls == ["called"]
