"""`python -m compat_tests.tools`: run the stories against both brokers and write results/tools.md.

Source: none.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from compat_tests.apache_kafka.jars import missing_tools
from compat_tests.tools.table import ToolsTable

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "tools.md"


@click.command()
@click.argument("pytest_options", nargs=-1, type=click.UNPROCESSED)
def main(pytest_options: tuple[str, ...]) -> None:
    """Run Kafka's tools against wirekafka and Apache Kafka; options after `--` go to pytest."""
    if (reason := missing_tools()) is not None:
        raise click.ClickException(f"{reason}; Kafka's tools need them")
    table = ToolsTable()
    status = pytest.main([str(HERE), "-q", *pytest_options], plugins=[table])
    text = [
        "Kafka's own command line tools, from the 4.4.0 jars, each driven as a person would; what they print",
        f"and how they end is compared with what is expected. {datetime.now(UTC):%Y-%m-%d}. Made by",
        "`python -m compat_tests.tools`.",
        "",
        *table.count_lines(),
        "",
        *table.lines(),
        "",
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(text), encoding="utf-8")
    click.echo(
        f"Written: {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}"
    )
    sys.exit(status)


main()
