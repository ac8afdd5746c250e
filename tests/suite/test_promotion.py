"""Recorded runs as tasks."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.arguments import ABSENT
from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.matcher import Hit, Matcher
from sidecar.errors import PromotionError, SuiteError, UsageError
from sidecar.suite.additions import with_task
from sidecar.suite.fixtures import compiled
from sidecar.suite.loosening import IgnoredArgument
from sidecar.suite.model_base import wire_value
from sidecar.suite.promotion import (
    CANCELLED_TEXT,
    FORBIDDEN_TEXT,
    UNANSWERED_TEXT,
    Promoted,
    promoted,
)
from sidecar.suite.wanted import Recording, Wanted
from sidecar.wire.json_text import Number, dump, parse
from tests.suite.recordings import (
    NoMasks,
    call,
    failed_call,
    recording,
    request,
    text_result,
    unanswered,
)

LOG = call("git:log", {"n": 3}, text_result("three commits"))
SHOW = call("git:show", {"rev": "main"}, text_result("a commit"))
SURFACE = request("git", "tools/list", {"tools": []})


def promote(
    *interactions: Interaction,
    output: str | None = "the answer",
    question: Any = "the question",
    complete: bool = True,
    doubts: tuple[str, ...] = (),
    **wanted: Any,
) -> Promoted:
    cassette = recording(*interactions, complete=complete)
    source = Recording(cassette, "checkout", question, output, doubts)
    return promoted(source, Wanted("a-task", **wanted))


def task(*interactions: Interaction, **more: Any) -> dict[str, Any]:
    return wire_value(promote(*interactions, **more).task)


def remarks(*interactions: Interaction, code: str, **more: Any) -> list[str]:
    found = promote(*interactions, **more).remarks
    return [remark.text for remark in found if remark.code == code]


def test_a_run_becomes_a_task_with_its_answers_its_path_and_its_output() -> None:
    assert task(SURFACE, LOG, SHOW, forbidden=("git:reset",)) == {
        "taskId": "a-task",
        "input": "the question",
        "expected": {
            "kind": "golden",
            "match": {"strategy": "exact", "value": "the answer"},
            "trajectory": {
                "match": "in-order",
                "calls": [
                    {"tool": "git:log", "args": {"n": 3}, "argsMatch": "exact"},
                    {"tool": "git:show", "args": {"rev": "main"}, "argsMatch": "exact"},
                ],
                "forbidden": ["git:reset"],
            },
        },
        "fixtures": {
            "toolResponses": [
                {
                    "tool": "git:log",
                    "args": {"n": 3},
                    "argsMatch": "exact",
                    "response": text_result("three commits"),
                },
                {
                    "tool": "git:show",
                    "args": {"rev": "main"},
                    "argsMatch": "exact",
                    "response": text_result("a commit"),
                },
                {
                    "tool": "git:reset",
                    "argsMatch": "ignore",
                    "response": FORBIDDEN_TEXT,
                    "isError": True,
                },
            ],
            "onMiss": "fail",
        },
    }


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), min_size=1))
def test_r04_entries_and_calls_stand_in_recorded_order(calls: list[tuple[str, int]]) -> None:
    found = task(*(call(f"s:{tool}", {"x": number}) for tool, number in calls))

    expected = [(f"s:{tool}", {"x": number}) for tool, number in calls]
    entries = found["fixtures"]["toolResponses"]
    path = found["expected"]["trajectory"]["calls"]
    assert [(entry["tool"], entry["args"]) for entry in entries] == expected
    assert [(one["tool"], one["args"]) for one in path] == expected


def test_r02_equal_calls_are_both_kept() -> None:
    polled = [call("ci:status", {}, text_result(state)) for state in ("pending", "done")]

    entries = task(*polled)["fixtures"]["toolResponses"]

    assert [entry["response"] for entry in entries] == [
        text_result("pending"),
        text_result("done"),
    ]


def test_numbers_keep_their_spelling() -> None:
    paid = Interaction(
        "bank",
        "tools/call",
        '{"name":"pay","arguments":{"sum":1.50}}',
        Response("result", '{"content":[],"structuredContent":{"left":1e2}}'),
    )

    (entry,) = task(paid)["fixtures"]["toolResponses"]

    assert entry["args"] == {"sum": Number("1.50")}
    assert dump(entry["response"]) == '{"content":[],"structuredContent":{"left":1e2}}'


def test_r43_a_tool_error_is_an_error_entry_as_it_was_recorded() -> None:
    (entry,) = task(failed_call("git:show", {"rev": "v1"}))["fixtures"]["toolResponses"]

    assert entry == {
        "tool": "git:show",
        "args": {"rev": "v1"},
        "argsMatch": "exact",
        "response": text_result("no such thing", isError=True),
        "isError": True,
    }


def test_r43_a_json_rpc_error_is_an_error_entry_with_the_payload_as_text() -> None:
    refused = call("git:show", {}, error={"code": -32602, "message": "no", "data": {"a": 1}})

    (entry,) = task(refused)["fixtures"]["toolResponses"]

    assert entry["isError"] is True
    assert json.loads(entry["response"]) == {"code": -32602, "message": "no", "data": {"a": 1}}
    assert remarks(refused, code="rpc-error") == [
        "call 1 (git:show) was answered by a JSON-RPC error; a fixture can only serve it as a "
        "tool error"
    ]


@pytest.mark.parametrize("result", [{"isError": True}, {"isError": True, "content": None}])
def test_r42_a_result_without_content_is_served_as_one_with_none(result: Any) -> None:
    (entry,) = task(call("raw:fail", {}, result))["fixtures"]["toolResponses"]

    assert (entry["response"], entry["isError"]) == ({"isError": True, "content": []}, True)


def test_a_call_of_several_rounds_is_one_call_with_its_final_answer() -> None:
    first = call("trips:book", {"day": 1}, {"resultType": "input_required", "requestState": "s"})
    params = {"name": "book", "arguments": {"day": 1}, "requestState": "s", "inputResponses": {}}
    last = first._replace(
        params=json.dumps(params), response=Response("result", json.dumps(text_result("booked")))
    )

    found = task(first, last)

    assert [entry["response"] for entry in found["fixtures"]["toolResponses"]] == [
        text_result("booked")
    ]
    assert len(found["expected"]["trajectory"]["calls"]) == 1


def test_what_a_server_asks_during_a_call_is_reported_as_not_replayed() -> None:
    asked = Passage("sampling/createMessage", "{}", asked=True)

    assert remarks(call("git:log", {}, during=(asked,)), code="asked") == [
        "call 1 (git:log) asked the client for something while it ran; a fixture only gives its "
        "result"
    ]


def test_calls_that_ran_at_the_same_time_are_told() -> None:
    source = Recording(recording(SURFACE, LOG, SHOW), "x", spans=((0, 1), (2, 5), (3, 4)))

    found = promoted(source, Wanted("a-task")).remarks

    assert [one.code for one in found if one.code == "parallel"] == ["parallel"]


class TestIncompleteRuns:
    @pytest.mark.parametrize(
        ("calls", "more", "reason"),
        [
            pytest.param(
                [LOG, unanswered(SHOW)], {}, "call 2 (git:show) was never answered", id="P01 open"
            ),
            pytest.param(
                [LOG, unanswered(SHOW, cancelled=True)],
                {},
                "call 2 (git:show) was cancelled",
                id="P01 cancelled",
            ),
            pytest.param(
                [call("git:log", {}, {"resultType": "input_required", "requestState": "s"})],
                {},
                "call 1 (git:log) asked for input and never got it",
                id="P01 a round short",
            ),
            pytest.param(
                [LOG],
                {"complete": False},
                "its recording is not complete: the agent or a server did not end in order",
                id="R22 cut off",
            ),
            pytest.param(
                [LOG],
                {"complete": False, "doubts": ("the agent ended with exit code 3",)},
                "the agent ended with exit code 3",
                id="P01 the agent failed",
            ),
        ],
    )
    def test_are_refused_with_the_reason_and_taken_only_when_told_so(
        self, calls: list[Interaction], more: dict[str, Any], reason: str
    ) -> None:
        with pytest.raises(PromotionError) as refused:
            promote(*calls, **more)

        assert str(refused.value) == (
            f"checkout: the run is not fit to become a task: {reason}; record it again, or give "
            "--allow-incomplete to take it as it is"
        )
        assert promote(*calls, **more, allows_incomplete=True).task.task_id == "a-task"

    def test_tell_all_their_reasons(self) -> None:
        with pytest.raises(PromotionError) as refused:
            promote(unanswered(LOG), unanswered(SHOW), doubts=("a doubt",))

        assert refused.value.problem == (
            "the run is not fit to become a task: a doubt; call 1 (git:log) was never answered; "
            "call 2 (git:show) was never answered"
        )

    @pytest.mark.parametrize(
        ("cancelled", "text"),
        [
            pytest.param(False, UNANSWERED_TEXT, id="never answered"),
            pytest.param(True, CANCELLED_TEXT, id="cancelled"),
        ],
    )
    def test_serve_what_was_not_answered_as_an_error_when_they_are_taken(
        self, *, cancelled: bool, text: str
    ) -> None:
        found = task(unanswered(LOG, cancelled=cancelled), allows_incomplete=True)

        assert found["fixtures"]["toolResponses"] == [
            {
                "tool": "git:log",
                "args": {"n": 3},
                "argsMatch": "exact",
                "response": text,
                "isError": True,
            }
        ]

    @pytest.mark.parametrize("allowed", [False, True])
    def test_a_run_without_calls_is_always_refused(self, *, allowed: bool) -> None:
        with pytest.raises(PromotionError, match="the run called no tool"):
            promote(SURFACE, allows_incomplete=allowed)


class TestRetriedCalls:
    RUN = (
        failed_call("git:show", {"rev": "v1.0"}),
        LOG,
        call("git:show", {"rev": "release-1.0"}),
    )

    def test_p01_are_listed_and_kept(self) -> None:
        assert remarks(*self.RUN, code="retried") == [
            "call 1 (git:show) failed, and worked later: it stays in the expected path; "
            "--drop-retried leaves such calls out"
        ]
        assert len(task(*self.RUN)["expected"]["trajectory"]["calls"]) == 3

    def test_p01_leave_the_path_but_not_the_fixtures_when_the_user_says_so(self) -> None:
        found = task(*self.RUN, drops_retried=True)

        assert [one["tool"] for one in found["expected"]["trajectory"]["calls"]] == [
            "git:log",
            "git:show",
        ]
        assert len(found["fixtures"]["toolResponses"]) == 3
        assert remarks(*self.RUN, code="retried", drops_retried=True) == [
            "call 1 (git:show) failed, and worked later: it left the expected path, and its "
            "fixture stays"
        ]

    @pytest.mark.parametrize(
        "run",
        [
            pytest.param([failed_call("git:show")], id="never tried again"),
            pytest.param([call("git:show"), failed_call("git:show")], id="failed at the end"),
            pytest.param([failed_call("git:show"), call("hg:show")], id="another server"),
            pytest.param([failed_call("git:show"), failed_call("git:show")], id="failed twice"),
        ],
    )
    def test_are_those_alone_that_worked_later(self, run: list[Interaction]) -> None:
        assert remarks(*run, code="retried") == []


class TestMaskedArguments:
    LOGIN = call("shop:login", {"user": "ada", "key": "[REDACTED:1]"}, text_result("welcome"))

    def test_p02_leave_fixture_and_path_and_are_reported(self) -> None:
        found = task(self.LOGIN)

        expected = {"tool": "shop:login", "args": {"user": "ada"}, "argsMatch": "subset"}
        (entry,) = found["fixtures"]["toolResponses"]
        assert entry == {**expected, "response": text_result("welcome")}
        assert found["expected"]["trajectory"]["calls"] == [expected]
        assert remarks(self.LOGIN, code="masked") == [
            "call 1 (shop:login): a secret is masked at /key, so it is not compared"
        ]

    def test_p02_that_are_masked_whole_are_not_compared_at_all(self) -> None:
        whole = self.LOGIN._replace(params='{"name":"login","arguments":["[REDACTED:1]"]}')

        (entry,) = task(whole)["fixtures"]["toolResponses"]

        assert entry == {
            "tool": "shop:login",
            "argsMatch": "ignore",
            "response": text_result("welcome"),
        }

    def test_p02_a_masked_answer_is_served_as_it_is(self) -> None:
        told = call("shop:token", {}, text_result("[REDACTED:1]"))

        (entry,) = task(told)["fixtures"]["toolResponses"]

        assert entry["response"] == text_result("[REDACTED:1]")


class TestIgnoredArguments:
    def test_leave_fixture_and_path_of_that_tool_alone(self) -> None:
        other = call("git:blame", {"n": 3})

        found = task(LOG, other, ignored=(IgnoredArgument("git:log", "/n"),))

        assert [
            (one.get("args"), one["argsMatch"]) for one in found["expected"]["trajectory"]["calls"]
        ] == [(None, "ignore"), ({"n": 3}, "exact")]
        assert [
            (one.get("args"), one["argsMatch"]) for one in found["fixtures"]["toolResponses"]
        ] == [(None, "ignore"), ({"n": 3}, "exact")]

    @pytest.mark.parametrize(
        ("tool", "hint"),
        [
            pytest.param("git:log", "arguments of git:log: n", id="another member"),
            pytest.param("git:lgo", "the run calls git:log, git:show", id="another tool"),
        ],
    )
    def test_that_no_call_has_are_refused_with_those_there_are(self, tool: str, hint: str) -> None:
        with pytest.raises(UsageError) as refused:
            promote(LOG, SHOW, ignored=(IgnoredArgument(tool, "/max"),))

        assert str(refused.value) == f"--ignore-arg {tool}:/max is in no call of the run; {hint}"


class TestTrajectory:
    @pytest.mark.parametrize("mode", ["exact", "in-order", "any-order", "subset"])
    def test_is_compared_as_wanted(self, mode: Any) -> None:
        assert task(LOG, trajectory=mode)["expected"]["trajectory"]["match"] == mode

    def test_is_left_out_when_none_is_wanted(self) -> None:
        assert task(LOG, trajectory=None)["expected"] == {
            "kind": "golden",
            "match": {"strategy": "exact", "value": "the answer"},
        }

    def test_r9_forbidden_tools_alone_are_a_path_without_calls(self) -> None:
        found = task(LOG, trajectory=None, forbidden=("git:reset", "git:reset"))

        assert found["expected"]["trajectory"] == {
            "match": "in-order",
            "calls": [],
            "forbidden": ["git:reset"],
        }

    def test_cannot_forbid_what_the_run_itself_calls(self) -> None:
        with pytest.raises(PromotionError, match="the run itself calls git:log"):
            promote(LOG, forbidden=("git:log",))

    def test_cannot_forbid_a_tool_without_its_server(self) -> None:
        with pytest.raises(UsageError, match="write SERVER:TOOL, such as git:git_reset"):
            promote(LOG, forbidden=("reset",))

    def test_a_forbidden_tool_of_a_server_that_was_not_there_is_reported(self) -> None:
        assert remarks(LOG, code="forbidden", forbidden=("gti:reset", "git:reset")) == [
            "--forbid gti:reset: the recording has no server of that name"
        ]


class TestInput:
    def test_is_what_the_run_was_given(self) -> None:
        assert task(LOG, question={"a": [1]})["input"] == {"a": [1]}
        assert task(LOG, question=None)["input"] is None
        assert remarks(LOG, code="input", question=None) == []

    def test_is_null_and_reported_where_it_is_not_known(self) -> None:
        assert task(LOG, question=ABSENT)["input"] is None
        assert remarks(LOG, code="input", question=ABSENT) == [
            "the agent's input is not known, and is null; give it with --input"
        ]

    def test_that_holds_a_mask_is_reported(self) -> None:
        assert remarks(LOG, code="input", question="use [REDACTED:1]") == [
            "a secret is masked in the input, and the agent will see the mask"
        ]


def test_a_task_id_that_is_none_is_refused() -> None:
    with pytest.raises(SuiteError, match="taskId"):
        promoted(Recording(recording(LOG), "checkout"), Wanted("Not An Id"))


def test_a_result_too_deep_to_read_is_refused_by_its_call() -> None:
    deep = LOG._replace(response=Response("result", "[" * 100_000 + "]" * 100_000))

    with pytest.raises(PromotionError, match=r"the result of call 1 \(git:log\) nests too deep"):
        promote(deep)


_CALLS = st.lists(
    st.tuples(
        st.sampled_from(["s:a", "s:b", "t:a"]),
        st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2),
        st.text(max_size=3),
    ),
    min_size=1,
    max_size=6,
)


@given(_CALLS)
def test_the_fixtures_of_a_run_answer_its_calls_again(
    calls: list[tuple[str, dict[str, Any], str]],
) -> None:
    run = [call(tool, arguments, text_result(text)) for tool, arguments, text in calls]
    suite = with_task(
        None, promote(*run).task, suite_id="local.evals.a", replaces=False, place="a.json"
    ).suite
    matcher = Matcher(compiled(suite, suite.tasks[0], None).interactions, NoMasks())

    for one in run:
        hit = matcher.take(one.server, one.method, one.params)
        assert isinstance(hit, Hit)
        assert hit.interaction.response is not None
        assert one.response is not None
        assert parse(hit.interaction.response.text) == parse(one.response.text)
    assert matcher.leftover() == ()


def test_a_server_whose_name_holds_a_colon_is_refused() -> None:
    with pytest.raises(PromotionError, match="holds a colon"):
        promote(LOG._replace(server="plugin:git"))
