"""docs/grading.md: its truth tables are computed again, its names exist."""

import importlib
import json
import re

import pytest

from sidecar.cassette.arguments import matches
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.trajectory import TrajectoryGrader
from sidecar.suite.model import ExpectedCall, Trajectory, TrajectoryMode
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "grading.md").read_text(encoding="utf-8")
MODES: tuple[TrajectoryMode, ...] = ("exact", "in-order", "any-order", "subset")


def rows(header: str) -> list[list[str]]:
    """Read the cells of the table with this header."""
    _, _, rest = TEXT.partition(header + "\n")
    lines = rest.split("\n\n")[0].split("\n")[1:]
    return [[cell.strip().strip("*") for cell in line.strip("|").split(" | ")] for line in lines]


def calls(cell: str) -> list[str]:
    return [] if cell == "nothing" else cell.split(", ")


@pytest.mark.parametrize(
    "row", rows("| expected | observed | exact | in-order | any-order | subset |"), ids=str
)
def test_the_table_of_modes_is_true(row: list[str]) -> None:
    expected = tuple(ExpectedCall(tool=tool) for tool in calls(row[0]))
    observed = [ObservedCall(tool, {}) for tool in calls(row[1])]

    for mode, said in zip(MODES, row[2:], strict=True):
        found = TrajectoryGrader(Trajectory(match=mode, calls=expected)).grade(observed)
        assert found.matched is (said == "yes"), mode


@pytest.mark.parametrize(
    "row", rows("| `args` | the call's arguments | `exact` | `subset` |"), ids=str
)
def test_the_table_of_arguments_is_true(row: list[str]) -> None:
    args, inputs = (json.loads(cell.strip("`")) for cell in row[:2])

    assert matches("exact", args, inputs) is row[2].startswith("yes")
    assert matches("subset", args, inputs) is row[3].startswith("yes")


def test_subset_looks_in_opposite_directions() -> None:
    said = rows("| where | it asks | observed has more | observed has less |")

    assert [row[2:] for row in said] == [["no match", "match"], ["match", "no match"]]


@pytest.mark.parametrize("name", re.findall(r"\| `((?:cassette|suite|grading)\.[\w.]+)` \|", TEXT))
def test_a_function_that_the_readings_name_exists(name: str) -> None:
    module, _, member = f"sidecar.{name}".rpartition(".")
    owner, _, inner = module.rpartition(".")
    # A method is named with its class: `grading.trajectory.TrajectoryGrader.observed`.
    home = getattr(importlib.import_module(owner), inner) if inner[0].isupper() else None

    assert hasattr(home or importlib.import_module(module), member)


def test_every_lint_code_is_listed() -> None:
    source = (ROOT / "sidecar" / "suite" / "lints.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'Problem\(\s*"([\w-]+)"', source))

    assert codes
    assert [code for code in sorted(codes) if code not in TEXT and code[0] != "V"] == []
