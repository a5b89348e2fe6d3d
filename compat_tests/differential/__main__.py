"""`python -m compat_tests.differential [SCENARIO ...]`: compare, print, and write the results.

Exit status 1 on any difference that is not on purpose. Called by people and `make compat`.
Source: README.md of compat_tests.
"""

from __future__ import annotations

import sys

import click

from compat_tests.apache_kafka.jars import NotAvailable
from compat_tests.differential.report import RESULTS, write_report
from compat_tests.differential.run import run
from compat_tests.differential.scenarios import SCENARIOS


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Choice(list(SCENARIOS)), metavar="[SCENARIO]...")
@click.option("--slow", is_flag=True, help="Also name the slowest exchanges.")
def main(scenarios: tuple[str, ...], slow: bool) -> None:
    """Send the same requests to Apache Kafka 4.4 and to wirekafka, and compare the answers."""
    try:
        outcome = run(scenarios, click.echo)
    except NotAvailable as reason:
        raise click.ClickException(str(reason)) from None
    exchanges = outcome.comparison.exchanges
    if slow:
        for exchange in sorted(exchanges, key=lambda e: e.seconds, reverse=True)[:20]:
            click.echo(f"  {exchange.seconds:.2f} s {exchange.name}")
    if not scenarios:
        write_report(outcome)
        click.echo(f"written: {RESULTS.name}")
    click.echo(
        f"{len(exchanges)} exchanges in {outcome.seconds:.0f} s, "
        f"{len(outcome.comparison.explained_exchanges)} differ on purpose, "
        f"{len(outcome.comparison.unexplained)} differences not on purpose"
    )
    sys.exit(0 if outcome.is_clean else 1)


main()
