"""What a judge is asked, and how its answer is read."""

import json
from typing import Any

import pytest

from sidecar.agents.judge import Judgement, NoJudgement, Question, question_of, read_answer
from sidecar.suite.documents import parse_suite
from tests import eval_data

QUESTION = Question({"order": 7}, "done", ("is polite", "names the order"))
USAGE = {"provider": "p", "model": "m", "inputTokens": 10, "outputTokens": 5}


def test_a_judge_is_asked_for_each_criterion_and_not_told_its_weight() -> None:
    criteria = '[{"criterion": "is polite", "weight": 0.3}, {"criterion": "is short", "weight": 1}]'
    suite = eval_data.suite(eval_data.task("a", {"kind": "rubric", "rubric": []}, input="?"))
    text = json.dumps(suite).replace('"rubric": []', f'"rubric": {criteria}')
    (task,) = parse_suite(text.replace('"?"', '{"price": 1.50}')).tasks

    asked = question_of(task, "Größe \ud800")

    assert json.loads(asked.text) == {
        "input": {"price": 1.5},
        "output": "Größe \ud800",
        "criteria": ["is polite", "is short"],
    }
    assert '"price":1.50' in asked.text  # a number stays as it was spelt
    assert asked.text.encode()


@pytest.mark.parametrize(
    ("answer", "judgement"),
    [
        pytest.param({"met": [True, False]}, Judgement((True, False)), id="met alone"),
        pytest.param(
            {
                "met": [True, True],
                "reasons": ["yes", "it does"],
                "usage": [USAGE],
                "evaluatorType": "human",
            },
            Judgement((True, True), ("yes", "it does"), (USAGE,), "human"),
            id="all there is",
        ),
    ],
)
def test_r14_an_answer_that_judges_each_criterion_is_a_judgement(
    answer: Any, judgement: Judgement
) -> None:
    assert read_answer(json.dumps(answer).encode(), QUESTION) == judgement


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        pytest.param(b"yes", "answer:1: no JSON: ", id="no JSON"),
        pytest.param(b"\xff", "answer:1: the text is not UTF-8", id="no UTF-8"),
        pytest.param(b"[true, false]", "answer: ", id="no object"),
        pytest.param(b"{}", "answer /met: the key 'met' is missing", id="no judgement"),
        pytest.param(b'{"met": ["yes", "no"]}', "answer /met/0: ", id="words for booleans"),
        pytest.param(b'{"met": [1, 0]}', "answer /met/0: ", id="numbers for booleans"),
        pytest.param(b'{"met": [true, null]}', "answer /met/1: ", id="one left open"),
        pytest.param(b'{"mets": [true, true]}', "unknown key 'mets'; did you mean", id="misspelt"),
        pytest.param(
            b'{"met": [true, true], "usage": [{"model": "m"}]}', "/usage/0/provider", id="usage"
        ),
    ],
)
def test_any_other_answer_is_none_and_is_not_repeated_in_what_is_recorded(
    answer: bytes, detail: str
) -> None:
    found = read_answer(answer, QUESTION)

    assert isinstance(found, NoJudgement)
    assert found.why == "its answer is not of the form that was asked for"
    assert detail in found.detail


def test_an_answer_for_fewer_criteria_is_no_judgement_and_was_paid_for_all_the_same() -> None:
    answer = json.dumps({"met": [True], "usage": [USAGE]})

    assert read_answer(answer, QUESTION) == NoJudgement(
        "it judged 1 criteria, and was asked for 2", usage=(USAGE,)
    )
