"""The suite's model: types, patterns, closed objects, and the rules across fields."""

import pytest
from pydantic import ValidationError

from sidecar.cassette.arguments import ABSENT
from sidecar.errors import SuiteError
from sidecar.suite.documents import suite_from_json
from sidecar.suite.model import (
    AgentEvalSuite,
    Expected,
    ExpectedCall,
    FixtureEntry,
    Fixtures,
    GoldenMatch,
    Task,
    Trajectory,
    Trials,
)
from sidecar.suite.model_base import wire_value
from sidecar.wire.json_text import Number
from tests.eval_data import Json, call, golden, path_only, rubric, suite, task, trajectory

RFC_0244_EXPECTED = {
    "kind": "golden",
    "match": {"strategy": "contains", "value": "refund approved"},
    "trajectory": {
        "match": "in-order",
        "calls": [
            {"tool": "crm:lookup-order", "argsMatch": "ignore"},
            {"tool": "billing:refund", "args": {"amountMinor": 4200}, "argsMatch": "subset"},
        ],
        "forbidden": ["billing:refund-all"],
        "includeDelegates": False,
    },
}
RFC_0245_ENTRY = {
    "tool": "billing:lookup",
    "args": {"id": "c-1"},
    "argsMatch": "exact",
    "isError": True,
    "response": {"content": [{"type": "text", "text": '{"error":"upstream_down"}'}]},
}


def with_trajectory(**more: Json) -> dict[str, Json]:
    return suite(task(expected=golden(trajectory={**trajectory("exact", call("a:b")), **more})))


def with_entry(**more: Json) -> dict[str, Json]:
    return suite(task(fixtures={"toolResponses": [{"tool": "a:b", **more}]}))


def test_the_example_of_rfc_0244_is_read_as_it_is_written() -> None:
    read = suite_from_json(suite(task(expected=RFC_0244_EXPECTED)))

    assert read.tasks[0].expected == Expected(
        kind="golden",
        match=GoldenMatch(strategy="contains", value="refund approved"),
        trajectory=Trajectory(
            match="in-order",
            calls=(
                ExpectedCall(tool="crm:lookup-order", args_match="ignore"),
                ExpectedCall(
                    tool="billing:refund", args={"amountMinor": 4200}, args_match="subset"
                ),
            ),
            forbidden=("billing:refund-all",),
            include_delegates=False,
        ),
    )
    assert wire_value(read)["tasks"][0]["expected"] == RFC_0244_EXPECTED


def test_the_example_of_rfc_0245_is_read_as_it_is_written() -> None:
    read = suite_from_json(suite(task(fixtures={"toolResponses": [RFC_0245_ENTRY]})))

    assert read.tasks[0].fixtures == Fixtures(
        tool_responses=(
            FixtureEntry(
                tool="billing:lookup",
                args={"id": "c-1"},
                args_match="exact",
                is_error=True,
                response=RFC_0245_ENTRY["response"],
            ),
        )
    )
    assert wire_value(read)["tasks"][0]["fixtures"] == {"toolResponses": [RFC_0245_ENTRY]}


def test_absent_trials_mean_one_trial_that_must_pass() -> None:
    read = suite_from_json(suite())

    assert (read.trial_count, read.k, read.pass_rule) == (1, 1, "all")


def test_absent_k_means_count() -> None:
    read = suite_from_json(suite(trials={"count": 5, "passRule": "mean"}))

    assert (read.trial_count, read.k, read.pass_rule) == (5, 5, "mean")


def test_empty_trials_mean_what_absent_ones_mean() -> None:
    read = suite_from_json(suite(trials={}))

    assert (read.trial_count, read.k, read.pass_rule) == (1, 1, "all")
    assert wire_value(read)["trials"] == {}


def test_null_and_absent_are_told_apart_where_any_value_may_stand() -> None:
    absent = ExpectedCall(tool="a:b")
    null = ExpectedCall(tool="a:b", args=None)

    assert (absent.arguments, null.arguments) == (ABSENT, None)
    assert wire_value(absent) == {"tool": "a:b"}
    assert wire_value(null) == {"tool": "a:b", "args": None}


def test_args_without_args_match_are_not_compared() -> None:
    assert ExpectedCall(tool="a:b", args={"x": 1}).matching == "ignore"


def test_a_task_is_found_by_its_id() -> None:
    read = suite_from_json(suite(task("one"), task("two")))

    assert read.task("two") == read.tasks[1]
    assert read.task("three") is None


def test_a_model_cannot_be_changed() -> None:
    trials = Trials(count=2)

    with pytest.raises(ValidationError):
        trials.count = 3  # type: ignore[misc]  # the very thing that must fail


@pytest.mark.parametrize(
    "good",
    [
        pytest.param(suite(trials={"count": 3.0}), id="an integer may be spelt 3.0"),
        pytest.param(suite(trials={"k": 1}), id="V3 k without count, 1"),
        pytest.param(suite(thresholds={"passScore": 1}), id="a number may be spelt 1"),
        pytest.param(suite(allowedModels=[]), id="no allowed model"),
        pytest.param(suite(targetAgentId="core.conformance.agents.scripted"), id="an agent id"),
        pytest.param(suite(task(expected=path_only("exact"))), id="R9 no expected call"),
        pytest.param(suite({**task(), "input": None}), id="a null input"),
        pytest.param(suite(task(expected=golden(None))), id="a null golden value"),
        pytest.param(with_entry(isError=False), id="isError false"),
        pytest.param(with_entry(response=None), id="a null response"),
        pytest.param(suite(task(fixtures={"memorySeed": [{"any": ["thing"]}]})), id="memory"),
        pytest.param(suite(task(fixtures={"toolResponses": []})), id="an empty fixture list"),
        pytest.param(
            suite(task(expected={**golden(), "rubric": [{"criterion": "c", "weight": 1}]})),
            id="V5 a golden with a rubric is a lint, no error",
        ),
    ],
)
def test_a_suite_within_the_rules_is_read(good: dict[str, Json]) -> None:
    assert wire_value(suite_from_json(good)) == good


@pytest.mark.parametrize(
    ("bad", "pointer", "said"),
    [
        pytest.param(
            suite(task(expected={**path_only("exact"), "match": golden()["match"]})),
            "/tasks/0/expected/match",
            "'trajectory' must not carry 'match'",
            id="V1 match",
        ),
        pytest.param(
            suite(task(expected={**path_only("exact"), "rubric": rubric(1)["rubric"]})),
            "/tasks/0/expected/rubric",
            "'trajectory' must not carry 'rubric'",
            id="V1 rubric",
        ),
        pytest.param(
            suite(task(expected={"kind": "trajectory"})),
            "/tasks/0/expected/trajectory",
            "needs a 'trajectory'",
            id="V2",
        ),
        pytest.param(
            suite(trials={"count": 5, "k": 6}),
            "/trials/k",
            "k is 6",
            id="V3 k over count",
        ),
        pytest.param(suite(trials={"k": 2}), "/trials/k", "count, which is 1", id="V3 no count"),
        pytest.param(
            suite(task(expected={"kind": "golden"})),
            "/tasks/0/expected/match",
            "'golden' needs a 'match'",
            id="V4 golden",
        ),
        pytest.param(
            suite(task(expected={"kind": "rubric"})),
            "/tasks/0/expected/rubric",
            "'rubric' needs a 'rubric'",
            id="V4 rubric",
        ),
        pytest.param(
            suite(task("one"), task("two"), task("one")),
            "/tasks/2/taskId",
            "also that of /tasks/0",
            id="V6",
        ),
        pytest.param(
            with_trajectory(calls=[call("a:b", args_match="exact")]),
            "/tasks/0/expected/trajectory/calls/0/argsMatch",
            "no args to compare",
            id="V7 R5e exact call",
        ),
        pytest.param(
            with_entry(argsMatch="subset"),
            "/tasks/0/fixtures/toolResponses/0/argsMatch",
            "no args to compare",
            id="V7 R5e subset entry",
        ),
        pytest.param(suite(trials={"count": 0}), "/trials/count", "greater than", id="count 0"),
        pytest.param(suite(trials={"count": True}), "/trials/count", "integer", id="G10 true"),
        pytest.param(suite(trials={"count": 1.5}), "/trials/count", "integer", id="count 1.5"),
        pytest.param(suite(trials={"count": "3"}), "/trials/count", "integer", id="G09 text"),
        pytest.param(
            suite(thresholds={"passScore": True}),
            "/thresholds/passScore",
            "number",
            id="G10 a boolean is no number",
        ),
        pytest.param(
            suite(thresholds={"passScore": 1.1}),
            "/thresholds/passScore",
            "less than",
            id="bar > 1",
        ),
        pytest.param(
            suite(thresholds={"passScore": float("nan")}),
            "/thresholds/passScore",
            "finite",
            id="T06 NaN is refused at the door",
        ),
        pytest.param(suite(modes=[]), "/modes", "at least 1", id="no mode"),
        pytest.param(suite(modes=["golden", "golden"]), "/modes/1", "twice", id="a mode twice"),
        pytest.param(
            suite(modes=["trajectory"]),
            "/modes/0",
            "none of",
            id="trajectory is no mode",
        ),
        pytest.param(
            suite(version="1.0.0-beta"),
            "/version",
            "does not match",
            id="a pre-release",
        ),
        pytest.param(
            suite(version="1.0.0\n"),
            "/version",
            "does not match",
            id="a newline after a pattern",
        ),
        pytest.param(suite(suiteId="refunds"), "/suiteId", "does not match", id="a suite id"),
        pytest.param(
            suite(task("Refund")),
            "/tasks/0/taskId",
            "does not match",
            id="a capital in a task id",
        ),
        pytest.param({**suite(), "tasks": []}, "/tasks", "at least 1", id="T09 no task"),
        pytest.param(suite(owner="me"), "/owner", "unknown key", id="a key of one's own"),
        pytest.param(
            with_trajectory(tools=["a:b"]),
            "/tasks/0/expected/trajectory/tools",
            "unknown key",
            id="an unknown trajectory member",
        ),
        pytest.param(
            with_trajectory(match="superset"),
            "/tasks/0/expected/trajectory/match",
            "'any-order'",
            id="superset is any-order here",
        ),
        pytest.param(
            with_trajectory(forbidden=["x:y", "x:y"]),
            "/tasks/0/expected/trajectory/forbidden/1",
            "twice",
            id="a tool forbidden twice",
        ),
        pytest.param(
            with_trajectory(forbidden=[""]),
            "/tasks/0/expected/trajectory/forbidden/0",
            "at least 1 character",
            id="no tool name",
        ),
        pytest.param(
            with_trajectory(includeDelegates=1),
            "/tasks/0/expected/trajectory/includeDelegates",
            "boolean",
            id="1 is no boolean",
        ),
        pytest.param(
            with_entry(isError="true"),
            "/tasks/0/fixtures/toolResponses/0/isError",
            "boolean",
            id="RFC 0245 isError as text",
        ),
        pytest.param(
            suite(task(fixtures={"onMiss": "ignore"})),
            "/tasks/0/fixtures/onMiss",
            "none of",
            id="an unknown onMiss",
        ),
        pytest.param(
            suite(trials=None),
            "/trials",
            "null is no value here",
            id="null is not absent",
        ),
        pytest.param(
            with_trajectory(forbidden=None),
            "/tasks/0/expected/trajectory/forbidden",
            "leave the key out",
            id="null inside",
        ),
        pytest.param(
            suite(task(expected=rubric(1.5))),
            "/tasks/0/expected/rubric/0/weight",
            "less than",
            id="a weight over 1",
        ),
        pytest.param(suite({"taskId": "t", "input": 1}), "/tasks/0/expected", "missing", id="G07"),
    ],
)
def test_a_suite_that_breaks_a_rule_is_refused_with_its_place(
    bad: dict[str, Json], pointer: str, said: str
) -> None:
    with pytest.raises(SuiteError) as refused:
        suite_from_json(bad, name="suite.json")

    assert refused.value.place == f"suite.json {pointer}"
    assert said in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": {1: 2}}, id="a number as a name"),
        pytest.param({"a": (1, 2)}, id="a tuple"),
        pytest.param({"a": float("inf")}, id="infinity"),
        pytest.param({"a": [object()]}, id="an object"),
    ],
)
def test_a_free_value_must_be_json(value: Json) -> None:
    with pytest.raises(ValidationError):
        Task(
            task_id="t",
            input=value,
            expected=Expected(kind="trajectory", trajectory=Trajectory(match="exact", calls=())),
        )


def test_snake_case_keys_are_no_keys_of_the_format() -> None:
    with pytest.raises(SuiteError, match="did you mean 'suiteId'"):
        suite_from_json({**{k: v for k, v in suite().items() if k != "suiteId"}, "suite_id": "a"})


def test_a_suite_dumps_to_its_wire_form() -> None:
    read = AgentEvalSuite.model_validate(suite(thresholds={"passScore": 1.0}))

    assert read.model_dump() == suite(thresholds={"passScore": 1})


def test_a_number_that_was_spelt_out_dumps_as_a_number() -> None:
    call = ExpectedCall(tool="a:b", args={"x": [Number("1.50"), "1.50"]})

    assert call.model_dump() == {"tool": "a:b", "args": {"x": [1.5, "1.50"]}}
