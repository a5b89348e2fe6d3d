"""`python -m compat_tests.suites [NAME ...]`: run the clients' suites and write results/suites.md.

Ends with status 1 where a suite's outcomes and its lists disagree. Calls the runners, `outcomes` and `page`.
Source: README.md beside this file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click

from compat_tests.apache_kafka.jars import NotAvailable
from compat_tests.suites.brokers import running
from compat_tests.suites.definition import APACHE_KAFKA, WIREKAFKA, Suite, suites
from compat_tests.suites.librdkafka import run_librdkafka
from compat_tests.suites.outcomes import PASSED, complaints
from compat_tests.suites.page import keep, write_page
from compat_tests.suites.python_suite import run_python_suite

NAMES = [suite.name for suite in suites()]
RUNNERS = {"pytest": run_python_suite, "librdkafka": run_librdkafka}


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES))
@click.option("--broker", type=click.Choice([WIREKAFKA, APACHE_KAFKA]), default=WIREKAFKA)
@click.option("--checkout", type=click.Path(path_type=Path, exists=True), help="Of the one suite named.")
@click.option(
    "--keep-folder", type=click.Path(path_type=Path), help="Keep the runs' output under this folder."
)
def main(names: tuple[str, ...], broker: str, checkout: Path | None, keep_folder: Path | None) -> None:
    """Run the clients' own suites against a broker."""
    chosen = [suite for suite in suites() if not names or suite.name in names]
    if checkout is not None and len(chosen) != 1:
        raise click.UsageError("--checkout goes with one suite's name")
    complained: list[str] = []
    for suite in chosen:
        try:
            complained += _run_one(suite, broker, checkout or suite.checkout, keep_folder)
        except NotAvailable as reason:
            raise click.ClickException(str(reason)) from None
    write_page()
    for complaint in complained:
        click.echo(complaint)
    sys.exit(1 if complained else 0)


def _run_one(suite: Suite, broker: str, checkout: Path, keep_folder: Path | None) -> list[str]:
    if not checkout.is_dir():
        click.echo(f"{suite.name}: left out, no checkout at {checkout}: {suite.get}")
        return []
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"suite-{suite.name}-") as temporary:
        folder = Path(temporary) if keep_folder is None else keep_folder / f"{suite.name}-{broker}"
        if keep_folder is not None:
            _make_new(folder)
        with running(broker, suite.broker) as bootstrap:
            outcomes = RUNNERS[suite.kind](suite, broker, checkout, bootstrap, folder)
    passed = sum(outcome.outcome == PASSED for outcome in outcomes)
    click.echo(
        f"{suite.name} on {broker}: {passed} of {len(outcomes)} passed in {time.monotonic() - started:.0f} s"
    )
    keep(suite, broker, outcomes)
    return complaints(suite, broker, outcomes)


def _make_new(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise click.ClickException(f"{folder} is there already, from a run before") from None


main()
