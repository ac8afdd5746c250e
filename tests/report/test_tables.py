"""Tables of cells that may hold anything."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.report.tables import Column, table

COLUMNS = (Column("run", whole=True), Column("calls", right=True), Column("what"))


def test_a_table_without_a_width_has_one_line_a_row() -> None:
    rows = [("local/1", 7, "x" * 200), ("local/22", 12, "日本")]

    assert table(COLUMNS, rows, width=None) == (
        f"run       calls  what\nlocal/1       7  {'x' * 200}\nlocal/22     12  日本\n"
    )


def test_a_table_with_a_width_breaks_cells_and_loses_nothing() -> None:
    text = table(COLUMNS, [("local/0123456789", 7, "abcdefghij" * 10)], width=40)

    assert max(map(len, text.splitlines())) <= 40
    assert "local/0123456789" in text
    body = text.replace("local/0123456789", "").partition("─\n")[2]
    assert re.sub("[^a-j]", "", body) == "abcdefghij" * 10


@pytest.mark.parametrize("width", [None, 80])
def test_cells_are_escaped_and_never_read_as_markup(width: int | None) -> None:
    text = table((Column("cell"),), [("[red]a[/red] :smile: \x1b[31mb\nc",)], width=width)

    assert text.splitlines()[-1] == "[red]a[/red] :smile: \\x1b[31mb\\nc"


@given(st.lists(st.text(st.characters(codec=None)), min_size=1, max_size=4))
def test_whatever_the_cells_hold_each_row_is_one_line(cells: list[str]) -> None:
    text = table((Column("cell"), Column("next")), [(cell, "end") for cell in cells], width=None)

    assert len(text.splitlines()) == 1 + len(cells)
    assert all(line.endswith("end") for line in text.splitlines()[1:])
