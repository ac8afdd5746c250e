"""`mcp-sidecar suite check`: valid, wise, and fit for a host."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.cli.suite import few_of_each, invalid_body, refuse
from sidecar.errors import SuiteError
from sidecar.grading.refusal import refusal
from sidecar.suite.capabilities import EvalSuiteCapability
from sidecar.suite.documents import suite_from_json
from sidecar.suite.validation import Problem
from tests import eval_data
from tests.cli.conftest import Project, Told

GOOD = eval_data.suite(thresholds={"passScore": 1})
FIXTURES = {
    "toolResponses": [
        {"tool": "a:b", "args": {}, "argsMatch": "exact"},
        {"tool": "a:b", "isError": True},
    ],
    "onMiss": "fail",
}
RICH = eval_data.suite(
    eval_data.task("one", fixtures=FIXTURES),
    eval_data.task("two", eval_data.path_only("exact")),
    trials={"count": 3},
    thresholds={"passScore": 1},
)


def check(project: Project, value: Any, *words: str) -> Told:
    Path("suite.json").write_text(json.dumps(value), encoding="utf-8")
    return project.tell("suite", "check", "suite.json", *words)


def host(**members: Any) -> str:
    Path("host.json").write_text(json.dumps({"evalSuite": members}), encoding="utf-8")
    return "host.json"


def test_a_good_suite_is_ok(project: Project) -> None:
    assert check(project, GOOD) == (0, "OK: shop.evals.refunds 1.0.0, 1 task, 0 lints\n", "")
    assert not Path(".sidecar").exists()


def test_r49_all_that_is_implemented_here_is_fit_for_us(project: Project) -> None:
    told = check(project, RICH)

    assert told.code == 0, told


def test_lints_are_told_and_change_nothing(project: Project) -> None:
    told = check(project, eval_data.suite())

    assert told.code == 0
    assert told.out.splitlines() == [
        "suite.json /thresholds: no-pass-score: there is no passScore: the bar is 1; give "
        "thresholds.passScore, so that every grader holds the same bar",
        "OK: shop.evals.refunds 1.0.0, 1 task, 1 lint",
    ]


def test_with_json_a_good_suite_is_one_document(project: Project) -> None:
    told = check(project, eval_data.suite(), "--json")

    assert json.loads(told.out) == {
        "suiteId": "shop.evals.refunds",
        "version": "1.0.0",
        "taskCount": 1,
        "lints": [
            {
                "code": "no-pass-score",
                "path": "/thresholds",
                "message": "there is no passScore: the bar is 1",
                "hint": "give thresholds.passScore, so that every grader holds the same bar",
            }
        ],
    }
    assert "no-pass-score" in told.err


def test_v11_a_secret_that_is_left_is_told_and_not_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "Xk29fLq0vT7mZp4R")
    value = eval_data.suite(
        eval_data.task(input={"say": "Xk29fLq0vT7mZp4R"}), thresholds={"passScore": 1}
    )

    told = check(project, value)

    assert told.code == 0
    assert "suite.json /tasks/0/input/say: V11: a secret seems to be left" in told.out
    assert "Xk29fLq0vT7mZp4R" not in told.out


def test_v11_what_the_settings_call_a_secret_is_one_in_a_suite_too(project: Project) -> None:
    text = "[redaction]\npatterns = ['MRN-[0-9]+']\n"
    (project.folder / "sidecar.toml").write_text(text, encoding="utf-8")
    value = eval_data.suite(eval_data.task(input="Look up MRN-7"), thresholds={"passScore": 1})

    told = check(project, value)

    assert "suite.json /tasks/0/input: V11: a secret seems to be left" in told.out


def test_every_problem_of_a_broken_suite_is_told(project: Project) -> None:
    value = {**GOOD, "version": "1", "trials": {"count": 1, "k": 2}}

    told = check(project, value)

    assert told.code == 2
    assert [line.split(": ")[:2] for line in told.out.splitlines()] == [
        ["suite.json /version", "pattern"],
        ["suite.json /trials/k", "V3"],
    ]


def test_with_json_a_broken_suite_is_an_error_body(project: Project) -> None:
    told = check(project, {**GOOD, "trials": {"count": 1, "k": 2}}, "--json")

    assert told.code == 2
    assert json.loads(told.out) == {
        "error": "validation_error",
        "message": "k is 2, more than count, which is 1",
        "details": {
            "field": "trials.k",
            "path": "/trials/k",
            "fields": [{"field": "trials.k", "path": "/trials/k", "code": "V3"}],
        },
    }
    assert "suite.json /trials/k: V3: k is 2" in told.err


@pytest.mark.parametrize(
    ("pointer", "field"),
    [
        ("/trials/count", "trials.count"),
        ("/modes/1", "modes[1]"),
        ("/tasks/2/fixtures/toolResponses/0/isError", "fixtures.toolResponses[0].isError"),
        ("/tasks/10/expected/kind", "expected.kind"),
        ("/tasks/1", "tasks[1]"),
        ("", ""),
    ],
)
def test_a_field_is_named_in_the_rfcs_short_form(pointer: str, field: str) -> None:
    body = invalid_body([Problem("x", pointer, "wrong")])

    assert body["details"]["field"] == field


def test_r49_what_a_host_lacks_is_told_field_by_field(project: Project) -> None:
    told = check(project, RICH, "--host", host(modes=["golden"], trials={"maxTrials": 2}))

    assert told.code == 1
    assert told.out.splitlines() == [
        "suite.json /trials/count: trials.count needs agents.evalSuite.trials",
        "suite.json /tasks/0/fixtures/toolResponses/0/args: fixtures.toolResponses[0].args needs "
        "agents.evalSuite.fixtureMatching",
        "suite.json /tasks/0/fixtures/toolResponses/1/isError: fixtures.toolResponses[1].isError "
        "needs agents.evalSuite.fixtureErrors",
        "suite.json /tasks/0/fixtures/onMiss: fixtures.onMiss needs "
        "agents.evalSuite.fixtureMatching",
        "suite.json /tasks/1/expected/kind: expected.kind needs agents.evalSuite.trajectory",
        "suite.json /tasks/1/expected/trajectory: expected.trajectory needs "
        "agents.evalSuite.trajectory",
        "REFUSED: trials.count needs agents.evalSuite.trials, which this host does not advertise",
    ]


def test_r49_with_json_the_hosts_error_body_is_alone_on_standard_output(project: Project) -> None:
    told = check(project, RICH, "--host", host(modes=["golden"], trajectory=True), "--json")

    assert told.code == 1
    assert json.loads(told.out) == {
        "error": "validation_error",
        "message": "trials.count needs agents.evalSuite.trials, which this host does not advertise",
        "details": {
            "field": "trials.count",
            "path": "/trials/count",
            "fields": [
                {"field": "trials.count", "path": "/trials/count"},
                {
                    "field": "fixtures.toolResponses[0].args",
                    "path": "/tasks/0/fixtures/toolResponses/0/args",
                },
                {
                    "field": "fixtures.toolResponses[1].isError",
                    "path": "/tasks/0/fixtures/toolResponses/1/isError",
                },
                {"field": "fixtures.onMiss", "path": "/tasks/0/fixtures/onMiss"},
            ],
        },
    }


def test_r49_a_host_without_eval_suites_is_told_so(project: Project) -> None:
    Path("host.json").write_text("{}", encoding="utf-8")

    told = check(project, GOOD, "--host", "host.json", "--json")

    assert told.code == 1
    assert json.loads(told.out)["error"] == "capability_not_provided"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        pytest.param(["missing.json"], "missing.json: the file cannot be read", id="no suite"),
        pytest.param(["host.json"], "host.json:1: no JSON", id="no JSON"),
        pytest.param(
            ["suite.json", "--host", "missing.json"], "missing.json: the file", id="no document"
        ),
        pytest.param(["suite.json", "--host", "host.json"], "host.json:1: no JSON", id="no host"),
    ],
)
def test_what_cannot_be_read_is_refused(project: Project, words: list[str], problem: str) -> None:
    Path("suite.json").write_text(json.dumps(GOOD), encoding="utf-8")
    Path("host.json").write_text("{", encoding="utf-8")

    told = project.tell("suite", "check", *words)

    assert told.code == 2
    assert problem in told.err


def test_nothing_in_a_suite_steers_the_terminal(project: Project) -> None:
    told = check(project, {**GOOD, "own\x1b[2Jer": 1})

    assert "\x1b" not in told.out
    assert "\\x1b[2Jer" in told.out


def test_r49_a_refusal_names_the_first_field_and_how_many_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = refusal(suite_from_json(RICH), EvalSuiteCapability(modes=("golden",)))

    refuse(None, name="s.json", as_json=True)
    with pytest.raises(SuiteError) as refused:
        refuse(found, name="s.json", as_json=False)

    assert str(refused.value) == (
        "s.json /trials/count: trials.count uses agents.evalSuite.trials, which is not implemented"
        " here (and 5 more fields); take it out; `mcp-sidecar capabilities` shows what is"
        " implemented"
    )
    assert capsys.readouterr().out == ""


def test_of_many_problems_of_a_kind_a_few_are_told_and_the_others_counted() -> None:
    codes = ["V8"] * 5 + ["V9"] + ["V10"] * 3
    found = [Problem(code, f"/{place}", "so it is") for place, code in enumerate(codes)]

    assert list(few_of_each(found, lambda one: one.pointer)) == [
        *("/0", "/1", "/2", "and 2 more notes of this kind (V8)"),
        *("/5", "/6", "/7", "/8"),
    ]
