"""Tests that guard the shape of the house."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import paths

SOURCE = paths.ROOT / "sidecar"
MODULES = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if not path.name.startswith("__")
]
MAX_LINES = 400


def test_the_modules_are_found() -> None:
    assert Path("errors.py") in MODULES


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_every_module_has_its_test_file(module: Path) -> None:
    assert (paths.ROOT / "tests" / module.with_name(f"test_{module.name}")).is_file()


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_no_module_outgrows_one_sitting(module: Path) -> None:
    lines = (SOURCE / module).read_text(encoding="utf-8").count("\n")

    assert lines <= MAX_LINES, f"{module} has {lines} lines: split it by responsibility"


def test_every_package_has_its_init_file() -> None:
    packages = {(SOURCE / module).parent for module in MODULES}

    assert [str(package) for package in packages if not (package / "__init__.py").is_file()] == []


def unknown_fields(kind: ast.ClassDef) -> list[str]:
    """What a named tuple's docstring tells of, and it does not have."""
    _, _, listed = (ast.get_docstring(kind) or "").partition("Attributes:\n")
    told = re.findall(r"^    (\w+):", listed.partition("\n\n")[0], re.MULTILINE)
    names = {ast.unparse(part.target) for part in kind.body if isinstance(part, ast.AnnAssign)}
    is_tuple = "NamedTuple" in map(ast.unparse, kind.bases)
    return [f"{kind.name}.{name}" for name in told if is_tuple and name not in names]


@pytest.mark.parametrize("folder", ["bench", "conformance", "docker", "sidecar"])
def test_a_named_tuple_tells_of_fields_that_it_has(folder: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (paths.ROOT / folder).rglob("*.py")]
    trees = [ast.parse(text) for text in texts if "Attributes:" in text]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]

    assert classes
    assert [name for kind in classes for name in unknown_fields(kind)] == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(paths.GIT_SERVER, id="git"),
        pytest.param(paths.TIME_SERVER, id="time"),
        pytest.param(paths.EVERYTHING_SERVER, id="everything"),
        pytest.param(paths.FILESYSTEM_SERVER, id="filesystem"),
        pytest.param(paths.MEMORY_SERVER, id="memory"),
        pytest.param(paths.INSPECTOR, id="inspector"),
        pytest.param([paths.LANGCHAIN_PYTHON], id="langchain"),
    ],
)
def test_the_real_servers_are_installed(server: list[str]) -> None:
    assert [part for part in server if not Path(part).is_file()] == []


@pytest.mark.parametrize(
    "lock",
    [
        "requirements.lock",
        "crosscheck/requirements.lock",
        "docker/requirements.lock",
        "tests/langchain/requirements.lock",
    ],
)
def test_a_python_lock_names_no_host_and_has_a_hash_for_every_package(lock: str) -> None:
    lines = (paths.ROOT / lock).read_text(encoding="utf-8").splitlines()
    pins = [number for number, line in enumerate(lines) if line and line[0] not in " #"]

    assert [line for line in lines if "://" in line or line.startswith("-")] == []
    assert [lines[number] for number in pins if "--hash=" not in lines[number + 1]] == []


def test_the_container_gets_the_versions_that_the_tests_ran_with() -> None:
    tested, shipped = (
        set(re.findall(r"^[^ #]\S+==\S+", (paths.ROOT / lock).read_text(encoding="utf-8"), re.M))
        for lock in ("requirements.lock", "docker/requirements.lock")
    )

    assert shipped
    assert shipped - tested == set()


@pytest.mark.parametrize("folder", ["tests/node", "conformance"])
def test_an_npm_lock_names_no_host_and_has_a_hash_for_every_package(folder: str) -> None:
    text = (paths.ROOT / folder / "package-lock.json").read_text(encoding="utf-8")
    packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}

    assert [name for name, entry in packages.items() if "resolved" in entry] == []
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []


def test_the_graders_of_the_crosscheck_are_locked_at_the_versions_that_are_asked_for() -> None:
    folder = paths.ROOT / "crosscheck"
    locked = (folder / "requirements.lock").read_text(encoding="utf-8")
    asked = (folder / "requirements.in").read_text(encoding="utf-8").splitlines()

    assert [one for one in asked if one[0] != "#" and f"\n{one} \\\n" not in locked] == []


def test_everything_that_is_asked_for_is_locked() -> None:
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    locked = (paths.ROOT / "requirements.lock").read_text(encoding="utf-8")
    groups = project["dependency-groups"].values()
    asked = [item for group in groups for item in group if isinstance(item, str)]

    for requirement in [*project["project"]["dependencies"], *asked]:
        name = requirement.split("[")[0].split(">")[0].split("=")[0].replace("_", "-").lower()
        assert f"\n{name}==" in locked, f"{name} is not locked: run `make lock UPGRADE=`"


@pytest.mark.timeout(300)  # everything is collected once more
def test_every_process_gives_the_tests_the_same_names(request: pytest.FixtureRequest) -> None:
    """Parametrized values with a clock, a process id or chance in them: workers would differ."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*collect, *request.config.args],
        cwd=request.config.invocation_params.dir,
        capture_output=True,
        check=True,
        text=True,
    )

    # A line break within a name breaks its line there.
    known = done.stdout.replace("\n", "")
    assert [
        item.nodeid for item in request.session.items if item.nodeid.replace("\n", "") not in known
    ] == []
