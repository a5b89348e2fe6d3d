"""What came of the experiment, beside what the paper says. Called by `paper`."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from instrument.answers import Answer, Bars, Cell, Spread, Table
from instrument.figures import Figure, ratios

from paper_parts.clients import CONFLUENT, JMS, PIKA, PIKA_ACKNOWLEDGING, STOMP, Turn
from paper_parts.experiment import ACTIVEMQ, KAFKA, OURS, RABBITMQ, Measured, Step

MESSAGE_BYTES = 200
BATCH = 50
PAPER_IN = {1: 50_000, BATCH: 400_000}
"""Messages a second that Kafka's producer sent, by batch size."""
PAPER_OUT = {BATCH: 22_000}
"""Messages a second that Kafka's consumer took; the paper does not say how they had been written."""
PAPER_OVERHEAD = {OURS: 9, KAFKA: 9, ACTIVEMQ: 144}
"""Bytes on disk a message, beyond its own 200; of batches of 50 where there are batches."""
TITLES = {OURS: "wirekafka", KAFKA: "Apache Kafka", RABBITMQ: "RabbitMQ", ACTIVEMQ: "ActiveMQ"}

Turns = dict[Step, list[Turn]]
_rate, _broker_us, _client_us = map(attrgetter, ("messages_a_second", "broker_us", "client_us"))


def answer(measured: Measured) -> Answer:
    """Tables, figures, plots and notes of what was measured."""
    return Answer(
        figures=[*_producer_figures(measured), *_consumer_figures(measured), *_disk_figures(measured)],
        tables=[_table("in", measured.produced), _table("out", measured.consumed), _disk_table(measured)],
        plots=[
            _plot("producer", "Figure 4: one producer, 200-byte messages", measured.produced, PAPER_IN),
            _plot("consumer", "Figure 5: one consumer, 200-byte messages", measured.consumed, PAPER_OUT),
        ],
        notes=[*NOTES, *_why_batches_gain_less(measured), *_absent(measured)],
    )


NOTES = (
    "The paper is Kreps, Narkhede and Rao, Kafka: a Distributed Messaging System for Log Processing "
    "(NetDB 2011), section 5. It had two machines with 8 cores, 1 Gb/s between them, and 10 million "
    "messages; here client and broker share one machine and nobody is pinned.",
    "In is from the first call until the broker says that it has all messages. As in the paper nobody "
    "waits for acknowledgements but where the table says acks 1: Kafka's clients send with acks 0, pika "
    "without publisher confirms, JMS with useAsyncSend, STOMP without receipts but for the last. All keep "
    "the messages on disk and leave flushing to the operating system: RabbitMQ with persistent messages "
    "in a durable queue, ActiveMQ with KahaDB and journalDiskSyncStrategy=never, its heap 1 GiB.",
    "Out is from the subscription to the last message, each handed over by itself, with a prefetch of "
    "1,000 messages (Kafka's clients: 200,000 bytes a fetch; confluent-kafka keeps 1,000 ready). "
    "Acknowledgement is automatic, as in the paper. With RabbitMQ that means that it sends without end; "
    "'pika, acknowledging' has the prefetch, and acknowledges every 500 messages. The log that is read "
    "was written with the batch size of its row.",
    "Bytes on disk are those that all files of a broker grew by when it took its first messages. With "
    "ActiveMQ that is more than later ones take: pages of its index and of its redo log are used again.",
    "For RabbitMQ and ActiveMQ the ratios are to the faster of their two rows. Processor time is that of "
    "all threads, a message: where client and broker together fill the processors, the machine is the "
    "limit; where one thread of one of them fills a processor, that is.",
)


def _of(turns: Turns, broker: str, client: str = CONFLUENT, batch: int = 1, acks: int = 0) -> list[float]:
    """The rates of one row; empty where it was not measured."""
    return [
        turn.messages_a_second
        for step, all_turns in turns.items()
        if (step.broker, step.client, step.batch, step.acks) == (broker, client, batch, acks)
        for turn in all_turns
    ]


def _fastest(turns: Turns, broker: str) -> list[float]:
    """The rates of a queue by the client that is faster with it."""
    rows = (_of(turns, broker, client) for client in (PIKA, PIKA_ACKNOWLEDGING, JMS, STOMP))
    return max(filter(None, rows), key=lambda rates: Spread(rates).median, default=[])


def _ratio(
    name: str, above: Sequence[float], below: Sequence[float], target: float | None, detail: str
) -> list[Figure]:
    if not above or not below:
        return []
    return [Figure(name, ratios(above, below), target, detail=detail)]


def _producer_figures(measured: Measured) -> list[Figure]:
    turns = measured.produced
    single, batched = _of(turns, OURS), _of(turns, OURS, batch=BATCH)
    rabbitmq, activemq = _fastest(turns, RABBITMQ), _fastest(turns, ACTIVEMQ)
    apache = [_of(turns, KAFKA, batch=batch) for batch in (1, BATCH)]
    return [
        *_ratio("in: batch 50 / batch 1", batched, single, 8, "paper: 400,000/s over 50,000/s"),
        *_ratio("in: the same of Apache Kafka 4.4", apache[1], apache[0], None, ""),
        *_ratio("in: batch 1 / RabbitMQ", single, rabbitmq, 2, "paper: at least 2"),
        *_ratio("in: batch 50 / RabbitMQ", batched, rabbitmq, None, "paper: at least 16"),
        *_ratio("in: batch 1 / ActiveMQ", single, activemq, None, "paper: orders of magnitude"),
        *_ratio("in: batch 50 / ActiveMQ", batched, activemq, 10, "paper: orders of magnitude"),
        *_ratio("in: batch 1 / Apache Kafka 4.4", single, apache[0], None, ""),
        *_ratio("in: batch 50 / Apache Kafka 4.4", batched, apache[1], None, ""),
    ]


def _consumer_figures(measured: Measured) -> list[Figure]:
    turns = measured.consumed
    batched, single = _of(turns, OURS, batch=BATCH), _of(turns, OURS)
    rabbitmq, activemq = _fastest(turns, RABBITMQ), _fastest(turns, ACTIVEMQ)
    return [
        *_ratio("out: wirekafka / RabbitMQ", batched, rabbitmq, 4, "paper: more than 4"),
        *_ratio("out: wirekafka / ActiveMQ", batched, activemq, 4, "paper: more than 4"),
        *_ratio("out, written by ones: wirekafka / RabbitMQ", single, rabbitmq, 4, "paper: more than 4"),
        *_ratio("out, written by ones: wirekafka / ActiveMQ", single, activemq, 4, "paper: more than 4"),
        *_ratio("out: wirekafka / Apache Kafka 4.4", batched, _of(turns, KAFKA, batch=BATCH), None, ""),
    ]


def _disk_figures(measured: Measured) -> list[Figure]:
    size = measured.disk_bytes.get((OURS, BATCH))
    if size is None:
        return []
    told = "paper: 9; the record format of today has 9 a record and 61 a batch, so 10.2"
    return [Figure("on disk beyond the message, batch 50", [size - MESSAGE_BYTES], unit="B", detail=told)]


def _why_batches_gain_less(measured: Measured) -> list[str]:
    """Where the time goes of the ratio batch 50 / batch 1, out of this run's own figures."""
    rows = {step.batch: turns for step, turns in measured.produced.items() if _is_plain(step)}
    if not {1, BATCH} <= rows.keys():
        return []
    broker, client, rate = (
        {batch: _spread(turns, quantity).median for batch, turns in rows.items()}
        for quantity in (_broker_us, _client_us, _rate)
    )
    return [
        f"Batch 50 / batch 1: a message alone costs the broker {broker[1]:.1f} us and confluent-kafka "
        f"{client[1]:.1f} us; one of 50 costs them {broker[BATCH]:.1f} and {client[BATCH]:.1f} us. So the "
        f"broker's own ratio is {broker[1] / broker[BATCH]:.1f}, and the client's "
        f"{client[1] / client[BATCH]:.1f}: a call from Python a message remains, however large the batch. To "
        f"the paper's 50,000/s and 400,000/s stand {rate[1]:,.0f}/s and {rate[BATCH]:,.0f}/s: requests of "
        "one message that follow one another on a connection are appended by one write, so that much of what "
        "batches save is saved without them."
    ]


def _is_plain(step: Step) -> bool:
    return (step.broker, step.client, step.acks) == (OURS, CONFLUENT, 0)


def _table(direction: str, turns: Turns) -> Table:
    """One row a client of a broker: the rate, and where the processors' time went."""
    columns = ("broker", "client", "batch", "acks", "messages", "messages/s", "broker us", "client us")
    rows: list[Sequence[Cell]] = []
    for step, measured in turns.items():
        rows.append(
            (
                TITLES[step.broker],
                step.client,
                step.batch,
                str(step.acks) if step.broker in (OURS, KAFKA) else "",
                sum(turn.messages for turn in measured),
                _spread(measured, _rate),
                _spread(measured, _broker_us),
                _spread(measured, _client_us),
            )
        )
    return Table(f"Messages {direction}, and processor time a message", columns, rows)


def _spread(turns: Sequence[Turn], quantity: Callable[[Turn], float]) -> Spread:
    return Spread([quantity(turn) for turn in turns])


def _disk_table(measured: Measured) -> Table:
    rows = [
        (TITLES[broker], batch, round(size, 1), round(size - MESSAGE_BYTES, 1), _told(broker, batch))
        for (broker, batch), size in measured.disk_bytes.items()
    ]
    return Table(
        "Bytes on disk a message of 200 bytes", ("broker", "batch", "bytes", "overhead", "paper"), rows
    )


def _told(broker: str, batch: int) -> str:
    """The paper's overhead, where it says one."""
    is_told = broker in PAPER_OVERHEAD and (broker == ACTIVEMQ or batch == BATCH)
    return str(PAPER_OVERHEAD[broker]) if is_told else ""


def _plot(direction: str, title: str, turns: Turns, paper: Mapping[int, float]) -> Bars:
    """As in the paper, but for a logarithmic axis, since else the queues could not be seen."""
    bars = {
        f"{TITLES[OURS]}, batch 1": _of(turns, OURS),
        f"{TITLES[OURS]}, batch 50": _of(turns, OURS, batch=BATCH),
        f"{TITLES[KAFKA]}, batch 1": _of(turns, KAFKA),
        f"{TITLES[KAFKA]}, batch 50": _of(turns, KAFKA, batch=BATCH),
        TITLES[RABBITMQ]: _fastest(turns, RABBITMQ),
        TITLES[ACTIVEMQ]: _fastest(turns, ACTIVEMQ),
        **{f"Kafka in 2011, batch {batch}": [rate] for batch, rate in paper.items()},
    }
    series = {name: [Spread(rates)] for name, rates in bars.items() if rates}
    return Bars(direction, title, "messages a second", [""], series, log_y=True)


def _absent(measured: Measured) -> list[str]:
    versions = ", ".join(f"{TITLES[name]} {version}" for name, version in measured.versions.items())
    return [f"Versions: {versions}.", *(f"Not here: {name}: {why}." for name, why in measured.absent.items())]
