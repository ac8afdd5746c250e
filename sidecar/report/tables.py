"""Plain tables for the terminal, of cells that may hold anything."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sidecar.report.text import escaped

_UNBOUNDED = 1_000_000  # columns; rich wants a number


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: Its heading.
        right: Whether its cells stand at the right edge, as numbers do.
        whole: Whether its cells are never broken over lines, as a run's id must not be.
    """

    title: str
    right: bool = False
    whole: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]], *, width: int | None) -> str:
    """Lay out a table; its cells are escaped, and nothing in them is cut.

    Args:
        columns: The columns.
        rows: Each with a cell a column.
        width: The terminal's width in columns, at which cells are broken over lines; None
            keeps each row on one line, as other programs want it.

    Returns:
        Its lines, without spaces at their ends, each with its newline.
    """
    laid = Table(box=box.SIMPLE_HEAD if width else None, pad_edge=False, show_edge=False)
    for column in columns:
        laid.add_column(
            Text(column.title),
            justify="right" if column.right else "left",
            no_wrap=column.whole or width is None,
            overflow="fold",
        )
    for row in rows:
        laid.add_row(*(Text(escaped(str(cell))) for cell in row))
    out = StringIO()
    console = Console(file=out, width=width or _UNBOUNDED, color_system=None, legacy_windows=False)
    console.print(laid)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
