"""Runs the conformance suite, and reads what it found."""

import json
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.paths import NODE, PYTHON, ROOT

_FOLDER = ROOT / "conformance"
_TIMEOUT_SECONDS = 240.0
_CLIENT_MS = 120_000
_MEASURED = (0, 1)  # its exit codes: all passed, or not all, which is in the results, too
_STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")


class Suite(NamedTuple):
    """One of the suite's versions, with what it is to run.

    Attributes:
        name: As the table has it.
        package: Its alias in package.json.
        options: What is run.
        scenarios: Those that are run, each by itself; none means whatever the options say.
    """

    name: str
    package: str
    options: tuple[str, ...]
    scenarios: tuple[str, ...] = ()


class Check(NamedTuple):
    """Which check of which scenario.

    Attributes:
        scenario: The scenario.
        id: The check's id.
        name: Its name: several may share an id.
        number: Which one of those that share both.
    """

    scenario: str
    id: str
    name: str
    number: int


Checks: TypeAlias = dict[Check, str]
"""Each check's status. Lines of the suite's log, which have the status INFO, are left out."""

_OLD, _NEW = "conformance-0.1", "conformance-0.2"
SERVER_SUITES = (
    Suite("0.1.16, all", _OLD, ("--suite", "all")),
    Suite("0.2.0-alpha.12, 2025-11-25", _NEW, ("--requirements", "2025-11-25")),
    Suite("0.2.0-alpha.12, 2026-07-28", _NEW, ("--requirements", "2026-07-28")),
)

_HANDSHAKE = ("initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry")
_SCHEMAS = "json-schema-2020-12-preservation"
CLIENT_SUITES = (
    Suite("0.1.16, client", _OLD, (), _HANDSHAKE),
    Suite(
        "0.2.0-alpha.12, client, 2025-11-25",
        _NEW,
        ("--spec-version", "2025-11-25"),
        (*_HANDSHAKE, _SCHEMAS),
    ),
    Suite(
        "0.2.0-alpha.12, client, 2026-07-28",
        _NEW,
        ("--spec-version", "2026-07-28"),
        (
            *("tools_call", "request-metadata", "sep-2322-client-request-state", _SCHEMAS),
            *("http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"),
            "json-schema-ref-no-deref",
        ),
    ),
)
"""All client scenarios but those of authorization, which name the server's own origin."""


def of_server(suite: Suite, url: str, folder: Path) -> Checks:
    """Run the suite against a server.

    Args:
        suite: What is run.
        url: Where the server is.
        folder: Where the results go; it is empty.

    Raises:
        RuntimeError: If something that was to be run left no checks.
    """
    return _run(suite, ["server", "--url", url], folder, strip="server-")


def of_client(suite: Suite, folder: Path, *, recorded: bool) -> Checks:
    """Run the suite's own server, with our client directly before it or through the sidecar.

    Args:
        suite: What is run.
        folder: Where the results go; it is empty.
        recorded: Whether the client goes through the sidecar.

    Raises:
        RuntimeError: If something that was to be run left no checks.
    """
    client = [PYTHON, str(_FOLDER / "client.py"), *(["--recorded"] if recorded else [])]
    patience = ["--timeout", str(_CLIENT_MS)]
    return _run(suite, ["client", "--command", shlex.join(client), *patience], folder, strip="")


def _run(suite: Suite, words: Sequence[str], folder: Path, *, strip: str) -> Checks:
    script = _FOLDER / "node_modules" / suite.package / "dist" / "index.js"
    found: Checks = {}
    for number, wanted in enumerate(suite.scenarios or (None,)):
        results = folder / str(number)
        one = [] if wanted is None else ["--scenario", wanted]
        done = subprocess.run(
            [NODE, str(script), *words, *suite.options, *one, "--output-dir", str(results)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
        checks = _read(results, strip=strip) if results.is_dir() else {}
        scenarios = {check.scenario for check in checks}
        if done.returncode not in _MEASURED or not scenarios or wanted not in {None, *scenarios}:
            said = (done.stdout + done.stderr).decode(errors="replace")
            what = f"{suite.name}, {wanted or 'all'}: {len(checks)} checks of {scenarios or 'none'}"
            raise RuntimeError(f"{what}, exit code {done.returncode}\n{said}")
        found |= checks
    return found


def _read(folder: Path, *, strip: str) -> Checks:
    found: Checks = {}
    for one in sorted(folder.iterdir()):
        scenario = _STAMP.sub("", one.name).removeprefix(strip)
        found |= dict(_checks(scenario, one / "checks.json"))
    return found


def _checks(scenario: str, file: Path) -> Iterator[tuple[Check, str]]:
    seen: Counter[tuple[str, str]] = Counter()
    for check in json.loads(file.read_text("utf-8")):
        key = (check["id"], check["name"])
        if check["status"] != "INFO":
            yield Check(scenario, *key, seen[key]), check["status"]
            seen[key] += 1
