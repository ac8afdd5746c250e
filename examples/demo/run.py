"""The demo: an agent's real run becomes a test that catches a regression its answer hides.

    python examples/demo/run.py

It works in a temporary project folder, prints every command as one would type it there, with
what the command really printed, and fails if one of them ends otherwise than it should.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

EXAMPLE = Path(__file__).resolve().parents[1] / "release_notes"
FILES = ("agent.py", "careless.py", "mcp.json", "repository.py")
QUESTION = (
    "Write release notes for all that changed since v1.0. "
    "The release call is at 09:00 UTC; say when that is in Asia/Tokyo."
)
TIMEOUT_SECONDS = 300.0

INTRODUCTION = """\
mcp-sidecar: from one recorded run of an agent to a regression test
===================================================================

The agent writes release notes. It works through two MCP servers, mcp-server-git and
mcp-server-time, which mcp.json names. In this folder:
"""

CONCLUSION = """\
What you saw: one real run, kept as a cassette, became a test that needs no server, no network
and no key. It passes as long as the agent gives the right answer on an allowed path, and it
names the call that left the path: what a look at the answer alone would have let through.
"""


class Step(NamedTuple):
    """One command of the demo.

    Attributes:
        caption: What the reader is about to see; its first line is a title.
        command: The command, in words.
        exit_code: What it has to end with.
    """

    caption: str
    command: tuple[str, ...]
    exit_code: int = 0


SUITE = "suites/release-notes.json"

STEPS = (
    Step(
        "A repository to work on\n"
        "Five commits; the first two are release 1.0, on the branch release-1.0.",
        ("python", "repository.py", "repo"),
    ),
    Step(
        "Record a real run\n"
        "The agent runs as always; its servers are started behind the sidecar, which passes\n"
        "every byte on and keeps a copy. The agent asks git for v1.0, is told that there is no\n"
        "such revision, and finds the branch instead: failures are recorded as what they are.",
        (
            *("mcp-sidecar", "record", "--cassette", "release-notes", "--config", "mcp.json"),
            *("--input", QUESTION, "--", "python", "agent.py"),
        ),
    ),
    Step(
        "Look at the cassette\n"
        "The run is a text file, one line for each request and what answered it.",
        ("mcp-sidecar", "cassette", "show", "release-notes"),
    ),
    Step(
        "Promote the run to a test\n"
        "The recorded answers become fixtures, the calls the expected path, the release notes\n"
        "the expected output. And we say which tool must never be called for this: git_reset\n"
        "throws away what the owner of the repository has staged.",
        (
            *("mcp-sidecar", "promote", "release-notes", "--suite", SUITE),
            *("--task", "notes-since-1-0", "--match", "exact", "--forbid", "git:git_reset"),
        ),
    ),
    Step(
        "Remove the repository\nWhat follows runs offline: it can't be asked any more.",
        ("rm", "-rf", "repo"),
    ),
    Step(
        "Run the test on the agent: it passes\n"
        "The servers are not started: the sidecar answers in their place, from the fixtures.",
        ("mcp-sidecar", "run", SUITE, "--agent", "python agent.py"),
    ),
    Step(
        "Run it on a careless version of the agent: it fails\n"
        "This one calls git_reset before it begins. Its answer is the same, word for word: the\n"
        "score stays 1. Its path is not allowed: the gate is 0, and the test says why.",
        ("mcp-sidecar", "run", SUITE, "--agent", "python careless.py"),
        exit_code=1,
    ),
)


class UnexpectedExitError(Exception):
    """A command of the demo ended otherwise than it should."""


def main(scripts: Path) -> None:
    """Run the demo.

    Args:
        scripts: The folder that holds `mcp-sidecar`, the servers' commands and `python`.

    Raises:
        UnexpectedExitError: If a command ends with another exit code than it should.
        subprocess.TimeoutExpired: If a command does not end.
    """
    _say(INTRODUCTION)
    with tempfile.TemporaryDirectory(prefix="mcp-sidecar-demo-") as folder:
        project = Path(folder)
        for name in FILES:
            shutil.copy(EXAMPLE / name, project / name)
            _say(f"    {name}\n")
        environment = _environment(scripts)
        for number, step in enumerate(STEPS, 1):
            _show(number, step, project, environment)
    _say("\n" + CONCLUSION)


def _show(number: int, step: Step, project: Path, environment: Mapping[str, str]) -> None:
    title, _, text = step.caption.partition("\n")
    _say(f"\n--- {number}. {title}\n{text}\n\n$ {shlex.join(step.command)}\n")
    done = subprocess.run(
        step.command, cwd=project, env=environment, timeout=TIMEOUT_SECONDS, check=False
    )
    if done.returncode != step.exit_code:
        raise UnexpectedExitError(
            f"the demo failed: `{shlex.join(step.command)}` ended with exit code "
            f"{done.returncode}, it should have been {step.exit_code}"
        )
    if step.exit_code:
        _say(f"(exit code {done.returncode}, as it should be: in CI this stops the merge)\n")


def _environment(scripts: Path) -> dict[str, str]:
    # Settings of whoever runs the demo would make it another one.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MCP_SIDECAR_")}
    # Commands are looked up where this Python's are; `python` is this Python.
    folders = [str(scripts), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    kept["PATH"] = os.pathsep.join(folders)
    return {**kept, "PYTHONUNBUFFERED": "1"}


def _say(words: str) -> None:
    # At once, or it would come after what the commands print.
    sys.stdout.write(words)
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(Path(sysconfig.get_path("scripts")))
    except (UnexpectedExitError, subprocess.TimeoutExpired, OSError) as error:
        sys.exit(f"\n{error}")
