"""Tests of storage.disk.health."""

import pytest

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.storage.disk.health import Health


def test_a_sound_folder_takes_records() -> None:
    """Nothing is raised as long as nothing has failed."""
    health = Health()

    health.check()

    assert health.failure == ""


def test_the_first_failure_is_final_and_the_one_that_is_told() -> None:
    """What came first explains the rest."""
    health = Health()

    health.fail("The first sync failed.")
    health.fail("So did the second.")

    with pytest.raises(KafkaError, match="The first sync failed") as caught:
        health.check()
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
