"""`make kafka`: run Apache Kafka until Ctrl-C, and say where it listens."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from compat_tests.apache_kafka.jars import NotAvailable, fetch, missing_tools
from compat_tests.apache_kafka.node import kafka_node


@click.command()
@click.option("--set", "assignments", metavar="NAME=VALUE", multiple=True, help="A broker setting.")
@click.option("--ready-file", type=click.Path(path_type=Path), help="Written with HOST:PORT when it answers.")
def main(assignments: tuple[str, ...], ready_file: Path | None) -> None:
    """Fetch Apache Kafka 4.4 with Maven if need be, and run one node until Ctrl-C."""
    settings = dict(text.split("=", 1) for text in assignments)
    try:
        if missing_tools() is None:
            click.echo("Fetching Apache Kafka 4.4 with Maven, unless it is here already ...")
            fetch()
        with kafka_node(settings) as node:
            click.echo(
                f"Apache Kafka listens on {node.bootstrap}, data in {node.log_dir}; stop it with Ctrl-C"
            )
            sys.stdout.flush()
            if ready_file is not None:
                ready_file.write_text(node.bootstrap)
            with contextlib.suppress(KeyboardInterrupt):
                node.process.wait()
    except NotAvailable as reason:
        raise click.ClickException(str(reason)) from None


main()
