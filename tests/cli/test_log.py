"""Tests of cli/log.py: what a person is told, and the exit status."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.storage.damaging import BATCH_BYTES, filled, flip
from tests.storage.support import Store, UnsyncedFiles
from wirekafka.cli.main import main

FIRST = f"{0:020d}.log"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The folder of a broker that has stopped: one partition, t-0."""
    return filled(Store(tmp_path / "data", UnsyncedFiles()))


def run(store: Store, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["log", command, "--data-dir", str(store.path), *arguments])


def test_a_good_folder_is_all_right(store: Store) -> None:
    """Status 0, a line a partition."""
    done = run(store, "verify")

    assert done.exit_code == 0
    assert done.output == "t-0: all right; 40 records in 20 batches, 1900 bytes, offsets 0 to 40\n"


@pytest.mark.parametrize("name", ["t", "t-0"])
def test_partitions_are_named_by_topic_or_one_by_one(store: Store, name: str) -> None:
    """As the folders are."""
    assert run(store, "verify", name).output.startswith("t-0: all right")
    assert "There is no topic and no partition u" in run(store, "verify", "u").output


def test_damage_is_told_with_what_mends_it(store: Store) -> None:
    """Status 1; the commands are there to be copied."""
    flip(store.folder / FIRST, 2 * BATCH_BYTES + 30)
    done = run(store, "verify")

    assert done.exit_code == 1
    assert "t-0: WRONG; 38 records" in done.output
    assert f"{FIRST} at position {2 * BATCH_BYTES}: {BATCH_BYTES} wrong bytes" in done.output
    assert "wirekafka log repair --skip t-0" in done.output
    assert "wirekafka log repair --truncate t-0" in done.output


def test_what_the_broker_mends_is_told_as_such(store: Store) -> None:
    """An index, a snapshot."""
    flip(store.folder / f"{0:020d}.index", 3)
    (store.folder / f"{12:020d}.snapshot").write_bytes(b"x")
    done = run(store, "verify")

    assert done.exit_code == 1
    assert "t-0: to be mended" in done.output
    assert "mended by the broker when it comes to use it" in done.output
    assert "mended by the next start of the broker" in done.output
    assert "wirekafka log repair --indexes t-0" in done.output
    assert run(store, "repair", "--indexes", "t-0").exit_code == 0
    assert run(store, "verify").output.startswith("t-0: all right")


def test_skipping_says_what_was_taken_out(store: Store) -> None:
    """And where it is; afterwards all is well."""
    flip(store.folder / FIRST, 2 * BATCH_BYTES + 30)
    done = run(store, "repair", "--skip", "t-0")

    assert done.exit_code == 0
    assert f"t-0: {BATCH_BYTES} wrong bytes taken out." in done.output
    assert f"Kept in t-0/{FIRST}.damaged-1" in done.output
    assert "The log ends at offset 40." in done.output
    assert run(store, "verify").exit_code == 0


def test_truncating_says_what_is_given_up(store: Store) -> None:
    """First as a dry run, which changes nothing."""
    flip(store.folder / FIRST, 2 * BATCH_BYTES + 30)
    dry = run(store, "repair", "--truncate", "--dry-run", "t-0")

    assert f"t-0: {BATCH_BYTES} wrong bytes would be cut off." in dry.output
    assert f"With them 34 good records in 17 batches ({17 * BATCH_BYTES} bytes)." in dry.output
    assert run(store, "verify").exit_code == 1
    done = run(store, "repair", "--truncate", "t-0")
    assert "cut off." in done.output
    assert "The log ends at offset 4." in done.output
    assert run(store, "verify").exit_code == 0


def test_a_repair_of_nothing_says_so(store: Store) -> None:
    """It is asked for in vain."""
    assert "there is nothing wrong with its batches" in run(store, "repair", "--truncate", "t-0").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["t-0"], "Say how: --truncate, --skip or --indexes."),
        (["--skip", "--dry-run", "t-0"], "--dry-run goes with --truncate"),
        (["--skip", "t"], "There is no partition t in the folder"),
    ],
)
def test_a_repair_has_to_be_said_in_full(store: Store, arguments: list[str], said: str) -> None:
    """One partition, and how."""
    done = run(store, "repair", *arguments)

    assert done.exit_code != 0
    assert said in done.output


def test_a_running_brokers_folder_is_refused(store: Store) -> None:
    """With its process id; to look is allowed."""
    store.open()

    for command in (["verify"], ["repair", "--skip", "t-0"]):
        done = run(store, *command)
        assert done.exit_code == 1
        assert "The data folder is in use by process" in done.output
    assert run(store, "verify", "--live").exit_code == 0
    store.kill()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    """And not made."""
    done = CliRunner().invoke(main, ["log", "verify", "--data-dir", str(tmp_path / "none")])

    assert done.exit_code == 1
    assert "No such file or directory" in done.output


def test_checkpoints_that_cannot_be_read_are_told(store: Store) -> None:
    """They are done without."""
    (store.path / "replication-offset-checkpoint").write_text("9\n0\n")
    done = run(store, "verify")

    assert done.exit_code == 1
    assert "replication-offset-checkpoint cannot be read" in done.output


@pytest.mark.parametrize("command", [[], ["verify"], ["repair"]])
def test_help_teaches_by_examples(command: list[str]) -> None:
    """Ready to be copied."""
    done = CliRunner().invoke(main, ["log", *command, "--help"])

    assert "Examples:" in done.output
    assert "wirekafka log" in done.output
