"""Runs all suites against all targets, compares, and prints the table."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from conformance.suites import (
    CLIENT_SUITES,
    SERVER_SUITES,
    Check,
    Checks,
    Suite,
    of_client,
    of_server,
)
from tests.end_to_end.serving import recording, replaying
from tests.paths import PYTHON, ROOT
from tests.servers.listening import Listening

FIXTURE_SERVER = [PYTHON, str(ROOT / "tests" / "servers" / "conformance_server.py")]

_AT_ONCE = "a replay has the answer at once, so it opens no stream that could be closed and resumed"
NEEDS_A_SERVER = {
    "server-sse-streams-functional": "a replay has its answer at once, and gives it as JSON",
    "server-sse-priming-event": _AT_ONCE,
    "server-sse-retry-field": _AT_ONCE,
    "server-sse-disconnect-resume": _AT_ONCE,
}
"""What a replay does not do, by the check's id, and why."""

_EXTENSION = "tasks-"
"""Scenarios of the tasks extension. The fixture server has none, so it fails them: on purpose,
since what it refuses must pass through the sidecar as well."""


class Run(NamedTuple):
    """A suite's run against a target.

    Attributes:
        suite: The suite's name.
        target: Whether it went to the server, through the sidecar, or to the sidecar's replay.
        checks: What it found.
    """

    suite: str
    target: str
    checks: Checks


class Difference(NamedTuple):
    """A check that is not as it is without the sidecar.

    Attributes:
        run: In which run.
        check: Which check.
        direct: Its status without the sidecar; None where there was no such check.
        here: Its status in this run; None where there was no such check.
    """

    run: Run
    check: Check
    direct: str | None
    here: str | None

    @property
    def reason(self) -> str | None:
        """Why it may differ; None where it may not."""
        return NEEDS_A_SERVER.get(self.check.id) if self.run.target == "replayed" else None


def main() -> int:
    """Run all.

    Returns:
        1 if anything differs that may not.

    Raises:
        RuntimeError: If something that was to be run left no checks.
    """
    console = Console(width=160)
    table = Table("suite", "target", box=None, pad_edge=False)
    for column in ("passed", "failed", "differ"):
        table.add_column(column, justify="right")
    found: list[Difference] = []
    with console.status("Running the suites") as status:
        for direct, run in _compared():
            status.update(f"{run.suite}: {run.target} is done")
            differing = differences(direct, run)
            found += differing
            for row in _rows(run, differing):
                table.add_row(*row)
    console.print(table)
    for one in found:
        console.print(_told(one), highlight=False, markup=False)
    unexpected = sum(one.reason is None for one in found)
    console.print(f"{unexpected} checks differ that may not", highlight=False)
    return 1 if unexpected else 0


def differences(direct: Run, run: Run) -> list[Difference]:
    """The checks of a run that are not as they are without the sidecar."""
    return [
        Difference(run, check, direct.checks.get(check), run.checks.get(check))
        for check in {**direct.checks, **run.checks}
        if direct.checks.get(check) != run.checks.get(check)
    ]


def server_runs(suite: Suite, folder: Path) -> Iterator[Run]:
    """Run a suite against the fixture server: directly, recorded, and replayed without it.

    Args:
        suite: What is run.
        folder: An empty folder.
    """
    with Listening(FIXTURE_SERVER) as fixture:
        yield Run(suite.name, "direct", of_server(suite, fixture.url, folder / "direct"))
        with recording(folder, fixture.url) as sidecar:
            checks = of_server(suite, sidecar.url, folder / "recorded")
        yield Run(suite.name, "recorded", checks)
    with replaying(folder, may_miss=True) as sidecar:
        yield Run(suite.name, "replayed", of_server(suite, sidecar.url, folder / "replayed"))


def client_runs(suite: Suite, folder: Path) -> Iterator[Run]:
    """Run a suite's client scenarios: directly, and through the sidecar in record mode.

    Args:
        suite: What is run.
        folder: An empty folder.
    """
    for target in ("direct", "recorded"):
        checks = of_client(suite, folder / target, recorded=target == "recorded")
        yield Run(suite.name, target, checks)


def _compared() -> Iterator[tuple[Run, Run]]:
    """Each run, with the direct one of its suite."""
    suites = [(server_runs, suite) for suite in SERVER_SUITES]
    suites += [(client_runs, suite) for suite in CLIENT_SUITES]
    for runs, suite in suites:
        with tempfile.TemporaryDirectory() as folder:
            made = runs(suite, Path(folder))
            direct = next(made)
            yield direct, direct
            for run in made:
                yield direct, run


def _rows(run: Run, differing: list[Difference]) -> Iterator[tuple[str, ...]]:
    for name, is_extension in ((run.suite, False), (f"{run.suite}, tasks extension", True)):
        checks = {
            check: status
            for check, status in run.checks.items()
            if check.scenario.startswith(_EXTENSION) is is_extension
        }
        differ = sum(one.check.scenario.startswith(_EXTENSION) is is_extension for one in differing)
        said = Counter(checks.values())
        if checks or differ:
            yield (name, run.target, *map(str, (said["SUCCESS"], said["FAILURE"], differ)))


def _told(one: Difference) -> str:
    check = f"{one.check.scenario}, {one.check.id} ({one.check.name})"
    statuses = f"{one.here or 'not there'}, and {one.direct or 'not there'} directly"
    return f"{one.run.suite}, {one.run.target}: {check}: {statuses}: {one.reason or 'UNEXPECTED'}"
