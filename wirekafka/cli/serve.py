"""`wirekafka serve`: read the settings, run the broker, stop it on a signal.

Calls `metadata.Settings` for the settings and `server.serve` for the rest.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import trio

from wirekafka.broker import BrokerConfig
from wirekafka.cli.opening import watch_for
from wirekafka.metadata import ConfigError, Settings
from wirekafka.observability import log_to_stderr
from wirekafka.protocol.error_codes import KafkaError, MalformedMessage
from wirekafka.server import (
    Serving,
    look_through_everything,
    raise_descriptor_limit,
    sole_error,
    survivors_put_aside,
)
from wirekafka.server import serve as serve_broker
from wirekafka.storage import DataDirectoryInUse


@click.command(short_help="Run the broker.")
@click.option(
    "--listen",
    "listen",
    metavar="[NAME://]HOST:PORT",
    multiple=True,
    help="Address to listen on; may be repeated. Port 0 takes a free one and prints it. "
    "[default: 127.0.0.1:9092, this machine only]",
)
@click.option(
    "--advertise",
    "advertise",
    metavar="[NAME://]HOST:PORT",
    multiple=True,
    help="Address that clients are told to use, for the --listen in the same place (or of the same NAME). "
    "Needed only behind a port mapping (docker -p, NAT): without it each client is told the address "
    "it reached the broker by.",
)
@click.option(
    "--data-dir",
    "data_dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the data; made if it is not there. [default: ./data]",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="A Kafka server.properties to read settings from.",
)
@click.option(
    "--set",
    "assignments",
    metavar="NAME=VALUE",
    multiple=True,
    help="One setting by Kafka's name; goes before the file's. May be repeated.",
)
@click.option(
    "--profile",
    type=click.Choice(["dev", "kafka"]),
    default="dev",
    show_default=True,
    help="dev: Kafka's defaults but for a few that slow tests down; kafka: Kafka's defaults exactly.",
)
@click.option("--log-level", type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR"]), default="INFO")
def serve(
    listen: Sequence[str],
    advertise: Sequence[str],
    data_dir: Path | None,
    config_file: Path | None,
    assignments: Sequence[str],
    profile: str,
    log_level: str,
) -> None:
    """Run the broker until Ctrl-C or SIGTERM.

    The exit status is 74 when the data folder had to be given up meanwhile, as after a sync that failed.

    \b
    Examples:
      wirekafka serve
      wirekafka serve --listen 127.0.0.1:0 --data-dir /tmp/kafka-data
      wirekafka serve --set num.partitions=4 --set auto.create.topics.enable=false
      wirekafka serve --listen 0.0.0.0:9092 --advertise broker.example.org:9092
    """  # fmt: skip
    log_to_stderr(log_level)
    try:
        overrides = _assignments(assignments)
        overrides |= _listener_settings(listen, advertise)
        if data_dir is not None:
            overrides["log.dirs"] = str(data_dir)
        text = None if config_file is None else config_file.read_text(encoding="utf-8")
        config = BrokerConfig.from_settings(Settings.load(text, overrides, profile))
        failure = _run(config)
    except (ConfigError, DataDirectoryInUse) as error:
        raise click.ClickException(str(error)) from None
    except (KafkaError, MalformedMessage) as error:
        raise click.ClickException(f"The data folder cannot be used: {error}") from None
    except OSError as error:
        raise click.ClickException(_explain(error)) from None
    if failure:
        click.echo(f"The data folder had failed, and the next start has to check it: {failure}", err=True)
        sys.exit(os.EX_IOERR)


def _run(config: BrokerConfig) -> str:
    """Serve; say what of the data folder failed for good meanwhile, or as it was closed. Empty: nothing."""
    served: list[Serving] = []
    raise_descriptor_limit()
    try:
        with survivors_put_aside():
            trio.run(_serve_until_signal, config, served)
    except BaseExceptionGroup as group:
        error = sole_error(group)
        if not (isinstance(error, KafkaError) and _failure_of(served)):
            raise error from None
    return _failure_of(served)


def _failure_of(served: list[Serving]) -> str:
    return served[0].broker.health.failure if served else ""


async def _serve_until_signal(config: BrokerConfig, served: list[Serving]) -> None:
    """Serve until a signal comes; put into `served` what is served, once it is ready."""
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def stop_on_signal() -> None:
                async for _ in signals:
                    break
                if served:
                    click.echo("Stopping: letting clients finish, writing checkpoints.")
                    served[0].stop()
                else:
                    click.echo("Stopping before it was ready.")
                    nursery.cancel_scope.cancel()

            async def serve_to_the_end(*, task_status: "trio.TaskStatus[Serving]") -> None:
                await serve_broker(config, watch_for(sys.stderr), task_status=task_status)
                nursery.cancel_scope.cancel()

            nursery.start_soon(stop_on_signal)
            served.append(await nursery.start(serve_to_the_end))
            nursery.start_soon(look_through_everything)
            click.echo(_banner(served[0], config), err=False)
            sys.stdout.flush()


def _banner(serving: Serving, config: BrokerConfig) -> str:
    lines = ["", "  wirekafka is ready.", ""]
    for listener, port in serving.listeners:
        host = listener.host or "0.0.0.0"
        told = "" if listener.advertised is None else f"  (clients are told {_address(*listener.advertised)})"
        lines.append(f"    Listening on  {_address(host, port)}{told}")
    lines.append(f"    Data in       {config.data_dir.resolve()}")
    lines.append(f"    Stop it with  Ctrl-C, or: kill {os.getpid()}")
    return "\n".join([*lines, ""])


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _assignments(assignments: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ConfigError(text, f"--set {text}: expected NAME=VALUE, such as --set num.partitions=4.")
        found[name.strip()] = value.strip()
    return found


def _listener_settings(listen: Sequence[str], advertise: Sequence[str]) -> dict[str, str]:
    """Turn --listen and --advertise into Kafka's `listeners` and `advertised.listeners`."""
    if not listen and not advertise:
        return {}
    named = [_named(text, f"PLAINTEXT{'' if i == 0 else i + 1}", "--listen") for i, text in enumerate(listen)]
    settings = {"listeners": ",".join(named)} if named else {}
    names = [text.partition("://")[0] for text in named] or ["PLAINTEXT"]
    if len(advertise) > len(names):
        raise ConfigError(
            "advertised.listeners",
            f"{len(advertise)} --advertise for {len(names)} --listen: give one each.",
        )
    if advertise:
        settings["advertised.listeners"] = ",".join(
            _named(text, name, "--advertise") for text, name in zip(advertise, names, strict=False)
        )
    return settings


def _named(text: str, name: str, option: str) -> str:
    """NAME://HOST:PORT of an option's value, which may leave NAME and, for --listen, HOST out."""
    given, scheme, address = text.rpartition("://")
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or (option == "--advertise" and not host):
        raise ConfigError("listeners", f"{option} {text}: expected HOST:PORT, such as 127.0.0.1:9092.")
    return f"{given if scheme else name}://{host}:{port}"


def _explain(error: OSError) -> str:
    hint = ""
    if error.strerror and "in use" in error.strerror:
        hint = "\nAnother program has that port: stop it, or take another with --listen 127.0.0.1:PORT."
    return f"{error.strerror or error}{hint}"
