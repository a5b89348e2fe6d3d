"""`python -m tests.torture`: the long runs, with progress, and the seeds to repeat what one finds.

`make torture` is `all` with the counts of the issue; the quick counts are the tests beside this file.
"""

import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.torture import injection, mounts
from tests.torture import power as power_cuts
from tests.torture.campaign import READY_SECONDS, VARIANTS, Campaign, Death, Kill, Report
from tests.torture.flips import Flip, Folder, look, wrong
from tests.torture.groups.runs import finding as random_group
from tests.torture.injection import Injected
from tests.torture.judging_tails import judge_mangled
from tests.torture.mangling import Tail, mangle
from tests.torture.power import PowerCut
from tests.torture.store import NotAsAcknowledged, restore

KILLED = ("plain", "rolling", "retention", "compaction", "fsync-rolling")
CUT = (("ext4", "fsync"), ("xfs", "fsync-rolling"), ("ext4", "fsync-rolling"), ("xfs", "fsync"))
MANGLED_OF_ONE_LOG = 500
_MOUNT_MEBIBYTES = 512

console = Console()
Step = Callable[[int, str], None]


@contextmanager
def working(what: str, total: int) -> Iterator[Step]:
    """Show how far it is; the step takes how much more is done, and a word on where it is."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, TextColumn("{task.fields[word]}"), console=console) as progress:
        task = progress.add_task(what, total=total, word="")
        yield lambda done, word: progress.update(task, advance=done, word=word)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for a campaign; it stays when something is found in it."""
    path = Path(tempfile.mkdtemp(prefix="wirekafka-torture-"))
    try:
        yield path
    except Found:
        console.print(f"What there is to look at is in {path}")
        raise
    shutil.rmtree(path)


class Found(click.ClickException):
    """Something that must not be; the text says how to see it again."""


def campaigns(
    what: str, rounds: int, length: int, seed: int, run: Callable[[Path, int, int, Step], Report]
) -> None:
    """Campaigns of `length` rounds, one seed after the other, until there were `rounds`."""
    done, number = 0, 0
    with working(what, rounds) as step:
        while done < rounds:
            with scratch() as folder:
                report = run(folder, number, min(length, rounds - done), step)
                step(0, report.sentence())
                if report.findings:
                    again = f"python -m tests.torture {what} --seed {seed + number} --rounds {report.rounds}"
                    shown = "\n".join(report.findings[:20])
                    raise Found(f"{report.sentence()}\n{shown}\nAgain, if chance will have it: {again}")
            done, number = done + report.rounds, number + 1
            console.print(f"{what}: {report.sentence()}", highlight=False)


def rounds_of(
    folder: Path,
    data: Path,
    variant: str,
    death: Death,
    *,
    seed: int,
    rounds: int,
    every: int,
    ready_seconds: float,
    step: Step,
) -> Report:
    """One campaign, shown as it goes."""
    shown = [0]

    def told(report: Report) -> None:
        step(report.rounds - shown[0], f"{variant}, seed {report.seed}")
        shown[0] = report.rounds

    one = Campaign(
        folder, data, VARIANTS[variant], death=death, seed=seed, ready_seconds=ready_seconds, told=told
    )
    report = one.run(rounds, check_every=every)
    told(report)
    return report


@click.group()
def main() -> None:
    """Kill it, cut its power, spoil its files; see that nothing acknowledged is lost."""
    # So that brokers, producers and mounts do not outlive a run that is stopped.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def counted(rounds: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options that every command has."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        command = click.option("--rounds", default=rounds, show_default=True)(command)
        return click.option("--seed", default=1, show_default=True, help="The first seed.")(command)

    return decorate


slack = click.option("--slack", default=1.0, help="How many times as long as it should a start may take.")


@main.command()
@counted(1000)
@slack
@click.option("--variant", type=click.Choice(KILLED), help="One instead of all in turn.")
def kills(rounds: int, seed: int, slack: float, variant: str | None) -> None:
    """kill -9 of a loaded broker, a data folder for every 25."""
    ready = READY_SECONDS * slack

    def run(folder: Path, number: int, count: int, step: Step) -> Report:
        name = variant or KILLED[(seed + number) % len(KILLED)]
        named = {"seed": seed + number, "rounds": count, "every": 5}
        return rounds_of(folder, folder / "data", name, Kill(), ready_seconds=ready, step=step, **named)

    campaigns("kills", rounds, 25, seed, run)


@main.command()
@counted(300)
@slack
def power(rounds: int, seed: int, slack: float) -> None:
    """Power cuts in mode fsync, on ext4 and xfs, a filesystem for every 15."""
    ready = power_cuts.READY_SECONDS * slack
    possible = [(kind, variant) for kind, variant in CUT if not mounts.not_possible(kind)]
    if not possible:
        raise click.ClickException(mounts.not_possible("ext4"))

    def run(folder: Path, number: int, count: int, step: Step) -> Report:
        kind, variant = possible[(seed + number) % len(possible)]
        with mounts.mounted(folder, kind, mebibytes=_MOUNT_MEBIBYTES) as mount:
            data = mount.point / "data"
            death = PowerCut(mount)
            named = {"seed": seed + number, "rounds": count, "every": 1}
            return rounds_of(folder, data, variant, death, ready_seconds=ready, step=step, **named)

    campaigns("power", rounds, 15, seed, run)


@main.command()
@counted(200)
@slack
def calls(rounds: int, seed: int, slack: float) -> None:
    """A system call of a real broker fails, or is its last, by strace."""
    ready = READY_SECONDS * slack
    if reason := injection.not_possible():
        raise click.ClickException(reason)

    def run(folder: Path, number: int, count: int, step: Step) -> Report:
        name = KILLED[(seed + number) % len(KILLED)]
        death = Injected(seed + number)
        named = {"seed": seed + number, "rounds": count, "every": 4}
        report = rounds_of(folder, folder / "data", name, death, ready_seconds=ready, step=step, **named)
        if report.findings:
            console.print(f"What the lives were given: {death.drawn}")
        return report

    campaigns("calls", rounds, 20, seed, run)


@main.command()
@counted(10_000)
def tails(rounds: int, seed: int) -> None:
    """Mangle the unflushed ends of logs."""
    with working("tails", rounds) as step, scratch() as folder:
        for number in range(rounds):
            log, place = divmod(number, MANGLED_OF_ONE_LOG)
            if place == 0:
                shutil.rmtree(folder / "data", ignore_errors=True)
                tail = Tail.make(folder / "data", seed + log)
            chance = random.Random((seed + log) * MANGLED_OF_ONE_LOG + place)
            files, how = mangle(tail, chance)
            try:
                judge_mangled(folder / "data", tail, files)
            except NotAsAcknowledged as error:
                raise Found(f"seed {seed + log}, number {place}: {how}: {error}") from error
            step(1, "")


@main.command()
@counted(2_000)
def flips(rounds: int, seed: int) -> None:
    """Turn bits of any file round."""
    with working("flips", rounds) as step, scratch() as folder:
        sound = []
        for clean in (True, False):
            shutil.rmtree(folder / "data", ignore_errors=True)
            sound.append(Folder.make(folder / "data", clean=clean))
        for number in range(rounds):
            made = sound[number % 2]
            flip = Flip.draw(made, random.Random(seed * rounds + number))
            restore(folder / "data", flip.of(made.files))
            if findings := wrong(flip, made, look(folder / "data", made)):
                raise Found(f"seed {seed * rounds + number}, {flip}: {findings}")
            step(1, "")


@main.command()
@click.option("--runs", default=10_000, show_default=True)
@click.option("--seed", default=1, show_default=True, help="The first seed.")
@click.option("--jobs", default=2, show_default=True, help="How many processes.")
def groups(runs: int, seed: int, jobs: int) -> None:
    """Random runs of groups of twenty members, classic, consumer and mixed in turn."""
    with working("groups", runs) as step, ProcessPoolExecutor(jobs) as pool:
        found = []
        for text in pool.map(random_group, range(seed, seed + runs), chunksize=20):
            step(1, "")
            if text:
                found.append(text)
                console.print(text, highlight=False, markup=False)
        if found:
            raise Found(f"{len(found)} of {runs} runs found something")
    console.print(f"groups: {runs} runs, nothing found", highlight=False)


@main.command("all")
@click.option("--seed", default=1, show_default=True)
@click.pass_context
def everything(context: click.Context, seed: int) -> None:
    """Everything, with the counts of `make torture`."""
    for command in (tails, flips, groups, kills, power, calls):
        context.invoke(command, seed=seed)


if __name__ == "__main__":
    sys.exit(main())
