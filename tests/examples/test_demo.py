"""The demo with a stand-in for the sidecar: what it types, and that it fails loudly."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.examples.conftest import EXAMPLES

STAND_IN = """\
#!{python}
import os, sys
print("stand-in", os.getcwd(), *sys.argv[1:], flush=True)
sys.exit({careless} if sys.argv[-1] == "python careless.py" else 0)
"""


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo_run", EXAMPLES / "demo" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scripts(folder: Path, *, careless: int) -> Path:
    stand_in = folder / "mcp-sidecar"
    stand_in.write_text(STAND_IN.format(python=sys.executable, careless=careless), encoding="utf-8")
    stand_in.chmod(0o755)
    return folder


def test_the_demo_types_what_a_user_would(
    demo: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    demo.main(scripts(tmp_path, careless=1))

    printed = capfd.readouterr().out.splitlines()
    question = demo.QUESTION
    assert [line for line in printed if line.startswith("$ ")] == [
        "$ python repository.py repo",
        "$ mcp-sidecar record --cassette release-notes --config mcp.json"
        f" --input '{question}' -- python agent.py",
        "$ mcp-sidecar cassette show release-notes",
        "$ mcp-sidecar promote release-notes --suite suites/release-notes.json"
        " --task notes-since-1-0 --match exact --forbid git:git_reset",
        "$ rm -rf repo",
        "$ mcp-sidecar run suites/release-notes.json --agent 'python agent.py'",
        "$ mcp-sidecar run suites/release-notes.json --agent 'python careless.py'",
    ]


def test_a_command_prints_right_below_what_was_typed(
    demo: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    demo.main(scripts(tmp_path, careless=1))

    printed = capfd.readouterr().out.splitlines()
    typed = printed.index("$ mcp-sidecar cassette show release-notes")
    assert printed[typed + 1].startswith("stand-in ")
    assert printed[typed + 1].endswith(" cassette show release-notes")


def test_the_demo_leaves_nothing_behind(
    demo: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    demo.main(scripts(tmp_path, careless=1))

    lines = capfd.readouterr().out.splitlines()
    folder = Path(next(line for line in lines if line.startswith("stand-in ")).split()[1])
    assert folder != Path.cwd()
    assert not folder.exists()


@pytest.mark.parametrize("careless", [0, 2])
def test_the_demo_fails_where_a_command_ends_otherwise_than_it_should(
    demo: ModuleType, tmp_path: Path, careless: int
) -> None:
    with pytest.raises(demo.UnexpectedExitError, match=f"exit code {careless}.* been 1"):
        demo.main(scripts(tmp_path, careless=careless))


def test_settings_of_whoever_runs_the_demo_are_left_out(
    demo: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MCP_SIDECAR_HOME", "/elsewhere")
    env = shutil.which("env")
    assert env is not None
    (tmp_path / "mcp-sidecar").write_text(f"#!/bin/sh\n{env}\nexit 1\n", encoding="utf-8")
    (tmp_path / "mcp-sidecar").chmod(0o755)

    with pytest.raises(demo.UnexpectedExitError):
        demo.main(tmp_path)

    printed = capfd.readouterr().out
    assert f"PATH={tmp_path}" in printed
    assert "MCP_SIDECAR_HOME" not in printed
