"""`make soak`: 30 members of real clients come, leave and die for ten minutes, and the broker is killed too.

    python -m compat_tests.soak [--minutes M] [--kill-broker-every S] [--seed N] [--bootstrap HOST:PORT]

Five groups read one topic: classic with an eager assignor, of three clients; classic and cooperative;
KIP-848; one whose members speak either protocol, so that it is converted back and forth; and another eager
one. At the end nobody comes or leaves any more, and the members have time to read and to commit what is left.

Ends with status 1, and what was wrong, when
- a record was sent and not acknowledged, or acknowledged and not read by each group;
- a committed offset went back, or is not at the end of its partition in the end;
- a member was without a partition, or silent, for longer than its session time-out and the slack, or no
  member of a group read a partition for so long; timed from the last death in the group, and the last start
  of the broker;
- too few records were sent, too few members killed, or commits seen too seldom for that to mean something.
Source: none.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from compat_tests.broker import WIREKAFKA_COMMAND, RestartableBroker, broker_of_command
from compat_tests.clients.confluent import Confluent
from compat_tests.soak.crew import KINDS, SESSION_SECONDS, Place, make_places
from compat_tests.soak.ledger import SHOWN, Ledger, Limits
from compat_tests.soak.watching import (
    PARTITIONS,
    RECORDS_A_SECOND,
    TOPIC,
    Writer,
    kill_broker,
    watch_commits,
    watch_unread,
)

SETTINGS = {
    "group.consumer.session.timeout.ms": int(SESSION_SECONDS * 1000),
    "group.consumer.min.session.timeout.ms": int(SESSION_SECONDS * 1000),
    # librdkafka gives a heartbeat as long as the interval, which is too short for a machine that is so busy.
    "wirekafka.consumer.heartbeat.fastest.ms": 1000,
}
SLACK_SECONDS = 5.0
CALM_SECONDS = SESSION_SECONDS + 3.0
"""So long before the end nobody is killed any more, so that what is left is soon read."""
SETTLE_SECONDS = 180.0
DRAIN_SECONDS = 60.0
COMMIT_SECONDS = 5.0
ROUNDS_IN_THE_END = 4
TELL_EVERY_SECONDS = 15.0
LEAST_SHARE_SENT = 0.5
GROUPS = tuple(name for name, _ in KINDS)
SECONDS_A_LOOK = 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done."""

    minutes: float
    """From the start of the first member until nobody comes or leaves any more."""
    kill_broker_every: float
    """Seconds; 0 for never."""
    seed: int
    slack_seconds: float
    groups: tuple[str, ...]
    members_log: Path
    """For what the members' clients say."""

    @property
    def limits(self) -> Limits:
        """What the run has to keep to."""
        seconds = self.minutes * 60
        return Limits(
            SESSION_SECONDS,
            self.slack_seconds,
            least_sent=int(seconds * RECORDS_A_SECOND * LEAST_SHARE_SENT),
            least_looks=int(seconds / SECONDS_A_LOOK),
            least_deaths=int(self.minutes),
        )


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


@dataclass(frozen=True, slots=True)
class Run:
    """One run, and what it is told by."""

    plan: Plan
    bootstrap: str
    broker: RestartableBroker | None
    places: Sequence[Place]
    ledger: Ledger

    def live(self, ends_at: float) -> None:
        """Let members come and go until then, and see what comes of it."""
        calm, over, drained = threading.Event(), threading.Event(), threading.Event()
        writer = Writer(self.bootstrap, self.ledger)
        workers = [_started(writer.write_until, over)]
        if self.broker is not None and self.plan.kill_broker_every:
            killing = (self.broker, self.plan.kill_broker_every, self.ledger, calm)
            workers.append(_started(kill_broker, *killing))
        self._settle()
        watchers = [_started(watch_unread, self.ledger, drained)]
        watchers += [
            _started(watch_commits, self.bootstrap, group, self.ledger, drained)
            for group in self.ledger.groups
        ]
        self._tell_until(ends_at - CALM_SECONDS)
        calm.set()
        self._tell_until(ends_at)
        for place in self.places:
            place.no_more_changes.set()
        over.set()
        for worker in workers:
            worker.join()
        self._drain(writer)
        drained.set()
        for watcher in watchers:
            watcher.join()
        self._dismiss()

    def _settle(self) -> None:
        """Start all members, and wait until each has had a partition."""
        for place in self.places:
            place.start()
        deadline = time.monotonic() + SETTLE_SECONDS
        for place in self.places:
            if not place.settled.wait(max(0.0, deadline - time.monotonic())):
                raise click.ClickException(f"{place.name} had no partition after {SETTLE_SECONDS:.0f} s")
        self.ledger.excuse_all(time.monotonic())
        click.echo(f"{len(self.places)} members of {len(self.ledger.groups)} groups are there")

    def _tell_until(self, ends_at: float) -> None:
        """Say now and then how it goes."""
        while (left := ends_at - time.monotonic()) > 0:
            time.sleep(min(left, TELL_EVERY_SECONDS))
            behind = ", ".join(f"{group} {self.ledger.unread_count(group)}" for group in self.ledger.groups)
            click.echo(f"  {dict(self.ledger.events)}; unread: {behind}")

    def _drain(self, writer: Writer) -> None:
        """Give the groups time to read what is left, and then to commit it.

        A commit that a rebalance refuses is made good by the next one, for which there has to be a record.
        """
        groups = self.ledger.groups
        _wait(DRAIN_SECONDS, lambda: not any(map(self.ledger.unread_count, groups)))
        for _ in range(ROUNDS_IN_THE_END):
            writer.write_round()
            if _wait(COMMIT_SECONDS, lambda: not any(map(self.ledger.uncommitted, groups))):
                break
        _wait(DRAIN_SECONDS, lambda: not any(map(self.ledger.unread_count, groups)))

    def _dismiss(self) -> None:
        """Let all members leave."""
        for place in self.places:
            place.over.set()
        for place in self.places:
            place.join()


def _started(body: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=body, args=arguments, daemon=True)
    thread.start()
    return thread


def _wait(seconds: float, until: Callable[[], bool]) -> bool:
    """Wait until something is so, at most for so long; whether it is."""
    deadline = time.monotonic() + seconds
    while not until():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def soak(bootstrap: str, broker: RestartableBroker | None, plan: Plan) -> Ledger:
    """Do one run; give what is known of it."""
    ends_at = time.monotonic() + plan.minutes * 60
    Confluent(bootstrap).admin().create_topic(TOPIC, PARTITIONS, {})
    ledger = Ledger(plan.limits, plan.groups)
    places, left_out = make_places(
        bootstrap,
        TOPIC,
        ledger,
        seed=plan.seed,
        deaths_until=ends_at - CALM_SECONDS,
        log=plan.members_log,
    )
    for line in left_out:
        click.echo(f"left out: {line}")
    Run(plan, bootstrap, broker, places, ledger).live(ends_at)
    return ledger


def tell(ledger: Ledger) -> None:
    """Say what was done, and how long what took."""
    click.echo(f"{ledger.sent} records sent, {len(ledger.written)} acknowledged; {dict(ledger.events)}")
    for text, count in ledger.refusals.most_common(SHOWN):
        click.echo(f"  {count} times in {text}")
    limit = f"at most {ledger.limits.wait_seconds:.0f} s allowed after the last death or start"
    click.echo(f"longest waits ({limit}):")
    for group in ledger.groups:
        page = ledger.pages[group]
        click.echo(
            f"  {group}: {page.longest_without:.1f} s without a partition, {page.longest_unread:.1f} s "
            f"unread; {page.deaths} killed, commits seen {page.looks} times"
        )


@click.command()
@click.option("--minutes", type=float, default=10.0, show_default=True, help="How long members come and go.")
@click.option(
    "--kill-broker-every",
    type=float,
    default=0.0,
    help="Seconds between two kill -9; 0: none. Below 20 nobody waits for long enough to be judged.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Who goes when, and how.")
@click.option(
    "--slack", type=float, default=SLACK_SECONDS, show_default=True, help="Seconds of a busy machine."
)
@click.option(
    "--bootstrap",
    metavar="HOST:PORT",
    help="A running broker, which is not killed; its group.consumer.session.timeout.ms must be 10000.",
)
@click.option("--members-log", type=Path, default=Path(os.devnull), help="For what the members' clients say.")
@click.option("--group", "only", multiple=True, type=click.Choice(GROUPS), help="Only it.")
def main(
    *,
    minutes: float,
    kill_broker_every: float,
    seed: int,
    slack: float,
    bootstrap: str | None,
    members_log: Path,
    only: tuple[str, ...],
) -> None:
    """Let 30 members of real clients come, leave and die, and see that nothing is lost."""
    with running_broker(bootstrap) as (address, broker):
        plan = Plan(minutes, kill_broker_every, seed, slack, only or GROUPS, members_log)
        ledger = soak(address, broker, plan)
    tell(ledger)
    faults = ledger.faults()
    for fault in faults:
        click.echo(f"WRONG: {fault}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
