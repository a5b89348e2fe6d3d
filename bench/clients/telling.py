"""The answer of `throughput`: figures, tables, plots and notes from what was measured."""

import itertools
import statistics

from instrument.answers import Answer, Bars, Cell, Lines, Series, Spread, Table
from instrument.figures import Figure

from clients.fleet import CLIENTS
from clients.measured import BASE, BATCHING, DIRECTIONS, IN, KAFKA, OURS, OUT, POINTS, Measured, Place, points

OTHERS = ("kfake", "tansu", "librdkafka-mock")
OTHERS_CLIENT = "confluent-kafka"
QUANTITIES = {"records_a_second": "records/s", "mb_a_second": "MB/s", "cpu_seconds_a_gb": "CPU-s a GB"}
TARGETS = {"records_a_second": (1.2, False), "cpu_seconds_a_gb": (0.5, True)}
"""What the ratio to Apache Kafka's must be, and whether that is the most it may be."""
PLOTS = {
    "mb_a_second": ("throughput", "Throughput", "MB/s"),
    "cpu_seconds_a_gb": ("cpu", "The broker's processor time", "CPU-s a GB"),
}
"""Of each the name of its file, its title, its unit."""
NOTES = (
    "Ratios are of two turns right after one another; the figures with targets are medians over all points "
    "and rounds. A client's rate is what it tells itself (perf-test: kafka-consumer-perf-test's "
    "fetch.nMsg.sec, which leaves out the time that joining its group took), or all records over the time "
    "from a common start to the slowest one's last acknowledgement or record; import, connection and "
    "metadata come before that. Eight clients that read do so each for itself, the same records; those of "
    "perf-test are threads of one Java machine.",
    "Everything is warm before a turn is counted, Apache Kafka and the Java clients above all: both need "
    "many times the processor time at first. The plot of the first turns shows what a broker gives before. "
    "Nothing is pinned, each side begins as often as the other, and a turn begins when all partitions have "
    "their leader: Apache Kafka says some 0.5 s before that a topic is made.",
    "CPU is the whole broker process's, Java's compiler and collector with it; a GB is 1e9 bytes of values "
    "before compression. Producers write random capitals, as kafka-producer-perf-test does. With two "
    "processors the broker has what the clients leave: a rate tells of both, CPU a GB of the broker alone.",
    "Records are in the page cache when they are read. kafka-producer-perf-test sends batches of 16 KiB, "
    "one a request with one partition (Java's default); confluent-kafka's batches are up to 1 MB. Its "
    "consumer has fetch.queue.backoff.ms=1: at the default of 1,000 it does not fetch for a second whenever "
    "Python is behind by 64 MiB, which happens by chance, and rather with the quicker broker.",
)


WAYS = {IN: "writing", OUT: "reading"}


def answer(measured: Measured) -> Answer:
    """Tell all of it."""
    figures = [
        _figure(measured, client, verb, quantity)
        for quantity, verb, client in itertools.product(TARGETS, DIRECTIONS, BATCHING)
    ]
    memory = Figure(
        "memory resident under load, wirekafka / Apache Kafka", measured.memory_ratios(), 1 / 6, at_most=True
    )
    tables = [_table(measured, verb) for verb in DIRECTIONS]
    tables += [_shares_table(measured, verb) for verb in DIRECTIONS]
    tables += [_rivals_table(measured), _memory_table(measured)]
    plots = [_plot(measured, verb, quantity) for quantity, verb in itertools.product(PLOTS, DIRECTIONS)]
    absent = [f"{name} was not measured: {reason}" for name, reason in measured.absent.items()]
    return Answer(
        [*figures, memory],
        tables,
        [*plots, _warming_plot(measured)],
        [_left(measured), _first_turns(measured), *NOTES, *absent],
    )


def _figure(measured: Measured, client: str, verb: str, quantity: str) -> Figure:
    """Of all points and rounds, the pairs' ratios."""
    target, at_most = TARGETS[quantity]
    name = f"{QUANTITIES[quantity]} {DIRECTIONS[verb]}, {client}, wirekafka / Apache Kafka"
    return Figure(name, measured.all_ratios(client, verb, quantity), target, at_most=at_most)


def _left(measured: Measured) -> str:
    """What a broker that takes no time at all would get out of these clients."""
    told = [f"{_median_left(measured, client):.2f} times with {client}" for client in BATCHING]
    return (
        "How much is the client's: a client cannot be quicker than its busiest thread, nor than all its "
        "threads on all processors. By that the largest ratio to Apache Kafka that any broker could have in "
        f"reading on this machine is {' and '.join(told)} (median over all points)."
    )


def _first_turns(measured: Measured) -> str:
    told = []
    for verb, direction in DIRECTIONS.items():
        ours, kafkas = (measured.warming[name, verb][0].cpu_seconds_a_gb for name in (OURS, KAFKA))
        told.append(f"{direction} {ours:.2f} and {kafkas:.2f}")
    return (
        "The broker's processor time in the first turn after its start, perf-test, wirekafka's and Apache "
        f"Kafka's, CPU-s a GB: {'; '.join(told)}. No figure counts these."
    )


def _median_left(measured: Measured, client: str) -> float:
    return statistics.median(
        ratio for point in points(OUT) for ratio in measured.most_left(point.name, client, OUT)
    )


def _table(measured: Measured, verb: str) -> Table:
    rows: list[list[Cell]] = []
    for point, client in itertools.product(points(verb), CLIENTS):
        row: list[Cell] = [f"{point.name}, {client}"]
        for quantity in QUANTITIES:
            row += [
                measured.spread(Place(point.name, client, verb, name), quantity) for name in (OURS, KAFKA)
            ]
            row.append(Spread(measured.ratios(point.name, client, verb, quantity)))
        rows.append(row)
    columns = ["point, client"]
    for name in QUANTITIES.values():
        columns += [f"{name}: {OURS}", KAFKA, "ratio"]
    return Table(f"Records {DIRECTIONS[verb]}", columns, rows)


def _shares_table(measured: Measured, verb: str) -> Table:
    """Time and processor time of client and broker."""
    quantities = ("seconds_a_gb", "client_seconds_a_gb", "cpu_seconds_a_gb")
    rows: list[list[Cell]] = []
    for point, client in itertools.product(points(verb), BATCHING):
        places = [Place(point.name, client, verb, name) for name in (OURS, KAFKA)]
        cells: list[Cell] = [
            measured.spread(place, quantity) for quantity, place in itertools.product(quantities, places)
        ]
        left = Spread(measured.most_left(point.name, client, verb))
        rows.append([f"{point.name}, {client}", *cells, left])
    columns = ["point, client"]
    for name in ("seconds a GB", "CPU-s a GB of the client", "CPU-s a GB of the broker"):
        columns += [f"{name}: {OURS}", KAFKA]
    return Table(
        f"Who takes the time, {DIRECTIONS[verb]}",
        [*columns, f"any broker / {KAFKA}: at most"],
        rows,
    )


def _rivals_table(measured: Measured) -> Table:
    rows: list[list[Cell]] = []
    for name in (OURS, KAFKA, *(name for name in OTHERS if name not in measured.absent)):
        row: list[Cell] = [name]
        for verb, quantity in itertools.product(DIRECTIONS, ("records_a_second", "cpu_seconds_a_gb")):
            place = Place(BASE.name, OTHERS_CLIENT, verb, name)
            row.append(measured.spread(place, quantity) if place in measured.turns else "keeps too little")
        rows.append([*row, Spread(measured.resident_mib[BASE.name, name], "MiB")])
    columns = ["broker", "records/s in", "CPU-s a GB in", "records/s out", "CPU-s a GB out", "resident"]
    return Table(f"All brokers: {BASE.name}, {OTHERS_CLIENT}", columns, rows)


def _memory_table(measured: Measured) -> Table:
    rows: list[list[Cell]] = [
        [point.name, *(Spread(measured.resident_mib[point.name, name], "MiB") for name in (OURS, KAFKA))]
        for point in POINTS
    ]
    return Table("Memory resident after each point", ["point", OURS, KAFKA], rows)


def _plot(measured: Measured, verb: str, quantity: str) -> Bars:
    series = {
        f"{name}, {client}": [
            measured.spread(Place(point.name, client, verb, name), quantity) for point in points(verb)
        ]
        for client, name in itertools.product(BATCHING, (OURS, KAFKA))
    }
    name, title, unit = PLOTS[quantity]
    groups = [point.name for point in points(verb)]
    return Bars(f"{name}_{DIRECTIONS[verb]}", f"{title}, {WAYS[verb]}", unit, groups, series)


def _warming_plot(measured: Measured) -> Lines:
    series = []
    for name, verb in itertools.product((OURS, KAFKA), DIRECTIONS):
        ys = [turn.cpu_seconds_a_gb for turn in measured.warming[name, verb]]
        series.append(Series(f"{name}, {DIRECTIONS[verb]}", list(range(1, len(ys) + 1)), ys))
    title = "The first turns after a broker's start, perf-test"
    return Lines("warming", title, "turn", "CPU-s a GB of the broker", series, log_y=True)
