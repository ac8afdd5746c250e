"""The command line: each verb by itself, and no traceback for what a user got wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.cli import main as main_module
from sidecar.cli.main import main
from sidecar.errors import JournalError
from tests.paths import MCP_SIDECAR, PYTHON

WAIT_SECONDS = 30.0


def ran(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=cwd, capture_output=True, timeout=WAIT_SECONDS, check=False, text=True
    )


def test_proxy_is_run_without_the_other_verbs(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["mcp-sidecar", "proxy", "--help"])
    monkeypatch.setitem(sys.modules, "sidecar.cli.verbs", None)  # an import of it fails

    assert main() == 0
    assert capfd.readouterr().out.startswith("Usage: mcp-sidecar proxy")


def test_every_other_verb_is_run_by_its_own_parser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["mcp-sidecar", "--help"])

    assert main() == 0
    assert "record" in capsys.readouterr().out


def test_an_error_of_ours_is_one_line_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> int:
        raise JournalError("the disk is full", place="journal.db", hint="make room")

    monkeypatch.setattr(sys, "argv", ["mcp-sidecar", "proxy"])
    monkeypatch.setattr("sidecar.cli.proxy.proxy", fail)

    assert main() == 2
    assert capsys.readouterr().err == "mcp-sidecar: journal.db: the disk is full; make room\n"


def test_ctrl_c_is_one_plain_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["mcp-sidecar", "runs", "list"])
    monkeypatch.setattr("sidecar.cli.verbs.verbs", interrupted)

    assert main() == 130
    assert capsys.readouterr().err == "mcp-sidecar: stopped by Ctrl-C\n"


def test_an_error_that_is_a_bug_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: list[str]) -> int:
        raise AssertionError("a bug")

    monkeypatch.setattr(sys, "argv", ["mcp-sidecar", "proxy"])
    monkeypatch.setattr("sidecar.cli.proxy.proxy", fail)

    with pytest.raises(AssertionError, match="a bug"):
        main_module.main()


@pytest.mark.parametrize("command", [[MCP_SIDECAR], [PYTHON, "-m", "sidecar"]])
def test_the_command_and_the_package_are_the_same(command: list[str], tmp_path: Path) -> None:
    done = ran(*command, "proxy", "--server", "x", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr == (
        "mcp-sidecar: mode record needs the server's command after the options, or --url; "
        "see `mcp-sidecar proxy --help`\n"
    )
