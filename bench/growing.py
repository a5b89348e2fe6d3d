"""How a cost grows with a size: what was measured, its slope on two logarithmic axes, and what that may be.

On such axes a cost that does not grow is flat, slope 0, and one that doubles with the size has slope 1. A
curve is judged by two slopes: that of the straight line nearest to all its points, and that of its last
decade, where what grows has left behind what was there from the start. The second, of fewer points, is
allowed a little more. Apache Kafka can stand beside a curve; it is told, and not judged.

Called by the questions named growth_*.
"""

import functools
import math
import resource
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clients.leaders import wait_for_leaders
from frames import create_topic, receive_frame
from instrument.answers import Answer, Lines, Series, Spread, Table
from instrument.figures import Figure
from instrument.plots import BESIDE
from instrument.processes import SERVERS, loop_seconds, pin, pin_this_process
from instrument.question import progress
from instrument.text import number
from rivals import NotAvailable, RunningBroker, fetch, start

_OURS, _KAFKA = "wirekafka", "apache-kafka"
FLAT, LINEAR = 0.15, 1.1
"""The steepest that a curve may be all in all: of what should not grow, and of what grows with the size."""
_KAFKAS_NOTE = (
    "Dashed, and in the rows that begin so, is Apache Kafka: one round at fewer sizes, by one broker that "
    "was warmed up before. Its processor time is that of all its threads, Java's compiler with them; of "
    "wirekafka it is that of the event loop, which does nearly all."
)
_MORE_IN_THE_LAST_DECADE = 0.1
_MICROSECONDS = 1e6
_LEAST = 1e-6
"""What is less has no place on a logarithmic axis."""
_ANSWER_BYTES = 1024 * 1024
_ACCOUNTED_SECONDS = 0.005
"""A process's time is accounted when it is scheduled out: it has to come to rest."""
_STILL_SECONDS, _MOST_SETTLE_SECONDS = 0.05, 5.0


@dataclass(frozen=True, slots=True)
class Curve:
    """One cost. `steepest` is the slope it may have; None where it is only told."""

    name: str
    unit: str
    steepest: float | None = None


@dataclass(frozen=True, slots=True)
class Plotted:
    """Curves of one unit that are drawn together."""

    name: str
    title: str
    curves: Sequence[Curve]


def at_kafka(curve: Curve) -> Curve:
    """The same cost of Apache Kafka's."""
    return Curve(f"{BESIDE}{curve.name}", curve.unit)


class Growth:
    """What was measured at each size: a sample a round for every curve."""

    def __init__(self, size: str) -> None:
        """`size` says what grows, as the axis and the tables name it."""
        self._size = size
        self._samples: dict[Curve, dict[float, list[float]]] = {}

    def add(self, curve: Curve, size: float, sample: float) -> None:
        self._samples.setdefault(curve, {}).setdefault(size, []).append(sample)

    def beside(self) -> "Growth":
        """Where samples of Apache Kafka go, to be told together with these."""
        return _Beside(self)

    def told(self, curves: Sequence[Curve], size: float) -> str:
        """The newest samples at a size, in words."""
        return "; ".join(
            f"{each.name} {number(self._samples[each][size][-1])} {each.unit}" for each in curves
        )

    def figures(self) -> list[Figure]:
        """For every curve that is judged how much steeper it is than allowed, if it is: its slope."""
        return [self._figure(curve, curve.steepest) for curve in self._samples if curve.steepest is not None]

    def _figure(self, curve: Curve, steepest: float) -> Figure:
        slopes = [(slope(points), slope(_last_decade(points))) for points in self._rounds(curve)]
        worst = [max(whole, last - _MORE_IN_THE_LAST_DECADE) for whole, last in slopes]
        whole, last = (statistics.median(each) for each in zip(*slopes, strict=True))
        detail = f"slope of all points {whole:.2f}, of the last decade {last:.2f}"
        return Figure(f"{curve.name}: slope", worst, steepest, at_most=True, detail=detail)

    def _rounds(self, curve: Curve) -> list[list[tuple[float, float]]]:
        """The points of each round: one sample at every size."""
        by_size = sorted(self._samples[curve].items())
        rounds = min(len(samples) for _, samples in by_size)
        return [[(size, samples[number]) for size, samples in by_size] for number in range(rounds)]

    def table(self, title: str) -> Table:
        """Every curve in a row, its sizes beside each other."""
        sizes = sorted({size for by_size in self._samples.values() for size in by_size})
        rows = []
        for curve, by_size in self._samples.items():
            cells = [Spread(by_size[size]) if size in by_size else "" for size in sizes]
            medians = [(size, statistics.median(samples)) for size, samples in sorted(by_size.items())]
            rows.append([f"{curve.name}, {curve.unit}", *cells, f"{slope(medians):.2f}"])
        return Table(title, [self._size, *(number(size) for size in sizes), "slope"], rows)

    def lines(self, plotted: Plotted) -> Lines:
        """The curves on two logarithmic axes, with what was measured least and most."""
        series = []
        for curve in (one for ours in plotted.curves for one in (ours, at_kafka(ours))):
            points = sorted(self._samples.get(curve, {}).items())
            if points:
                xs = [size for size, _ in points]
                ys, low, high = ([pick(each) for _, each in points] for pick in (statistics.median, min, max))
                series.append(Series(curve.name, xs, ys, low, high))
        unit = plotted.curves[0].unit
        return Lines(plotted.name, plotted.title, self._size, unit, series, log_x=True, log_y=True)

    def answer(self, title: str, plots: Sequence[Plotted], notes: Sequence[str] = ()) -> Answer:
        return Answer(self.figures(), [self.table(title)], [self.lines(plotted) for plotted in plots], notes)


class _Beside(Growth):
    def __init__(self, growth: Growth) -> None:
        self._growth = growth

    def add(self, curve: Curve, size: float, sample: float) -> None:
        self._growth.add(at_kafka(curve), size, sample)


def measure_kafka(
    growth: Growth,
    folder: Path,
    measure: Callable[[Growth, RunningBroker], None],
    settings: Mapping[str, object] | None = None,
) -> list[str]:
    """Have Apache Kafka measured beside; give what the reader must know about it."""
    progress("Apache Kafka beside")
    try:
        with start(_KAFKA, folder, settings) as broker:
            measure(growth.beside(), broker)
    except NotAvailable as reason:
        return [f"No Apache Kafka beside: {reason}."]
    return [_KAFKAS_NOTE]


fetch_both = functools.partial(fetch, _OURS, _KAFKA)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """How steep the straight line nearest to the points is, on two logarithmic axes; 0 for a single point."""
    xs = [math.log(x) for x, _ in points]
    ys = [math.log(max(y, _LEAST)) for _, y in points]
    if len(set(xs)) < 2:
        return 0.0
    return statistics.linear_regression(xs, ys).slope


def _last_decade(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The largest sizes, down to a tenth of the largest or to the next smaller one."""
    largest = max(x for x, _ in points)
    kept = [point for point in points if point[0] >= largest / 10]
    return kept if len(kept) > 1 else sorted(points)[-2:]


def make_topic(broker: RunningBroker, sock: socket.socket, name: str, partitions: int = 1) -> None:
    """Create a topic, at Apache Kafka too: again until it is taken, and wait until it has its leaders."""
    deadline = time.perf_counter() + _MOST_SETTLE_SECONDS
    while True:
        try:
            create_topic(sock, name, partitions=partitions)
            break
        except AssertionError:  # a node that has just been started has not registered with itself
            if time.perf_counter() > deadline:
                raise
            time.sleep(_STILL_SECONDS)
    if broker.name != _OURS:
        wait_for_leaders(broker.bootstrap, name, partitions)


def pinned(broker: RunningBroker) -> None:
    """Put the broker on a processor of its own, and this process on the other."""
    pin(broker.process_id, SERVERS)
    pin_this_process()


def connected(broker: RunningBroker) -> socket.socket:
    host, _, port = broker.bootstrap.rpartition(":")
    sock = socket.create_connection((host, int(port)), timeout=60)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def allow_connections(count: int) -> None:
    """Let this process hold so many, and some files beside them."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(least, min(count + 200, most)), most))


@contextmanager
def connection(broker: RunningBroker) -> Iterator[socket.socket]:
    with connected(broker) as sock:
        yield sock


def cost_us(broker: RunningBroker, work: Callable[[], int]) -> float:
    """What the broker's event loop spends on each of the things that `work` does and counts, in us.

    Apache Kafka has no event loop: of it all threads count.
    """
    time.sleep(_ACCOUNTED_SECONDS)
    before = _used_seconds(broker)
    count = work()
    time.sleep(_ACCOUNTED_SECONDS)
    return (_used_seconds(broker) - before) / count * _MICROSECONDS


def _used_seconds(broker: RunningBroker) -> float:
    return loop_seconds(broker.process_id) if broker.name == _OURS else broker.cpu_seconds()


def request_cost_us(broker: RunningBroker, sock: socket.socket, requests: Sequence[bytes]) -> float:
    """What a request costs the broker's event loop when each is sent after the answer to the one before."""
    space = bytearray(_ANSWER_BYTES)

    def ask_all() -> int:
        for request in requests:
            sock.sendall(request)
            receive_frame(sock, space)
        return len(requests)

    return cost_us(broker, ask_all)


def settle(broker: RunningBroker) -> None:
    """Wait until the broker's event loop has nothing left to do, as after connections were closed."""
    deadline = time.perf_counter() + _MOST_SETTLE_SECONDS
    before = -1.0
    while time.perf_counter() < deadline and (now := loop_seconds(broker.process_id)) != before:
        before = now
        time.sleep(_STILL_SECONDS)


def seconds_since(begun: float) -> float:
    return time.perf_counter() - begun
