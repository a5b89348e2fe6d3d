"""`make soak`: 30 members of real clients come, leave and die for ten minutes, and the broker is killed too.

    python -m compat_tests.soak [--minutes M] [--kill-broker-every S] [--seed N] [--bootstrap HOST:PORT]

Five groups read one topic: classic with an eager assignor, of three clients; classic and cooperative;
KIP-848; one whose members speak either protocol, so that it is converted back and forth; and another eager
one. At the end nobody comes or leaves any more, and the members have time to read what is left. Ends with
status 1, and what was wrong, when a record was not read by a group, a committed offset went back, or a member
was without a partition for longer than its session time-out.
Source: none.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from confluent_kafka import KafkaException, Message, Producer

from compat_tests.broker import WIREKAFKA_COMMAND, RestartableBroker, broker_of_command
from compat_tests.clients.adapter import BrokerError
from compat_tests.clients.confluent import Confluent
from compat_tests.soak.crew import KINDS, SESSION_SECONDS, Place, make_places
from compat_tests.soak.ledger import SHOWN, Ledger

TOPIC, PARTITIONS = "soak", 24
SETTINGS = {
    "group.consumer.session.timeout.ms": int(SESSION_SECONDS * 1000),
    "group.consumer.min.session.timeout.ms": int(SESSION_SECONDS * 1000),
    # librdkafka gives a heartbeat as long as the interval, which is too short for a machine that is so busy.
    "wirekafka.consumer.heartbeat.fastest.ms": 1000,
}
RECORDS_A_SECOND = 50
SLACK_SECONDS = 8.0
SETTLE_SECONDS = 180.0
DRAIN_SECONDS = 60.0
COMMITTED_EVERY_SECONDS = 1.0
TELL_EVERY_SECONDS = 15.0
GROUPS = [name for name, _ in KINDS]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done."""

    minutes: float
    kill_broker_every: float
    """Seconds; 0 for never."""
    seed: int
    only: tuple[str, ...]
    """The groups that there are; all where none is named."""


@contextmanager
def running_broker(bootstrap: str | None) -> Iterator[tuple[str, RestartableBroker | None]]:
    """The broker that is asked for, or one of our own, which can be killed."""
    if bootstrap is not None:
        yield bootstrap, None
        return
    with tempfile.TemporaryDirectory(prefix="wirekafka-soak-") as folder:
        command = WIREKAFKA_COMMAND + "".join(f" --set {name}={value}" for name, value in SETTINGS.items())
        broker = broker_of_command(command, Path(folder))
        broker.start()
        try:
            yield broker.bootstrap, broker
        finally:
            broker.stop(signal.SIGTERM)


def write(bootstrap: str, ledger: Ledger, over: threading.Event) -> None:
    """Write to all partitions in turn until it is over; note what the broker has acknowledged."""

    def acknowledged(error: object, message: Message) -> None:
        partition, offset = message.partition(), message.offset()
        if error is None and partition is not None and offset is not None:
            ledger.note_written((partition, offset))

    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0})
    number = 0
    while not over.wait(1 / RECORDS_A_SECOND):
        producer.produce(TOPIC, b"x", partition=number % PARTITIONS, on_delivery=acknowledged)
        producer.poll(0)
        number += 1
    producer.flush(DRAIN_SECONDS)


def watch_commits(bootstrap: str, groups: list[str], ledger: Ledger, over: threading.Event) -> None:
    """Look at what every group has committed, once a second."""
    admin = Confluent(bootstrap).admin()
    while not over.wait(COMMITTED_EVERY_SECONDS):
        for group in groups:
            with contextlib.suppress(BrokerError, KafkaException, TimeoutError):  # the broker is down
                ledger.note_committed(group, admin.group_offsets(group))


def kill_broker(
    broker: RestartableBroker, every_seconds: float, ledger: Ledger, over: threading.Event
) -> None:
    while not over.wait(every_seconds):
        ledger.note_event("broker killed")
        broker.restart(signal.SIGKILL)


def settle(places: list[Place]) -> None:
    """Start all members, and wait until each has had a partition."""
    for place in places:
        place.start()
    deadline = time.monotonic() + SETTLE_SECONDS
    for place in places:
        if not place.settled.wait(max(0.0, deadline - time.monotonic())):
            raise click.ClickException(f"{place.name} had no partition after {SETTLE_SECONDS:.0f} s")


def drain(groups: list[str], ledger: Ledger) -> None:
    """Give the groups time to read what is left."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while time.monotonic() < deadline and any(ledger.unread(group) for group in groups):
        time.sleep(0.2)


def live(bootstrap: str, broker: RestartableBroker | None, plan: Plan) -> tuple[Ledger, list[str]]:
    """One run; give what is known of it, and the names of its groups."""
    ledger = Ledger(SESSION_SECONDS, SLACK_SECONDS)
    Confluent(bootstrap).admin().create_topic(TOPIC, PARTITIONS, {})
    places, left_out = make_places(bootstrap, TOPIC, ledger, plan.seed, only=plan.only)
    groups = sorted({place.group_name for place in places})
    for line in left_out:
        click.echo(f"left out: {line}")
    settle(places)
    click.echo(f"{len(places)} members of {len(groups)} groups are there")
    over, drained = threading.Event(), threading.Event()
    watcher = threading.Thread(target=watch_commits, args=(bootstrap, groups, ledger, drained))
    watcher.start()
    workers = [threading.Thread(target=write, args=(bootstrap, ledger, over))]
    if broker is not None and plan.kill_broker_every:
        killing = (broker, plan.kill_broker_every, ledger, over)
        workers.append(threading.Thread(target=kill_broker, args=killing))
    for worker in workers:
        worker.start()
    tell_while(plan.minutes * 60, groups, ledger)
    for place in places:
        place.no_more_changes.set()
    over.set()
    for worker in workers:
        worker.join()
    drain(groups, ledger)
    drained.set()
    watcher.join()
    dismiss(places)
    return ledger, groups


def tell_while(seconds: float, groups: list[str], ledger: Ledger) -> None:
    """Say now and then how it goes."""
    ends_at = time.monotonic() + seconds
    while (left := ends_at - time.monotonic()) > 0:
        time.sleep(min(left, TELL_EVERY_SECONDS))
        behind = ", ".join(f"{group} {len(ledger.unread(group))}" for group in groups)
        click.echo(
            f"  {max(left - TELL_EVERY_SECONDS, 0):4.0f} s left; {dict(ledger.events)}; unread: {behind}"
        )


def dismiss(places: list[Place]) -> None:
    """Let all members leave."""
    for place in places:
        place.over.set()
    for place in places:
        place.join()


@click.command()
@click.option("--minutes", type=float, default=10.0, show_default=True, help="How long members come and go.")
@click.option("--kill-broker-every", type=float, default=0.0, help="Seconds between two kill -9; 0: none.")
@click.option("--seed", type=int, default=1, show_default=True, help="Who goes when, and how.")
@click.option("--bootstrap", metavar="HOST:PORT", help="A running broker, which is not killed.")
@click.option(
    "--group", "only", multiple=True, type=click.Choice([name for name, _ in KINDS]), help="Only it."
)
def main(
    minutes: float, kill_broker_every: float, seed: int, bootstrap: str | None, only: tuple[str, ...]
) -> None:
    """Let 30 members of real clients come, leave and die, and see that nothing is lost."""
    with running_broker(bootstrap) as (address, broker):
        ledger, groups = live(address, broker, Plan(minutes, kill_broker_every, seed, only))
    click.echo(f"{len(ledger.written)} records written; {dict(ledger.events)}")
    for text, count in ledger.refusals.most_common(SHOWN):
        click.echo(f"  {count} times in {text}")
    for group in groups:
        click.echo(f"{group}: without a partition at most {ledger.longest_without.get(group, 0.0):.1f} s")
    faults = ledger.faults(groups)
    for fault in faults:
        click.echo(f"WRONG: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
