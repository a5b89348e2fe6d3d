"""`wirekafka log`: look into the logs of a stopped broker, and mend what is damaged.

Calls `storage.repair.stopped_folder`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from wirekafka.ids import TopicPartition
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.storage import DataDirectoryInUse
from wirekafka.storage.repair import Remedy, Repaired, StoppedFolder, Verified, stopped_folder

_DATA_DIR = click.option(
    "--data-dir",
    "data_dir",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data"),
    help="The broker's folder. [default: ./data]",
)


@click.group(short_help="Check and mend the logs in a data folder.")
def log() -> None:
    """Check and mend the logs in the data folder of a broker that is stopped.

    A broker does not start a partition whose log is damaged where records had been made to last, or where
    good records lie behind the damage: it stays offline, and nothing of it is touched. These commands show
    what is there, and mend it.

    \b
    Examples:
      wirekafka log verify                        everything in ./data
      wirekafka log verify --data-dir /srv/kafka orders
      wirekafka log repair --skip orders-3        take the wrong bytes out
    """


@log.command(short_help="Read everything, and say what is wrong.")
@_DATA_DIR
@click.option(
    "--live",
    is_flag=True,
    help="Read under a broker that runs. What it is just writing is not looked at.",
)
@click.argument("names", metavar="[TOPIC[-PARTITION]]...", nargs=-1)
def verify(data_dir: Path, live: bool, names: Sequence[str]) -> None:
    """Read every byte of the logs and what belongs to them, and say what is wrong.

    Each batch is checked, and the indexes, snapshots and leader epochs are held against the batches. Nothing
    is changed. For each finding it is told what mends it: the next start of the broker, or a repair.
    The exit status is 1 when there is anything to mend.

    \b
    Examples:
      wirekafka log verify
      wirekafka log verify --data-dir /srv/kafka orders payments-0
      wirekafka log verify --live
    """
    with _folder(data_dir, live=live) as folder:
        wrong = 0
        for notice in folder.notices:
            wrong += 1
            click.echo(notice)
        for topic_partition in _named(folder, names):
            verified = folder.verify(topic_partition)
            wrong += verified.is_wrong
            _show(verified)
    if wrong:
        raise SystemExit(1)


@log.command(short_help="Mend the log of one partition.")
@_DATA_DIR
@click.option(
    "--truncate", "how", flag_value="truncate", help="Cut the log at the first wrong byte, all behind it too."
)
@click.option(
    "--skip", "how", flag_value="skip", help="Take out the wrong bytes; good records behind them stay."
)
@click.option(
    "--indexes", "how", flag_value="indexes", help="Make indexes and snapshots anew; the log is left alone."
)
@click.option("--dry-run", is_flag=True, help="With --truncate: only say what would be given up.")
@click.argument("name", metavar="TOPIC-PARTITION")
def repair(data_dir: Path, how: str | None, dry_run: bool, name: str) -> None:
    """Mend the log of one partition, of a broker that is stopped.

    Nothing is thrown away: what is taken out of the log is kept in files named *.damaged-1, *.damaged-2 and
    so on beside it, which you may delete when you have no more use for them.

    --truncate leaves a log without a hole, and gives up what comes after the damage.
    --skip gives up only what cannot be read; the offsets of the rest stay as they were, so that there is a
    gap, which consumers pass over.

    \b
    Examples:
      wirekafka log repair --truncate --dry-run orders-3
      wirekafka log repair --skip orders-3
      wirekafka log repair --indexes orders-3
    """
    if how is None:
        raise click.UsageError("Say how: --truncate, --skip or --indexes.")
    if dry_run and how != "truncate":
        raise click.UsageError(
            "--dry-run goes with --truncate; `wirekafka log verify` tells about the others."
        )
    with _folder(data_dir, live=False) as folder:
        topic_partition = _one_named(folder, name)
        if how == "indexes":
            folder.make_indexes(topic_partition)
            click.echo(f"{topic_partition}: indexes, snapshots and leader epochs are made anew.")
        elif how == "skip":
            _show_repaired(topic_partition, folder.skip(topic_partition), "taken out")
            click.echo("  Offsets that are missing are taken for gone.")
        elif dry_run:
            repaired = folder.what_truncating_gives_up(topic_partition)
            _show_repaired(topic_partition, repaired, "would be cut off")
        else:
            _show_repaired(topic_partition, folder.truncate(topic_partition), "cut off")


@contextmanager
def _folder(data_dir: Path, *, live: bool) -> Iterator[StoppedFolder]:
    try:
        with stopped_folder(data_dir, live=live) as folder:
            yield folder
    except DataDirectoryInUse as error:
        raise click.ClickException(
            f"{error} Stop that broker first, or only look: wirekafka log verify --live"
        ) from None
    except KafkaError as error:
        raise click.ClickException(error.message) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or data_dir}: {error.strerror or error}") from None


def _named(folder: StoppedFolder, names: Sequence[str]) -> Iterable[TopicPartition]:
    """The partitions of the names given, each a topic or a partition; all without any."""
    there = folder.partitions()
    if not names:
        return there
    found: dict[TopicPartition, None] = {}
    for name in names:
        of_name = [each for each in there if name in (each.topic, str(each))]
        if not of_name:
            raise click.ClickException(f"There is no topic and no partition {name} in the folder.")
        found.update(dict.fromkeys(of_name))
    return sorted(found)


def _one_named(folder: StoppedFolder, name: str) -> TopicPartition:
    found = [each for each in folder.partitions() if str(each) == name]
    if not found:
        raise click.ClickException(f"There is no partition {name} in the folder; it is named as in orders-3.")
    return found[0]


def _show(verified: Verified) -> None:
    topic_partition = verified.topic_partition
    word = (
        "WRONG"
        if verified.needs_repair or verified.lacks_records
        else "to be mended"
        if verified.is_wrong
        else "all right"
    )
    click.echo(
        f"{topic_partition}: {word}; {verified.records} records in {verified.batches} batches, "
        f"{verified.size_bytes} bytes, offsets {verified.first_offset} to {verified.log_end_offset}"
    )
    for finding in verified.findings:
        click.echo(f"  {finding}")
        if finding.remedy in (Remedy.START, Remedy.USE, Remedy.COPY):
            click.echo(f"      mended by {finding.remedy.value}")
    if verified.needs_indexes:
        click.echo(f"      wirekafka log repair --indexes {topic_partition}   makes all of that anew now")
    if verified.needs_repair:
        click.echo(f"      wirekafka log repair --skip {topic_partition}      takes the wrong bytes out")
        click.echo(
            f"      wirekafka log repair --truncate {topic_partition}  cuts the log at the first of them"
        )


def _show_repaired(topic_partition: TopicPartition, repaired: Repaired, done: str) -> None:
    if not repaired.wrong_bytes and not repaired.given_up_batches:
        click.echo(f"{topic_partition}: there is nothing wrong with its batches.")
        return
    click.echo(f"{topic_partition}: {repaired.wrong_bytes} wrong bytes {done}.")
    if repaired.given_up_batches:
        click.echo(
            f"  With them {repaired.given_up_records} good records in {repaired.given_up_batches} batches "
            f"({repaired.given_up_bytes} bytes)."
        )
    click.echo(f"  The log ends at offset {repaired.log_end_offset}.")
    for name in repaired.moved_to:
        click.echo(f"  Kept in {topic_partition}/{name}")
