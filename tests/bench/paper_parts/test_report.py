"""What was measured is set beside the paper."""

from paper_parts.clients import CONFLUENT, JMS, STOMP, Turn
from paper_parts.experiment import ACTIVEMQ, OURS, Measured, Step
from paper_parts.report import answer


def measured(*rows: tuple[Step, float]) -> Measured:
    """Two turns a step, both of so many messages a second in, and ten times that out."""
    found = Measured()
    for step, rate in rows:
        found.produced[step] = [Turn(1000, 1000 / rate, 0.01, 0.02)] * 2
        found.consumed[step] = [Turn(1000, 100 / rate, 0.01, 0.02)] * 2
    return found


def test_batches_are_compared_with_single_messages() -> None:
    """The paper: 400,000 a second over 50,000."""
    rows = ((Step(OURS, CONFLUENT, 1), 10_000.0), (Step(OURS, CONFLUENT, 1, batch=50), 90_000.0))

    (figure,) = answer(measured(*rows)).figures

    assert (figure.name, round(figure.value, 3), figure.target) == ("in: batch 50 / batch 1", 9.0, 8)


def test_a_queue_is_compared_by_its_faster_client() -> None:
    """The slower one would flatter us."""
    rows = (
        (Step(OURS, CONFLUENT, 1, batch=50), 90_000.0),
        (Step(ACTIVEMQ, STOMP, 1), 6_000.0),
        (Step(ACTIVEMQ, JMS, 1), 3_000.0),
    )

    values = {figure.name: round(figure.value, 3) for figure in answer(measured(*rows)).figures}

    assert values == {"in: batch 50 / ActiveMQ": 15.0, "out: wirekafka / ActiveMQ": 15.0}


def test_who_is_not_there_is_told() -> None:
    """A table that lacks a broker must say why."""
    found = measured((Step(OURS, CONFLUENT, 1), 10_000.0))
    found.absent["rabbitmq"] = "it is not installed"

    notes = answer(found).notes

    assert "Not here: rabbitmq: it is not installed." in notes


def test_processor_time_is_a_message() -> None:
    """In microseconds, on either side."""
    turn = Turn(messages=1000, seconds=2.0, client_seconds=0.01, broker_seconds=0.02)

    assert (turn.messages_a_second, turn.client_us, turn.broker_us) == (500.0, 10.0, 20.0)
