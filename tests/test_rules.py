"""Every rule of grading has a test that names it, and every id that tests name is explained.

The rules are R1 to R49 and V1 to V11 (docs/grading.md says what each asks for). A test names
a rule in its name (`test_r36_...`), in the id of a row of its table, or in its docstring.
Ids of faults look alike from R01 to R27; so those rules count where suites and grades are
tested, and nowhere else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
RULES = (*(f"R{number}" for number in range(1, 50)), *(f"V{number}" for number in range(1, 12)))

_LAST_FAULT = 27  # of the area whose fault ids begin with R
_FAULTY_NAME = re.compile(r"test_([a-uw-z])([0-9]{2})_")
# `v1` in small letters is a version of the protocol.
_NAME = re.compile(r"(?<![A-Za-z0-9])([RrV][1-9][0-9]?)(?=[a-f]?(?![A-Za-z0-9.]))")


def _named_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        found.upper()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
        for text in _texts_of(node)
        for found in _NAME.findall(text)
    } | {found.upper() for text in _row_ids(tree) for found in _NAME.findall(text)}


def _texts_of(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    yield test.name.replace("_", " ")
    yield ast.get_docstring(test) or ""
    for decorator in test.decorator_list:
        for part in ast.walk(decorator):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


def _row_ids(tree: ast.Module) -> Iterator[str]:
    """List the first strings of the rows of module-level tables: their ids."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            for row in node.value.elts:
                if isinstance(row, ast.Tuple):
                    for part in row.elts:
                        if isinstance(part, ast.Constant) and isinstance(part.value, str):
                            yield part.value


def _counts(rule: str, path: Path) -> bool:
    alike = rule[0] == "R" and 10 <= int(rule[1:]) <= _LAST_FAULT
    return not alike or path.parent.name in {"suite", "grading"}


def _tested() -> set[str]:
    return {
        rule
        for path in TESTS.rglob("test_*.py")
        if "node_modules" not in path.parts
        for rule in _named_in(path)
        if _counts(rule, path)
    }


def test_every_rule_has_a_test_that_names_it() -> None:
    tested = _tested()

    assert [rule for rule in RULES if rule not in tested] == []


def _explained(document: str, heading: str = "") -> list[str]:
    """The first cells of the tables that follow a heading of a document."""
    text = (TESTS.parent / "docs" / document).read_text(encoding="utf-8")
    _, _, after = text.partition(heading) if heading else ("", "", text)
    return re.findall(r"^\| ([A-Z][0-9]+) \|", after, flags=re.MULTILINE)


def test_every_rule_is_explained() -> None:
    assert _explained("grading.md", "## Rules\n") == list(RULES)


def _faults_named_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = _FAULTY_NAME.match(node.name)
            if named:
                yield named[1].upper() + named[2]


def test_every_fault_that_a_test_is_named_after_is_explained() -> None:
    explained = _explained("faults.md")
    rules = [rule for rule in RULES if rule[0] == "R"]  # some tests of verbs are named after one
    named = {
        fault: str(path)
        for path in TESTS.rglob("test_*.py")
        if "node_modules" not in path.parts
        for fault in _faults_named_in(path)
    }

    assert "S01" in named
    assert {fault: path for fault, path in named.items() if fault not in [*explained, *rules]} == {}
    assert len(explained) == len(set(explained))


def test_a_name_is_found_and_nothing_else_is() -> None:
    assert _NAME.findall("R5 r5f V11 R36-F1 (R49)") == ["R5", "r5", "V11", "R36", "R49"]
    assert _NAME.findall("R01 R05 xR5 R5z R100 v1 V1.0") == []
