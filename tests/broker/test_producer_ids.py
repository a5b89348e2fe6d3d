"""producer_ids: no id is given twice, across restarts too."""

import pytest

from wirekafka.broker import Broker, BrokerConfig, open_broker
from wirekafka.protocol.error_codes import ErrorCode, KafkaError

BLOCK = 1000


async def test_ids_are_given_one_after_the_other(broker: Broker) -> None:
    drawn = [await broker.producer_ids.draw() for _ in range(3)]

    assert drawn == [drawn[0], drawn[0] + 1, drawn[0] + 2]


async def test_used_up_block_is_followed_by_another(broker: Broker) -> None:
    drawn = [await broker.producer_ids.draw() for _ in range(BLOCK + 5)]

    assert len(set(drawn)) == BLOCK + 5
    assert broker.image.next_producer_id == 2 * BLOCK


async def test_no_id_is_given_again_after_a_restart(config: BrokerConfig) -> None:
    """A block is recorded before its first id is used: the rest of it is lost."""
    drawn: list[int] = []
    for _ in range(3):
        async with open_broker(config) as broker:
            drawn += [await broker.producer_ids.draw() for _ in range(2)]

    assert drawn == [0, 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1]


async def test_no_id_without_a_record(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be recorded might be given again."""

    def append(*_: object, **__: object) -> None:
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    with monkeypatch.context() as patch:
        patch.setattr(broker.cluster._journal._partition, "append", append)
        with pytest.raises(KafkaError):
            await broker.producer_ids.draw()

    assert await broker.producer_ids.draw() == 0
