"""Tests of observability/logging.py."""

import logging
from collections.abc import Iterator

import pytest

from wirekafka.observability import get_logger, log_to_stderr


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    logger = logging.getLogger("wirekafka")
    before = (logger.handlers[:], logger.level, logger.propagate)
    yield
    logger.handlers[:], logger.level, logger.propagate = before


def test_a_room_has_a_logger_below_the_package_s() -> None:
    """One switch for all, one for each room."""
    assert get_logger("server").name == "wirekafka.server"
    assert get_logger("server") is get_logger("server")


def test_lines_go_to_standard_error_with_time_level_and_room(capfd: pytest.CaptureFixture[str]) -> None:
    """Standard output is for the banner alone."""
    log_to_stderr()
    get_logger("server").info("closed %s", "127.0.0.1:1")
    get_logger("server").debug("not shown")
    out, err = capfd.readouterr()

    assert out == ""
    assert err.endswith(" INFO    wirekafka.server: closed 127.0.0.1:1\n")
    assert err.count("\n") == 1


def test_the_level_is_the_one_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    """DEBUG shows all, ERROR little."""
    log_to_stderr("ERROR")
    get_logger("broker").warning("not shown")
    get_logger("broker").error("shown")

    assert capfd.readouterr().err.count("shown") == 1


def test_a_library_s_user_gets_the_lines_without_a_handler_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    """In a test's process the lines go where the test's logging sends them."""
    with caplog.at_level(logging.INFO, logger="wirekafka"):
        get_logger("server").info("seen")

    assert [record.name for record in caplog.records] == ["wirekafka.server"]


def test_a_message_stays_on_its_line_whatever_a_peer_put_into_it(capfd: pytest.CaptureFixture[str]) -> None:
    """A topic name with a line break would else forge a line; what is printable stays as it is."""
    log_to_stderr()
    get_logger("server").info("closed: topic %s", "a\n2026-01-01 ERROR forged\x1b[2Jé")

    err = capfd.readouterr().err
    assert err.endswith("closed: topic a\\n2026-01-01 ERROR forged\\x1b[2Jé\n")
    assert err.count("\n") == 1
