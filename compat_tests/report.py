"""`make compat`: every story with every client, against wirekafka and then against Apache Kafka.

    python -m compat_tests.report              # run both, write docs/compatibility.md
    python -m compat_tests.report --last       # write it from the last runs, with the other runners' results

Run by a person or by CI; runs pytest once for each broker and hands the results to `page`. The exit status
is 1 if a story failed.
Source: none.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from compat_tests.apache_kafka.jars import FETCHED, NotAvailable, fetch
from compat_tests.clients import looked_for
from compat_tests.page import TITLES, Run, page
from compat_tests.table import Results
from compat_tests.versions import broker_version, client_versions, python_version

STORIES = Path(__file__).resolve().parent / "stories"
ROOT = STORIES.parent.parent
PAGE = ROOT / "docs" / "compatibility.md"
LAST_RUNS = FETCHED / "last-runs"
BROKERS = tuple(TITLES)
ALL_PASSED, SOME_FAILED = 0, 1


@click.command()
@click.option("--broker", "chosen", type=click.Choice(BROKERS), multiple=True, help="Default: both.")
@click.option("--workers", type=int, default=1, help="Test processes, each with a broker of its own.")
@click.option("--last", is_flag=True, help="Run nothing: write the page from the last runs.")
@click.argument("arguments", nargs=-1, metavar="[-- PYTEST ARGUMENTS]")
@click.option(
    "--output", type=click.Path(path_type=Path), default=PAGE, help="The page; docs/compatibility.md."
)
def main(chosen: tuple[str, ...], workers: int, last: bool, output: Path, arguments: tuple[str, ...]) -> None:
    """Run the stories against the brokers and write docs/compatibility.md."""
    brokers, notes = _available(chosen or BROKERS)
    notes += [f"left out: {line}" for line in looked_for()[1]]
    for note in notes:
        click.echo(note)
    if not last:
        for broker in brokers:
            _run(broker, workers, arguments).write(LAST_RUNS / f"{broker}.json")
    runs = [Run.read(file) for broker in brokers if (file := LAST_RUNS / f"{broker}.json").exists()]
    if not runs:
        raise click.ClickException("nothing was run yet")
    output.write_text(page(runs, notes))
    failed = sum(len(run.results.failures()) for run in runs)
    click.echo(f"{output} is written; {failed} stories failed")
    sys.exit(SOME_FAILED if failed else ALL_PASSED)


def _available(chosen: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Give the brokers that can be run, and a line on the one that cannot."""
    if "apache-kafka" not in chosen:
        return list(chosen), []
    try:
        fetch()
    except NotAvailable as reason:
        return [broker for broker in chosen if broker != "apache-kafka"], [str(reason)]
    return list(chosen), []


def _run(broker: str, workers: int, arguments: tuple[str, ...]) -> Run:
    click.echo(f"The stories against {TITLES[broker]} {broker_version(broker)}:")
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="compat-") as folder:
        results = Path(folder) / "results.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(STORIES)]
        command += ["--broker", broker, "--all-clients", "--results", str(results), *arguments]
        if workers > 1:
            command += ["-n", str(workers)]
        status = subprocess.run(command, cwd=ROOT).returncode
        if status not in (ALL_PASSED, SOME_FAILED):
            raise click.ClickException(f"pytest ended with status {status}")
        found = Results.read(results)
    LAST_RUNS.mkdir(parents=True, exist_ok=True)
    return Run(
        broker=broker,
        broker_version=broker_version(broker),
        date=datetime.date.today().isoformat(),
        seconds=time.monotonic() - started,
        python=python_version(),
        clients=client_versions(),
        results=found,
    )


if __name__ == "__main__":
    main()
