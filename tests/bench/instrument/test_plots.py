"""Plots are files that say what they show, each broker in its colour."""

from pathlib import Path

import pytest
from instrument.answers import Bars, Lines, Plot, Series, Spread
from instrument.plots import BESIDE, COLOURS, draw, looks

LINES = Lines(
    "memory",
    "Memory over time",
    "seconds",
    "MiB",
    [
        Series("wirekafka", [1, 2], [30.0, 31.0], [29.0, 30.0], [31.0, 32.0]),
        Series("tansu", [1, 2], [9.0, 90.0]),
    ],
    log_y=True,
)
BARS = Bars(
    "rate",
    "Rate",
    "MB/s",
    ["in", "out"],
    {"kfake": [Spread([1.0, 2.0]), Spread([3.0])], "tansu": [Spread([2.0]), Spread([])]},
)


def test_brokers_keep_their_colour_in_every_plot() -> None:
    """Whoever else is in it, in whatever order, and however it is spelt."""
    first, last = looks(["wirekafka, p50", "x"])[0], looks(["x", "y", "wirekafka"])[2]

    assert first.colour == last.colour == COLOURS["wirekafka"]
    assert looks(["Apache Kafka"])[0].colour == COLOURS["apache-kafka"]


def test_no_two_lines_look_the_same() -> None:
    """Those of one broker have its colour, and other dashes."""
    names = ["wirekafka, p50", "a", "b", "wirekafka, p99", "apache-kafka", "c"]

    assert len(set(looks(names))) == len(names)
    assert looks(names)[0].colour == looks(names)[3].colour


def test_apache_kafka_beside_a_line_has_its_colour_and_is_dashed() -> None:
    """So that one sees at once which two belong together."""
    names = ["produce", f"{BESIDE}produce", "fetch", f"{BESIDE}fetch"]
    produce, kafkas_produce, fetch, kafkas_fetch = looks(names)

    assert (produce.colour, fetch.colour) == (kafkas_produce.colour, kafkas_fetch.colour)
    assert produce.colour != fetch.colour
    assert [look.dashes for look in looks(names)] == ["-", "--", "-", "--"]


def test_legend_says_once_that_dashed_is_apache_kafka(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    ours = [Series(name, [1, 100], [1, 2]) for name in ("produce", "fetch")]
    beside = [Series(f"{BESIDE}{series.name}", [1, 2], [3, 4]) for series in ours]
    draw("q", [Lines("beside", "Cost", "size", "us", [*ours, *beside])], tmp_path)
    picture = (tmp_path / "q-beside.svg").read_text()

    assert picture.count(">Apache Kafka<") == 1
    assert picture.count(">produce<") == 1
    assert f">{BESIDE}" not in picture


def test_names_of_many_groups_are_broken_into_lines(tmp_path: Path) -> None:
    """Or the first one's would lie upon the second's."""
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    groups = ["1 KiB, 1 partition, acks=all", *(f"other {number}" for number in range(6))]
    draw("q", [Bars("many", "Many", "MB/s", groups, {"a": [Spread([1.0])] * len(groups)})], tmp_path)
    picture = (tmp_path / "q-many.svg").read_text()

    assert ">1 KiB, 1<" in picture
    assert ">other 0<" in picture


@pytest.mark.parametrize(
    ("plot", "words"),
    [
        (LINES, ("Memory over time", "seconds", "MiB", "wirekafka", "tansu")),
        (BARS, ("Rate", "MB/s", "in", "out")),
    ],
)
def test_plot_is_a_picture_with_its_words(tmp_path: Path, plot: Plot, words: tuple[str, ...]) -> None:
    """Title, units and names are text in it."""
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    draw("q", [plot], tmp_path)
    picture = (tmp_path / f"q-{plot.name}.svg").read_text()

    assert [word for word in words if f">{word}<" not in picture] == []


def test_plot_of_the_same_is_the_same_file(tmp_path: Path) -> None:
    """A run that changed nothing changes no file."""
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        draw("q", [LINES], tmp_path / name)

    assert (tmp_path / "one" / "q-memory.svg").read_bytes() == (
        tmp_path / "other" / "q-memory.svg"
    ).read_bytes()
