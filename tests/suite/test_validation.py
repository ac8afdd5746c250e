"""Errors that a person can act on: place, rule, and what was probably meant."""

import json

import pytest

from sidecar.errors import SuiteError
from sidecar.suite.documents import parse_suite, suite_problems
from sidecar.suite.validation import Problem
from tests.eval_data import Json, call, golden, path_only, suite, task, trajectory


def text_of(value: Json) -> str:
    return json.dumps(value, indent=2)


def misspelt(**wrong: Json) -> str:
    good = trajectory("in-order", call("a:b", {"x": 1}, "exact"))
    return text_of(suite(task(expected=golden(trajectory={**good, **wrong}))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(misspelt(match="in_order"), "did you mean 'in-order'?", id="G08 in_order"),
        pytest.param(misspelt(match="InOrder"), "did you mean 'in-order'?", id="G08 InOrder"),
        pytest.param(misspelt(match="superset"), "did you mean 'any-order'?", id="G16 superset"),
        pytest.param(misspelt(match="strict"), "did you mean 'exact'?", id="strict"),
        pytest.param(misspelt(forbiden=["a:x"]), "did you mean 'forbidden'?", id="G08 forbiden"),
        pytest.param(
            misspelt(calls=[call("a:b", {"x": 1}, "Exact")]),
            "did you mean 'exact'?",
            id="G08 Exact",
        ),
        pytest.param(
            misspelt(calls=[{"tool": "a:b", "argmatch": "exact"}]),
            "did you mean 'argsMatch'?",
            id="argmatch",
        ),
        pytest.param(text_of(suite(moods=["golden"])), "did you mean 'modes'?", id="moods"),
        pytest.param(
            text_of(suite({"taskId": "t", "input": 1, "expcted": golden()})),
            "unknown key 'expcted'; did you mean 'expected'?",
            id="G07 expcted: it is not also reported as missing",
        ),
        pytest.param(
            text_of(suite(trials={"count": 1, "zzz": 1})),
            "unknown key 'zzz'; allowed here: count, k, passRule",
            id="nothing close: what is allowed",
        ),
        pytest.param(
            text_of(
                suite(task(expected=path_only("exact", {"tool": "a:b", "tool-not-used": "c:d"})))
            ),
            "unknown key 'tool-not-used'",
            id="G08 a plausible assertion that does not exist",
        ),
    ],
)
def test_a_misspelt_word_is_told_what_was_meant(text: str, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        parse_suite(text)

    assert said in str(refused.value)


def test_an_error_names_file_line_and_pointer() -> None:
    text = text_of(suite(task(expected=golden(trajectory=trajectory("in_order")))))
    line = text[: text.index('"in_order"')].count("\n") + 1

    with pytest.raises(SuiteError) as refused:
        parse_suite(text, name="suites/x.json")

    assert refused.value.place == f"suites/x.json:{line} /tasks/0/expected/trajectory/match"


def test_the_first_problem_is_told_and_the_others_are_counted() -> None:
    with pytest.raises(SuiteError, match=r"\(and 1 more problem\)"):
        parse_suite(text_of(suite(version="1", trials={"count": 0})))
    with pytest.raises(SuiteError, match=r"\(and 2 more problems\)"):
        parse_suite(text_of(suite(version="1", trials={"count": 0}, owner=1)))


@pytest.mark.parametrize(
    ("key", "wrong"), [("suiteId", "checkout"), ("version", "1.0"), ("taskId", "Refund")]
)
def test_what_has_a_pattern_is_told_with_an_example_that_is_right(key: str, wrong: str) -> None:
    def with_value(value: str) -> str:
        return text_of(suite(task(value)) if key == "taskId" else suite(**{key: value}))

    (problem,) = suite_problems(with_value(wrong))

    assert problem.message.startswith(f"{wrong!r} does not match ^")
    word, _, example = problem.hint.rpartition(" ")
    assert word == "for example"
    assert suite_problems(with_value(example)) == ()
    with pytest.raises(SuiteError, match=f"; for example {example}$"):
        parse_suite(with_value(wrong))


def test_all_problems_can_be_listed() -> None:
    text = text_of(suite(task(expected={"kind": "golden"}), version="1", trials={"k": 2}))

    assert [(one.code, one.pointer) for one in suite_problems(text)] == [
        ("pattern", "/version"),
        ("V3", "/trials/k"),
        ("V4", "/tasks/0/expected/match"),
    ]


def test_a_good_suite_has_no_problem_and_nulls_are_listed() -> None:
    assert suite_problems(text_of(suite())) == ()
    assert suite_problems(text_of(suite(trials=None))) == (
        Problem("null", "/trials", "null is no value here", "leave the key out"),
    )


def test_a_document_that_is_no_object_is_refused() -> None:
    with pytest.raises(SuiteError, match="suite:1"):
        parse_suite("[]")


def deep(levels: int) -> str:
    return text_of(suite()).replace('"do it"', "[" * levels + "]" * levels)


def test_what_nests_too_deep_is_refused() -> None:
    assert parse_suite(deep(300)).tasks[0].task_id == "task"
    with pytest.raises(SuiteError, match="deeper than 300 levels"):
        parse_suite(deep(301))
    with pytest.raises(SuiteError, match="deeper"):
        parse_suite(deep(20_000))


@pytest.mark.parametrize(
    ("match", "said"),
    [
        pytest.param([[1]], "a list is none of", id="a list"),
        pytest.param({"a": 1}, "an object is none of", id="an object"),
        pytest.param("x" * 500, "'" + "x" * 118 + "… is none of", id="a long text"),
        pytest.param(True, "True is none of", id="a boolean"),
    ],
)
def test_a_wrong_value_is_shown_short(match: Json, said: str) -> None:
    with pytest.raises(SuiteError) as refused:
        parse_suite(misspelt(match=match))

    assert said in str(refused.value)
