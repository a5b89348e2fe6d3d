"""A disk that is full for a while, under load: refusals that may be retried, and nothing lost."""

import time
from pathlib import Path

import pytest

from tests.support.raw_client import RawClient
from tests.support.requests import batch_of, fetch, produce, values_in
from tests.torture import mounts, topics
from tests.torture.disk_full import Ballast
from tests.torture.judging import Rule, found_wrong
from tests.torture.load import PARTITIONS, Load
from tests.torture.oracle import OracleFile
from tests.torture.patience import allowed
from tests.torture.process import BrokerProcess

MEBIBYTES = 48
FULL_SECONDS = 3.0
RESUMES_SECONDS = 5.0
STORAGE_ERROR = 56


def test_service_resumes_when_a_full_disk_has_room_again(tmp_path: Path) -> None:
    """Produce is refused with 56, fetch goes on; then all goes on without a restart, and nothing is lost."""
    if reason := mounts.not_possible("ext4"):
        pytest.skip(reason)
    with mounts.mounted(tmp_path, "ext4", mebibytes=MEBIBYTES) as mount:
        broker = BrokerProcess(mount.point / "data", tmp_path / "broker.log")
        ballast = Ballast(mount.point / "ballast")
        oracle = OracleFile(tmp_path / "acknowledged")
        with broker:
            broker.start()
            topics.create(broker.bootstrap, "t", PARTITIONS)
            with RawClient(broker.bootstrap) as raw:
                topics.create(broker.bootstrap, "probe", 1, topics.FOR_EVER)
                assert produce(raw, "probe", batch_of(b"before")) == 0
                with Load(broker.bootstrap, "t", tmp_path, value_bytes=2000) as load:
                    topics.wait_for(lambda: oracle.look().count > 1000, "a thousand acknowledgements")
                    ballast.fill_up()
                    refusal, slowest = _probe_while_full(raw)
                    ballast.make_room()
                    before = oracle.look().count
                    resumed = _seconds_until(lambda: oracle.look().count > before + 100)
                    failure = load.stop()
                assert produce(raw, "probe", batch_of(b"after")) == 0
                probes = values_in(fetch(raw, "probe"))
            acknowledged = oracle.look()
            findings = found_wrong(
                acknowledged, topics.read_all(broker.bootstrap, "t", PARTITIONS), Rule.KEPT
            )
            broker.kill()
            broker.start()
            findings += found_wrong(
                acknowledged, topics.read_all(broker.bootstrap, "t", PARTITIONS), Rule.KEPT
            )

    assert (refusal, failure, findings) == (STORAGE_ERROR, "", [])
    assert probes[0] == b"before"
    assert probes[-1] == b"after"
    assert slowest < allowed(1.0)
    assert resumed < allowed(RESUMES_SECONDS)
    assert "Traceback" not in broker.log()


def _probe_while_full(raw: RawClient) -> tuple[int, float]:
    """The last error of large produces, and the slowest fetch beside them."""
    refusal, slowest = 0, 0.0
    end = time.monotonic() + FULL_SECONDS
    while time.monotonic() < end:
        refusal = produce(raw, "probe", batch_of(bytes(500_000)))
        begun = time.monotonic()
        assert values_in(fetch(raw, "probe"))[0] == b"before"
        slowest = max(slowest, time.monotonic() - begun)
        time.sleep(0.05)
    return refusal, slowest


def _seconds_until(condition: object) -> float:
    begun = time.monotonic()
    topics.wait_for(condition, "that service resumes")
    return time.monotonic() - begun


def test_a_filled_disk_takes_not_a_byte(tmp_path: Path) -> None:
    """Else the test above would prove nothing."""
    if reason := mounts.not_possible("ext4"):
        pytest.skip(reason)
    with mounts.mounted(tmp_path, "ext4", mebibytes=8) as mount:
        ballast = Ballast(mount.point / "ballast")
        ballast.fill_up()
        with pytest.raises(OSError, match="No space left"):
            (mount.point / "more").write_bytes(b"x")
        ballast.make_room()
        (mount.point / "more").write_bytes(b"x")
