"""The verbs: found, listed, and ended with the right code, never with a traceback."""

import ast
import os
import re
import subprocess
from pathlib import Path

import click
import pytest

from sidecar.cli import verbs as verbs_module
from sidecar.cli.verbs import verbs
from sidecar.errors import SidecarError
from tests import paths

SECONDS = 30.0


def test_help_names_every_verb_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs(["--help"]) == 0

    shown = capsys.readouterr().out
    for name in ("record", "replay", "proxy", "runs", "cassette"):
        assert f"\n  {name} " in shown


def test_a_misspelt_variable_is_told_once_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCP_SIDECAR_HOEM", "x")

    assert verbs(["--help"]) == 0

    assert capfd.readouterr().err.startswith(
        "mcp-sidecar: ignored the unknown environment variable MCP_SIDECAR_HOEM: MCP_SIDECAR_HOME,"
    )


def test_every_verb_that_a_message_names_is_there() -> None:
    named = re.compile(r"`mcp-sidecar\s+([a-z-]+)(?:\s+([a-z-]+))?")
    found = set()
    for path in (paths.ROOT / "sidecar").rglob("*.py"):
        for text in _texts(path.read_text(encoding="utf-8")):
            found |= {match.groups() for match in named.finditer(text)}

    assert ("runs", "list") in found
    assert [words for words in found if not _is_verb(*words)] == []


def _texts(source: str) -> list[str]:
    """The texts of a module, those that stand in several literals as one."""
    return [
        ast.unparse(node) if isinstance(node, ast.JoinedStr) else str(node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.JoinedStr, ast.Constant))
    ]


def _is_verb(name: str, inner: str | None) -> bool:
    context = click.Context(verbs_module._group)
    command = verbs_module._group.get_command(context, name)
    if name == "proxy":
        return True  # it needs no parser
    if isinstance(command, click.Group) and inner is not None:
        return inner in command.commands
    return command is not None


def test_a_verb_whose_module_is_missing_is_not_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = verbs_module._Verb("sidecar.cli.no_such_module", "Not there.")
    monkeypatch.setitem(verbs_module._VERBS, "missing", missing)

    assert verbs(["--help"]) == 0
    assert "missing" not in capsys.readouterr().out
    assert verbs(["missing"]) == 2
    assert "No such command 'missing'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param([], "Usage: mcp-sidecar", id="nothing"),
        pytest.param(["no-such-verb"], "No such command 'no-such-verb'", id="unknown verb"),
        pytest.param(["--no-such-option"], "No such option '--no-such-option'", id="option"),
        pytest.param(["record"], "Missing option '--cassette'", id="a verb's option is missing"),
        pytest.param(["record", "--cassett", "x"], "No such option", id="a misspelt option"),
    ],
)
def test_bad_usage_ends_with_2(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verbs(arguments) == 2
    assert problem in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert verbs(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mcp-sidecar ")


class Answering(click.Command):
    """A verb that returns, or raises, what it was made with."""

    def __init__(self, answer: object) -> None:
        super().__init__("answering")
        self.answer = answer

    def invoke(self, ctx: click.Context) -> object:  # noqa: ARG002
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(None, 0, id="nothing is 0"),
        pytest.param(1, 1, id="a failed measurement"),
        pytest.param(click.UsageError("no"), 2, id="bad usage"),
        pytest.param(click.ClickException("no"), 2, id="click's 1 is no failed measurement"),
    ],
)
def test_the_exit_code_tells_a_failed_measurement_from_none(
    monkeypatch: pytest.MonkeyPatch, answer: object, code: int
) -> None:
    monkeypatch.setattr(verbs_module._Verbs, "get_command", lambda *_: Answering(answer))

    assert verbs(["record"]) == code


def test_what_the_system_refuses_is_an_error_with_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = Answering(OSError(28, "No space left on device", "/full"))
    monkeypatch.setattr(verbs_module._Verbs, "get_command", lambda *_: refused)

    with pytest.raises(SidecarError, match=r"^/full: the system refused: No space left") as caught:
        verbs(["record"])

    assert caught.value.exit_code == 2


def run(*words: str, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [paths.MCP_SIDECAR, *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )


def test_a_reader_that_is_gone_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)

    done = run("--help", stdout=write)
    os.close(write)

    assert (done.returncode, done.stderr) == (0, b"")


def test_an_output_that_cannot_be_written_is_an_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = run("--version", stdout=full.fileno())

    assert done.returncode == 2
    assert done.stderr.startswith(b"mcp-sidecar: standard output: the system refused: No space")


def test_s05_what_the_terminal_cannot_show_is_shown_escaped(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONIOENCODING": "latin-1", "LC_ALL": "C", "PYTHONUTF8": "0"}
    head = '{"cassette":1,"servers":{"日本é":{}},"complete":true}\n'
    (tmp_path / "x.jsonl").write_text(head, encoding="utf-8")

    done = subprocess.run(
        [paths.MCP_SIDECAR, "cassette", "show", "x.jsonl"],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        env=environ,
        cwd=tmp_path,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"  \\u65e5\\u672c\xe9: never answered\n" in done.stdout


def test_the_package_can_be_run_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run(
        [paths.PYTHON, "-m", "sidecar", "--version"],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        cwd=tmp_path,
    )

    assert (done.returncode, done.stdout[:12]) == (0, b"mcp-sidecar ")
