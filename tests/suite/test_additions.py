"""Suites that get one task more."""

from typing import Any

import pytest

from sidecar.errors import PromotionError, SuiteError
from sidecar.suite.additions import Addition, suite_id_of, task_id_of, with_task
from sidecar.suite.documents import dump_document, suite_from_json
from sidecar.suite.model import AgentEvalSuite, Task

PATH = {"kind": "trajectory", "trajectory": {"match": "in-order", "calls": []}}
GOLDEN = {"kind": "golden", "match": {"strategy": "exact", "value": "a"}}


def a_task(name: str, **more: Any) -> Task:
    return Task.model_validate({"taskId": name, "input": None, "expected": PATH, **more})


def a_suite(*tasks: str, **more: Any) -> AgentEvalSuite:
    return suite_from_json(
        {
            "suiteId": "local.evals.checkout",
            "version": "1.0.0",
            "modes": ["golden"],
            "thresholds": {"passScore": 1},
            "tasks": [{"taskId": name, "input": None, "expected": PATH} for name in tasks],
            **more,
        }
    )


def add(suite: AgentEvalSuite | None, task: Task, *, replaces: bool = False) -> Addition:
    return with_task(
        suite, task, suite_id="local.evals.checkout", replaces=replaces, place="checkout.json"
    )


def test_the_first_task_makes_the_suite() -> None:
    assert add(None, a_task("one")) == Addition(a_suite("one"), "created")


def test_another_task_is_added_behind() -> None:
    assert add(a_suite("one"), a_task("two")) == Addition(a_suite("one", "two"), "added")


def test_p02_the_same_task_again_changes_nothing_byte_for_byte() -> None:
    suite = a_suite("one", "two")

    again = add(suite, a_task("one"))

    assert again == Addition(suite, "unchanged")
    assert dump_document(again.suite) == dump_document(suite)


def test_p02_another_task_under_the_same_id_is_refused() -> None:
    with pytest.raises(PromotionError) as refused:
        add(a_suite("one", "two"), a_task("two", expected=GOLDEN))

    assert str(refused.value) == (
        "checkout.json /tasks/1: there is another task 'two' already; choose another --task, or "
        "give --replace to put this one in its place"
    )


def test_p02_another_task_takes_the_place_when_told_so() -> None:
    found = add(a_suite("one", "two"), a_task("one", expected=GOLDEN), replaces=True)

    assert found.change == "replaced"
    assert found.suite.tasks == (a_task("one", expected=GOLDEN), a_task("two"))


def test_a_null_input_is_kept_apart_from_another_one() -> None:
    with pytest.raises(PromotionError):
        add(a_suite("one"), a_task("one", input="null"))


def test_what_the_suite_says_else_stays() -> None:
    suite = a_suite("one", version="2.1.0", trials={"count": 3}, modes=["regression"])

    found = add(suite, a_task("two")).suite

    assert found == a_suite(
        "one", "two", version="2.1.0", trials={"count": 3}, modes=["regression"]
    )


def test_a_suite_of_rubrics_gets_the_mode_golden_too() -> None:
    assert add(a_suite("one", modes=["rubric"]), a_task("two")).suite.modes == ("rubric", "golden")


def test_an_id_that_is_none_is_refused() -> None:
    with pytest.raises(SuiteError, match="suiteId"):
        with_task(None, a_task("one"), suite_id="checkout", replaces=False, place="checkout.json")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("checkout", "local.evals.checkout", id="fits"),
        pytest.param("Check_Out  v1.0!", "local.evals.check-out-v1-0", id="is made to fit"),
        pytest.param("évals", "local.evals.vals", id="letters of other scripts"),
        pytest.param("---", "local.evals.suite", id="nothing fits"),
    ],
)
def test_a_suites_id_is_derived_from_its_files_name(name: str, expected: str) -> None:
    assert suite_id_of(name) == expected


def test_a_tasks_id_is_derived_from_a_cassettes_name() -> None:
    assert task_id_of("Release_Notes") == "release-notes"
    assert task_id_of("__") == ""
