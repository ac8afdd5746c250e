"""Compares, and prints the table."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from crosscheck import ours, peers
from crosscheck.peers import AdkMode, ArgsMode, Call
from sidecar.cassette.arguments import ArgsMatch
from sidecar.suite.model import TrajectoryMode
from tests.grading.peer_cases import PEER_CASES

_TOLERANCE = 1e-9  # of RFC 0244 §B
_ADK: dict[AdkMode, TrajectoryMode] = {
    "EXACT": "exact",
    "IN_ORDER": "in-order",
    "ANY_ORDER": "any-order",
}
_ARGS: dict[ArgsMode, ArgsMatch] = {"exact": "exact", "ignore": "ignore", "superset": "subset"}
"""agentevals calls `superset` what the RFC calls `subset`."""

_TRIALS = (
    *((1, 0, 1), (1, 1, 1), (3, 2, 2), (5, 4, 3), (5, 3, 3), (5, 2, 3), (5, 0, 3), (5, 5, 5)),
    *((8, 6, 3), (10, 7, 3), (10, 3, 5), (10, 1, 10), (20, 15, 8), (100, 42, 10), (200, 150, 50)),
)
"""Trials, passes, k."""

_MEANS: tuple[tuple[float, ...], ...] = (
    *((0.8, 1.0), (0.8, 1.0, 0.0, 0.5), (0.1, 0.2, 0.3, 0.4, 0.5), (1.0, 1.0, 1.0), (0.5,)),
)
_EQUALITY = "they compare with Python's ==, for which 1 is True"
_KNOWN = {
    ("C14", "ADK EXACT"): _EQUALITY,
    ("C14", "ADK IN_ORDER"): _EQUALITY,
    ("C14", "ADK ANY_ORDER"): _EQUALITY,
    ("C14", "agentevals superset, args exact"): _EQUALITY,
    ("C14", "agentevals superset, args superset"): _EQUALITY,
    ("C13", "agentevals superset, args superset"): "they look at the first level of arguments only",
    ("C19", "agentevals superset, args superset"): "they match greedily",
    ("0.5", "Inspect stderr"): "they give 0 for one task, where RFC 0244 leaves it out",
}
"""Where we differ, and why: by case and by column."""


class Row(NamedTuple):
    """One comparison.

    Attributes:
        case: The case.
        column: Whom it is compared with, and how.
        theirs: What they say.
        ours: What we say.
    """

    case: str
    column: str
    theirs: Any
    ours: Any

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        if isinstance(self.theirs, float) and isinstance(self.ours, float):
            return abs(self.theirs - self.ours) <= _TOLERANCE * max(1.0, abs(self.ours))
        return bool(self.theirs == self.ours)

    @property
    def known(self) -> str | None:
        """Why it may differ; None where it may not."""
        return _KNOWN.get((self.case, self.column))

    @property
    def is_as_expected(self) -> bool:
        """Whether it agrees where it must, and differs where we say that it does."""
        return self.agrees is (self.known is None)


def main() -> int:
    """Print the table; 1 if anything is not as expected."""
    paths = list(_paths())
    trials = list(_trials())
    console = Console(width=160)
    _show(console, "Paths: what they say (what we say, where it differs)", paths)
    _show(console, "Trials", trials)
    rows = [*paths, *trials]
    known = [row for row in rows if row.known]
    wrong = [row for row in rows if not row.is_as_expected]
    for row in known:
        console.print(f"{row.case}, {row.column}: {row.known}", highlight=False)
    agreed = sum(row.agrees for row in rows)
    console.print(
        f"{agreed} of {len(rows)} comparisons agree, {len(known)} are known to differ,"
        f" {len(wrong)} are not as expected",
        highlight=False,
    )
    for row in wrong:
        console.print(f"NOT AS EXPECTED: {row}", style="red", highlight=False)
    return 1 if wrong else 0


def _paths() -> Iterator[Row]:
    for name, seen, wanted, *_ in PEER_CASES:
        case, (observed, expected) = name.split()[0], (_calls(seen), _calls(wanted))
        for theirs, mode in _ADK.items():
            for ignore in (False, True):
                said = peers.adk(theirs, expected, observed, ignore_args=ignore)
                column = f"ADK {theirs}" + (", args ignored" if ignore else "")
                args: ArgsMatch = "ignore" if ignore else "exact"
                yield Row(case, column, said, ours.matched(mode, args, expected, observed))
        for how, args in _ARGS.items():
            said = peers.agentevals_superset(how, expected, observed)
            column = f"agentevals superset, args {how}"
            yield Row(case, column, said, ours.matched("any-order", args, expected, observed))


def _trials() -> Iterator[Row]:
    for trials, passes, k in _TRIALS:
        case, given = f"n {trials}, c {passes}, k {k}", (trials, passes, k)
        yield Row(case, "Inspect pass_at(k)", peers.inspect_pass_at(*given), ours.pass_at(*given))
        yield Row(case, "Inspect pass_k(k)", peers.inspect_pass_hat(*given), ours.pass_hat(*given))
    for means in _MEANS:
        case = ", ".join(map(str, means))
        yield Row(case, "Inspect stderr", peers.inspect_stderr(means), ours.stderr(means))


def _calls(row: Sequence[Any]) -> list[Call]:
    return [(one, {}) if isinstance(one, str) else one for one in row]


def _show(console: Console, title: str, rows: Sequence[Row]) -> None:
    columns = list(dict.fromkeys(row.column for row in rows))
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for case in dict.fromkeys(row.case for row in rows):
        cells = {row.column: _cell(row) for row in rows if row.case == case}
        table.add_row(case, *(cells.get(column, "") for column in columns))
    console.print(table)
    console.print()


def _cell(row: Row) -> str:
    text = _text(row.theirs)
    return text if row.agrees else f"{text} ({_text(row.ours)})"


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(int(value is True))
