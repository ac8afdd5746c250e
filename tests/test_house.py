"""Tests that guard the shape of the house."""

import json
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
    ],
)
def test_the_real_servers_are_installed(server: list[str]) -> None:
    assert [part for part in server if not Path(part).is_file()] == []


@pytest.mark.parametrize("lock", ["requirements.lock", "crosscheck/requirements.lock"])
def test_a_python_lock_names_no_host_and_has_a_hash_for_every_package(lock: str) -> None:
    lines = (paths.ROOT / lock).read_text(encoding="utf-8").splitlines()
    pins = [number for number, line in enumerate(lines) if line and line[0] not in " #"]

    assert [line for line in lines if "://" in line or line.startswith("-")] == []
    assert [lines[number] for number in pins if "--hash=" not in lines[number + 1]] == []


def test_the_npm_lock_names_no_host_and_has_a_hash_for_every_package() -> None:
    text = (paths.ROOT / "tests" / "node" / "package-lock.json").read_text(encoding="utf-8")
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
