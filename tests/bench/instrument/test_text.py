"""Numbers and tables as they are read."""

import pytest
from instrument.answers import Answer, Spread, Table
from instrument.figures import Figure
from instrument.text import cell, figure_table, markdown, number, spread, terminal


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (0.0123, "0.012"),
        (0.5, "0.50"),
        (9.99, "9.99"),
        (9.999, "10.0"),
        (99.94, "99.9"),
        (99.96, "100"),
        (12345.6, "12,346"),
        (12345, "12,345"),
        (7, "7"),
    ],
)
def test_number_has_three_figures_and_thousands_apart(value: float, text: str) -> None:
    """More would say what no clock knows; a whole number is a count."""
    assert number(value) == text


def test_spread_is_median_least_and_most() -> None:
    """In that order, whatever that of the runs was."""
    assert spread([3.0, 1.0, 2.0], "s") == "2.00 s (1.00 to 3.00)"


def test_spread_of_one_run_is_that_run() -> None:
    """There is nothing to be between."""
    assert spread([2.5], "MiB") == "2.50 MiB"


def test_spread_of_nothing_is_a_dash() -> None:
    """A rival that cannot do it."""
    assert spread([], "MiB") == "-"


def test_cells_are_text_numbers_and_spreads() -> None:
    """Text stays as it is."""
    assert [cell("1 KiB"), cell(3), cell(0.25), cell(Spread([1.0, 2.0]))] == [
        "1 KiB",
        "3",
        "0.25",
        "1.50 (1.00 to 2.00)",
    ]


def test_table_is_markdown_with_numbers_to_the_right() -> None:
    """A column of words stays at the left."""
    table = Table("t", ("what", "MB/s", "how"), [("a", 1.5, "x"), ("longer", Spread([20.0]), "y")])

    assert markdown(table) == [
        "| what   | MB/s | how |",
        "|--------|-----:|-----|",
        "| a      | 1.50 | x   |",
        "| longer | 20.0 | y   |",
    ]


def test_table_without_rows_is_its_head() -> None:
    """An answer of a run in which no rival was there."""
    assert markdown(Table("t", ("what", "MB/s"), [])) == ["| what | MB/s |", "|------|-----:|"]


def test_figures_tell_target_and_whether_it_is_met() -> None:
    """MISSED is meant to be seen."""
    figures = [
        Figure("fast", [1.5], 1.2),
        Figure("small", [50.0, 60.0], 40.0, at_most=True, unit="MiB"),
        Figure("only told", [1.0]),
    ]

    rows = figure_table(figures).rows

    assert [tuple(row) for row in rows] == [
        ("fast", "1.50", "1", "at least 1.2", "met"),
        ("small", "55.0 MiB (50.0 to 60.0)", "2", "at most 40 MiB", "MISSED"),
        ("only told", "1.00", "1", "", ""),
    ]


def test_figures_without_any_target_have_no_column_for_it() -> None:
    """An empty column says nothing."""
    assert figure_table([Figure("only told", [1.0])]).columns == ["figure", "median (least to most)", "runs"]


def test_figure_that_is_set_in_belongs_to_the_one_above() -> None:
    """The same by processor time, say."""
    rows = figure_table([Figure("in", [1.0]), Figure("  by processor time", [1.0])]).rows

    assert [row[0] for row in rows] == ["in", "- by processor time"]


def test_gap_leaves_a_column_of_numbers_at_the_right() -> None:
    """And one of nothing but gaps is no worse for it."""
    assert (
        markdown(Table("t", ("what", "n"), [("a", ""), ("b", 1), ("c", Spread([]))]))[1] == "|------|----:|"
    )


def test_details_of_figures_are_a_column() -> None:
    """Where any has one."""
    table = figure_table([Figure("ratio", [1.5], detail="3 ms / 2 ms"), Figure("other", [1.0])])

    assert [tuple(row) for row in table.rows] == [
        ("ratio", "1.50", "1", "3 ms / 2 ms"),
        ("other", "1.00", "1", ""),
    ]


def test_column_of_numbers_below_zero_is_at_the_right_too() -> None:
    """A slope may fall."""
    assert markdown(Table("t", ("what", "slope"), [("a", -0.5)]))[1] == "|------|------:|"


def test_terminal_shows_tables_figures_details_and_notes() -> None:
    """All but the plots."""
    answer = Answer(
        figures=[Figure("fast", [1.5], detail="of ten")],
        tables=[Table("Sizes", ("what", "n"), [("a", 1)])],
        notes=["No Java here."],
    )

    text = terminal(answer)

    for part in ("Sizes", "| a ", "| fast ", "of ten", "No Java here."):
        assert part in text
