"""How a driver is spoken to: replies, refusals, and drivers that end, hang or are killed.

Tests `clients.driver_process` with drivers of a few lines of Python; needs no broker.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from compat_tests.clients import driver_process
from compat_tests.clients.adapter import BrokerError
from compat_tests.clients.driver_process import DriverError, DriverProcess, shared_driver

ECHO = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"], request["as"]: request["what"]}
    print(json.dumps(reply), flush=True)
"""
SILENT = "import sys; print('not today', file=sys.stderr, flush=True); sys.stdin.read()"
ENDS = "import sys; sys.stdin.readline(); sys.exit('had enough')"


def command(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.fixture
def echo() -> Iterator[DriverProcess]:
    """Give a driver that replies as it is told to."""
    driver = DriverProcess(command(ECHO))
    yield driver
    driver.close()


def test_reply_is_what_the_driver_found(echo: DriverProcess) -> None:
    """A reply's `ok` is the answer, request after request."""
    answers = [echo.ask("any", **{"as": "ok", "what": what}) for what in ([1, "ü"], None)]

    assert answers == [[1, "ü"], None]


def test_refusal_of_the_broker_has_its_code(echo: DriverProcess) -> None:
    """An error with a code is the broker's."""
    with pytest.raises(BrokerError, match="any: exists") as refusal:
        echo.ask("any", **{"as": "error", "what": {"code": 36, "message": "exists"}})

    assert refusal.value.code == 36


def test_failure_of_the_driver_has_no_code(echo: DriverProcess) -> None:
    """An error without a code is the driver's own, and the driver goes on."""
    with pytest.raises(DriverError, match="any: no idea"):
        echo.ask("any", **{"as": "error", "what": {"code": None, "message": "no idea"}})

    assert echo.is_alive


def test_driver_that_ends_is_told_with_its_last_words() -> None:
    """A driver that ends instead of replying is reported with what it wrote to standard error."""
    driver = DriverProcess(command(ENDS))

    with pytest.raises(DriverError, match="had enough"):
        driver.ask("any")

    assert not driver.is_alive


def test_silent_driver_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that does not reply in time is killed, so that the next client gets a new one."""
    monkeypatch.setattr(driver_process, "ANSWER_SECONDS", 0.2)
    driver = shared_driver(command(SILENT))

    with pytest.raises(DriverError, match="not answered"):
        driver.ask("any")
    successor = shared_driver(command(SILENT))

    assert not driver.is_alive
    assert successor is not driver
    successor.close()


def test_closed_driver_takes_no_request(echo: DriverProcess) -> None:
    """Closing ends the process, may be repeated, and a request afterwards fails at once."""
    echo.close()
    echo.close()

    assert not echo.is_alive
    with pytest.raises(DriverError, match="has ended"):
        echo.ask("any")
