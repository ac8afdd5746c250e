"""The short form of `make conformance`: a few scenarios of each era."""

import json
from pathlib import Path

import pytest

from conformance import suites
from conformance.main import Difference, Run, client_runs, differences, server_runs
from conformance.suites import CLIENT_SUITES, Check, Suite, of_server

pytestmark = pytest.mark.timeout(300)

_NEW = "conformance-0.2"
OLDER = Suite(
    "2025-11-25",
    _NEW,
    ("--spec-version", "2025-11-25"),
    ("tools-call-with-progress", "tools-call-elicitation", "server-session-lifecycle"),
)
LATER = Suite(
    "2026-07-28",
    _NEW,
    ("--spec-version", "2026-07-28"),
    (
        *("tools-call-with-progress", "input-required-result-multi-round"),
        "http-custom-header-server-validation",
    ),
)
CLIENT = CLIENT_SUITES[-1]._replace(scenarios=("http-custom-headers",))


@pytest.mark.parametrize("suite", [OLDER, LATER], ids=lambda suite: suite.name)
def test_n01_a_server_conforms_as_well_recorded_and_replayed(tmp_path: Path, suite: Suite) -> None:
    direct, recorded, replayed = server_runs(suite, tmp_path)

    assert set(direct.checks.values()) == {"SUCCESS"}
    assert {check.scenario for check in direct.checks} == set(suite.scenarios)
    assert differences(direct, recorded) == []
    assert differences(direct, replayed) == []


def test_a_client_conforms_as_well_through_the_sidecar(tmp_path: Path) -> None:
    direct, recorded = client_runs(CLIENT, tmp_path)

    assert set(direct.checks.values()) == {"SUCCESS"}
    assert differences(direct, recorded) == []


def odd_node(folder: Path, code: int, scenario: str | None, status: str) -> str:
    """A program that leaves one check of a scenario, or nothing, where it is told to."""
    made = ""
    if scenario is not None:
        checks = json.dumps([{"id": "a", "name": "A", "status": status}])
        place = f'"${{@:$#}}/server-{scenario}-2026-01-31T12-00-00-000Z"'
        made = f"mkdir -p {place}; echo '{checks}' > {place}/checks.json"
    program = folder / "node"
    program.write_text(f"#!/bin/bash\n{made}\necho so it is; exit {code}\n", encoding="utf-8")
    program.chmod(0o700)
    return str(program)


@pytest.mark.parametrize(
    ("code", "scenario", "status"),
    [
        pytest.param(0, None, "", id="no results"),
        pytest.param(0, "other", "SUCCESS", id="of another scenario"),
        pytest.param(0, "wanted", "INFO", id="no checks"),
        pytest.param(2, "wanted", "SUCCESS", id="another exit code"),
    ],
)
def test_a_suite_that_did_not_run_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, scenario: str | None, status: str
) -> None:
    monkeypatch.setattr(suites, "NODE", odd_node(tmp_path, code, scenario, status))

    with pytest.raises(RuntimeError, match=f"exit code {code}\nso it is"):
        of_server(Suite("a", _NEW, (), ("wanted",)), "http://a.example", tmp_path / "results")


def test_a_suite_that_failed_did_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "NODE", odd_node(tmp_path, 1, "wanted", "FAILURE"))

    found = of_server(Suite("a", _NEW, (), ("wanted",)), "http://a.example", tmp_path / "results")

    assert found == {Check("wanted", "a", "A", 0): "FAILURE"}


def test_a_check_that_fails_or_is_not_there_is_a_difference() -> None:
    one, two, three = (Check("scenario", name, name, 0) for name in ("one", "two", "three"))
    direct = Run("suite", "direct", {one: "SUCCESS", two: "SUCCESS"})
    run = Run("suite", "recorded", {one: "FAILURE", three: "SUCCESS"})

    assert differences(direct, direct) == []
    assert differences(direct, run) == [
        Difference(run, one, "SUCCESS", "FAILURE"),
        Difference(run, two, "SUCCESS", None),
        Difference(run, three, None, "SUCCESS"),
    ]
    assert [found.reason for found in differences(direct, run)] == [None] * 3
