"""Lints: each code on a suite that has it, and none on one that has not."""

import json
from collections.abc import Iterator

import pytest

from sidecar.suite.documents import parse_suite, suite_from_json
from sidecar.suite.lints import lint_suite
from sidecar.suite.model import AgentEvalSuite
from tests.eval_data import Json, call, golden, path_only, rubric, suite, task, trajectory

BAR = {"passScore": 0.9}
TRAJECTORY = "/tasks/0/expected/trajectory"
FIXTURES = "/tasks/0/fixtures/toolResponses"


def read(*tasks: Json, **more: Json) -> AgentEvalSuite:
    return suite_from_json(suite(*tasks, **{"thresholds": BAR, **more}))


def found(*tasks: Json, **more: Json) -> list[tuple[str, str]]:
    return [(lint.code, lint.pointer) for lint in lint_suite(read(*tasks, **more))]


def with_calls(mode: str, *calls: Json, **more: Json) -> Json:
    return task(expected=golden(trajectory=trajectory(mode, *calls, **more)))


def with_entries(*entries: Json) -> Json:
    return task(fixtures={"toolResponses": list(entries), "onMiss": "fail"})


def test_a_suite_as_promote_writes_it_has_no_lint() -> None:
    exact = call("crm:lookup", {"id": "c-1", "deep": {"list": [1]}}, "exact")
    recorded = task(
        expected=golden(trajectory=trajectory("in-order", exact, forbidden=["billing:refund-all"])),
        fixtures={
            "toolResponses": [
                {**exact, "response": {"content": [], "isError": True}, "isError": True},
                {**exact, "response": {"content": [], "isError": False}},
            ],
            "onMiss": "fail",
        },
    )

    assert found(recorded) == []


@pytest.mark.parametrize(
    ("linted", "expected"),
    [
        pytest.param(
            task(expected={**golden(), "rubric": rubric(1)["rubric"]}),
            [("V5", "/tasks/0/expected/rubric")],
            id="V5 golden with a rubric",
        ),
        pytest.param(
            task(expected={**rubric(1), "match": golden()["match"]}),
            [("V5", "/tasks/0/expected/match")],
            id="V5 rubric with a match",
        ),
        pytest.param(
            with_calls("exact", call("a:b", {"x": 1})),
            [("V8", f"{TRAJECTORY}/calls/0/args")],
            id="V8 G16 args of a call are not compared",
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 1})),
            [("V8", f"{FIXTURES}/0/args")],
            id="V8 args of an entry are not compared",
        ),
        pytest.param(
            with_calls("exact", call("a:b", {"x": 1}, "ignore")), [], id="V8 ignore by intent"
        ),
        pytest.param(
            with_calls("exact", call("a:b"), forbidden=["x:y", "a:b"]),
            [("V9", f"{TRAJECTORY}/forbidden/1")],
            id="V9 expected and forbidden",
        ),
        pytest.param(
            with_calls("subset", call("a:b")), [("V10", f"{TRAJECTORY}/match")], id="V10 golden"
        ),
        pytest.param(
            task(expected=path_only("subset", call("a:b"))),
            [("V10", f"{TRAJECTORY}/match")],
            id="V10 trajectory",
        ),
        pytest.param(
            task(expected=rubric(1, trajectory=trajectory("subset", call("a:b")))),
            [],
            id="V10 not with a judge",
        ),
        pytest.param(
            task(expected=rubric(0.5, 0.4)),
            [("rubric-weights", "/tasks/0/expected/rubric")],
            id="R14 weights do not sum to 1",
        ),
        pytest.param(
            task(expected=rubric(0, 0)),
            [("rubric-weights", "/tasks/0/expected/rubric")],
            id="R14 weights of 0",
        ),
        pytest.param(task(expected=rubric(*[0.1] * 10)), [], id="R14 R32 ten tenths are 1"),
        pytest.param(
            with_entries({"tool": "a:b", "response": {"isError": True}}),
            [("response-is-error", f"{FIXTURES}/0/response")],
            id="R42 error served as success",
        ),
        pytest.param(
            with_entries(call("a:b"), call("a:b", {"x": 1}, "exact")),
            [("shadowed-fixture", f"{FIXTURES}/1")],
            id="R36 F1 ignore before exact",
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 2}, "exact"), call("a:b")), [], id="R36 F2 exact first"
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 1}, "subset"), call("a:b", {"x": 1, "y": 2}, "subset")),
            [("shadowed-fixture", f"{FIXTURES}/1")],
            id="subset before a narrower subset",
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 1}, "subset"), call("a:b", {"x": 1, "y": 2}, "exact")),
            [("shadowed-fixture", f"{FIXTURES}/1")],
            id="subset before exact",
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 1}, "subset"), call("a:b", {"x": 1.0}, "subset")),
            [],
            id="two equal entries are a sequence",
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 1}, "subset"), call("a:b", {"x": 2}, "exact")),
            [],
            id="other arguments are not shadowed",
        ),
        pytest.param(
            with_entries(call("a:b"), call("a:c", {"x": 1}, "exact"), call("a:b")),
            [],
            id="other tools are not shadowed",
        ),
        pytest.param(
            with_entries(call("a:b", {"x": 1}, "subset"), call("a:b")), [], id="looser comes last"
        ),
        pytest.param(
            with_entries(call("a:b", [1], "exact")),
            [("never-matches", f"{FIXTURES}/0/args")],
            id="arguments that no MCP call has",
        ),
        pytest.param(
            with_calls("exact", call("lookup")),
            [("tool-name", f"{TRAJECTORY}/calls/0/tool")],
            id="R4 a name without its server",
        ),
        pytest.param(
            with_entries(call(":lookup"), call("a:")),
            [("tool-name", f"{FIXTURES}/0/tool"), ("tool-name", f"{FIXTURES}/1/tool")],
            id="R4 a server or a tool without a name",
        ),
        pytest.param(
            with_calls("exact", call("a:b", {"x": [1], "y": {"z": {}}, "q": {"r": 1}}, "subset")),
            [
                ("open-reading", f"{TRAJECTORY}/calls/0/args/x"),
                ("open-reading", f"{TRAJECTORY}/calls/0/args/y/z"),
            ],
            id="R5b R5c arrays and nested {} under subset",
        ),
        pytest.param(
            with_calls("exact", call("a:b", {}, "subset")), [], id="R5c {} at the top is plain"
        ),
        pytest.param(
            with_calls("exact", call("a:b", 7, "subset")),
            [("open-reading", f"{TRAJECTORY}/calls/0/args")],
            id="R5d a scalar under subset",
        ),
        pytest.param(
            with_calls(
                "exact", call("a:b", {"n": [2**53 - 1, 2**53, -(2**53)], "t": True}, "exact")
            ),
            [
                ("big-integer", f"{TRAJECTORY}/calls/0/args/n/1"),
                ("big-integer", f"{TRAJECTORY}/calls/0/args/n/2"),
            ],
            id="R7 integers beyond 2^53 - 1",
        ),
        pytest.param(
            task(expected=golden({"a/b": 2**60})),
            [("big-integer", "/tasks/0/expected/match/value/a~1b")],
            id="R7 in a golden value",
        ),
    ],
)
def test_a_lint_is_found_at_its_place(linted: Json, expected: list[tuple[str, str]]) -> None:
    assert found(linted) == expected


@pytest.mark.parametrize("spelt", ["9007199254740993.0", "1e400"])
def test_a_big_number_is_found_however_it_is_spelt(spelt: str) -> None:
    text = json.dumps(
        suite(with_calls("exact", call("a:b", {"n": "BIG"}, "exact")), thresholds=BAR)
    )
    lints = lint_suite(parse_suite(text.replace('"BIG"', spelt)))

    assert [lint.code for lint in lints] == ["big-integer"]
    assert spelt in lints[0].message


def test_a_missing_bar_is_told() -> None:
    assert [lint.code for lint in lint_suite(suite_from_json(suite()))] == ["no-pass-score"]
    assert found(thresholds={"maxCostUsd": 1}) == [("no-pass-score", "/thresholds")]


def test_fixtures_that_the_only_mode_ignores_are_told() -> None:
    assert found(with_entries(), modes=["live-shadow"]) == [("unused-fixtures", "/modes")]
    assert found(with_entries(), modes=["live-shadow", "golden"]) == []
    assert found(modes=["live-shadow"]) == []


def test_v11_a_secret_that_is_left_is_told() -> None:
    """V11: a suite carries no secrets."""

    def unmasked(value: Json) -> Iterator[tuple[str, str]]:
        if "sk-123" in str(value):
            yield "/input", "an API key"

    lints = lint_suite(read(task("one"), {**task("two"), "input": "sk-123"}), unmasked=unmasked)

    assert [(lint.code, lint.pointer) for lint in lints] == [("V11", "/tasks/1/input")]
    assert lints[0].message == "a secret seems to be left: an API key"


MASK = "Bearer [REDACTED:1]"


@pytest.mark.parametrize(
    ("how", "arguments", "places"),
    [
        pytest.param("exact", {"key": MASK, "n": 1}, ["/key"], id="a value"),
        pytest.param("subset", {"a": {"key": "[REDACTED]"}}, ["/a/key"], id="within a subset"),
        pytest.param("exact", {"list": [1, MASK]}, ["/list"], id="in an array"),
        pytest.param("ignore", {"key": MASK}, [], id="one that is not compared"),
        pytest.param("exact", {"key": "[REDACTED BY LAW]"}, [], id="no mask of ours"),
    ],
)
def test_p02_a_mask_that_is_compared_is_told(how: str, arguments: Json, places: list[str]) -> None:
    lints = found(with_calls("in-order", call("crm:lookup", arguments, how)))

    assert lints == [("masked-argument", f"{TRAJECTORY}/calls/0/args{place}") for place in places]


def test_p02_a_mask_in_a_fixture_fits_any_value() -> None:
    entry = call("crm:lookup", {"key": MASK}, "exact")

    assert found(with_entries({**entry, "response": "hi"})) == []


def test_every_lint_says_what_is_the_matter() -> None:
    lints = lint_suite(read(with_calls("subset", call("lookup", {"x": 1}), forbidden=["lookup"])))

    assert [lint.code for lint in lints] == ["V10", "V9", "tool-name", "V8"]
    assert all(lint.message and lint.hint for lint in lints)
