"""`wirekafka`: the sub-commands, each imported when it is asked for.

Source: click's own recipe for lazy groups; start-up time is part of what this broker promises.
"""

import importlib

import click

import wirekafka

_COMMANDS = {
    "serve": ("wirekafka.cli.serve", "Run the broker."),
    "log": ("wirekafka.cli.log", "Check and mend the logs in a data folder."),
    "protocol": ("wirekafka.cli.protocol", "Look at the Kafka wire protocol."),
}


class _LazyGroup(click.Group):
    """Knows its commands by name and first line, and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(wirekafka.__version__, message="wirekafka %(version)s")
def main() -> None:
    """A light Kafka-compatible broker for development and CI.

    \b
      wirekafka serve                 run a broker on 127.0.0.1:9092, data in ./data
      wirekafka serve --help          every way to run it
    """
