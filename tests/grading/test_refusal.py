"""R49: what a suite needs and a host does not advertise."""

from typing import Any

import pytest

from sidecar.grading.refusal import Refusal, UnmetFeature, refusal, unmet_features
from sidecar.suite.capabilities import IMPLEMENTED, EvalSuiteCapability, TrialsCapability
from sidecar.suite.documents import suite_from_json
from tests.eval_data import Json, call, golden, path_only, suite, task, trajectory

BARE = EvalSuiteCapability(modes=("golden",))
ALL = EvalSuiteCapability(
    modes=("golden",),
    trajectory=True,
    trials=TrialsCapability(max_trials=5),
    fixture_matching=True,
    fixture_errors=True,
)
PATH = golden(trajectory=trajectory("exact"))


def fixed(*entries: Json, **more: Json) -> Json:
    return task(fixtures={"toolResponses": list(entries), **more})


def unmet(of: Json, host: EvalSuiteCapability = BARE) -> list[tuple[str, ...]]:
    return [tuple(one) for one in unmet_features(suite_from_json(of), host)]


@pytest.mark.parametrize(
    ("of", "features"),
    [
        pytest.param(
            suite(task(expected=PATH)),
            [("expected.trajectory", "/tasks/0/expected/trajectory", "trajectory")],
            id="R49 a trajectory",
        ),
        pytest.param(
            suite(task(expected=path_only("exact"))),
            [
                ("expected.kind", "/tasks/0/expected/kind", "trajectory"),
                ("expected.trajectory", "/tasks/0/expected/trajectory", "trajectory"),
            ],
            id="R49 kind trajectory",
        ),
        pytest.param(
            suite(trials={"count": 2}),
            [("trials.count", "/trials/count", "trials")],
            id="R49 trials",
        ),
        pytest.param(
            suite(fixed(onMiss="live")),
            [("fixtures.onMiss", "/tasks/0/fixtures/onMiss", "fixtureMatching")],
            id="R49 onMiss",
        ),
        pytest.param(
            suite(fixed(call("a:b"), call("a:b", {"x": 1}))),
            [
                (
                    "fixtures.toolResponses[1].args",
                    "/tasks/0/fixtures/toolResponses/1/args",
                    "fixtureMatching",
                )
            ],
            id="R49 args",
        ),
        pytest.param(
            suite(fixed({**call("a:b"), "args": None})),
            [
                (
                    "fixtures.toolResponses[0].args",
                    "/tasks/0/fixtures/toolResponses/0/args",
                    "fixtureMatching",
                )
            ],
            id="R49 null args",
        ),
        pytest.param(
            suite(fixed({**call("a:b"), "isError": True})),
            [
                (
                    "fixtures.toolResponses[0].isError",
                    "/tasks/0/fixtures/toolResponses/0/isError",
                    "fixtureErrors",
                )
            ],
            id="R49 RFC 0245 isError",
        ),
        pytest.param(
            suite(modes=["golden", "regression"]),
            [("modes", "/modes/1", "modes")],
            id="R49 a mode",
        ),
    ],
)
def test_a_feature_that_is_not_advertised_is_named(
    of: Json, features: list[tuple[str, ...]]
) -> None:
    assert unmet(of) == features
    assert unmet({**of, "modes": ["golden"]}, ALL) == []


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(suite(trials={"count": 1, "k": 1, "passRule": "mean"}), id="R49 one trial"),
        pytest.param(
            suite(fixed({**call("a:b"), "argsMatch": "ignore", "isError": False})),
            id="R49 argsMatch without args, isError false",
        ),
        pytest.param(suite(task(fixtures={"memorySeed": []})), id="R49 memory"),
    ],
)
def test_what_is_not_listed_is_not_refused(of: Json) -> None:
    assert unmet(of) == []
    assert refusal(suite_from_json(of), BARE) is None


def test_r49_more_trials_or_tasks_than_the_host_takes_are_refused() -> None:
    assert unmet(suite(trials={"count": 6}), ALL) == [("trials.count", "/trials/count", "trials")]
    assert unmet(suite(trials={"count": 5}), ALL) == []
    small = BARE.model_copy(update={"max_tasks_per_suite": 1})
    assert unmet(suite(task("a"), task("b")), small) == [("tasks", "/tasks", "maxTasksPerSuite")]
    assert unmet(suite(task("a")), small) == []


def test_r49_the_error_body_names_the_first_field_and_all_of_them() -> None:
    of = suite(
        task("a"),
        task("b", PATH, fixtures={"toolResponses": [{**call("x:y"), "isError": True}]}),
        trials={"count": 3},
    )

    found = refusal(suite_from_json(of), BARE)

    assert found is not None
    error = "/tasks/1/fixtures/toolResponses/0/isError"
    assert (found.status, found.body) == (
        400,
        {
            "error": "validation_error",
            "message": "trials.count needs agents.evalSuite.trials,"
            " which this host does not advertise",
            "details": {
                "field": "trials.count",
                "path": "/trials/count",
                "fields": [
                    {"field": "trials.count", "path": "/trials/count"},
                    {"field": "expected.trajectory", "path": "/tasks/1/expected/trajectory"},
                    {"field": "fixtures.toolResponses[0].isError", "path": error},
                ],
            },
        },
    )
    assert found.features[0] == UnmetFeature("trials.count", "/trials/count", "trials")


def test_r49_a_host_without_eval_suites_provides_no_capability() -> None:
    found = refusal(suite_from_json(suite()), None)

    assert found == Refusal(
        422,
        {
            "error": "capability_not_provided",
            "message": "this host does not provide agents.evalSuite",
            "details": {"capability": "agents.evalSuite"},
        },
        (),
    )


def test_r49_our_own_grader_takes_what_it_says() -> None:
    every: Any = suite(
        task(
            "a",
            PATH,
            fixtures={
                "toolResponses": [{**call("x:y", {}, "exact"), "isError": True}],
                "onMiss": "live",
            },
        ),
        trials={"count": 10},
        modes=["golden", "rubric", "adversarial", "regression"],
    )

    assert refusal(suite_from_json(every), IMPLEMENTED) is None
    assert unmet({**every, "modes": ["live-shadow"]}, IMPLEMENTED) == [
        ("modes", "/modes/0", "modes")
    ]
