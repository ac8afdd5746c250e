"""The short form of `make conformance`: a few scenarios of each era."""

from pathlib import Path

import pytest

from conformance.main import Difference, Run, client_runs, differences, server_runs
from conformance.suites import CLIENT_SUITES, Check, Suite

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
