"""A bracket while it is read: calls, returns, misses, and what stays open."""

from collections.abc import Callable
from functools import partial

import pytest

from sidecar.cassette.arguments import ABSENT
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.evidence import Bracket, TrialEvidence
from sidecar.grading.usage import Usage
from sidecar.suite.events import ToolCall, ToolReturn
from sidecar.suite.payloads import EvalScored, InvocationCompleted, ProviderUsage
from tests.grading import told

DONE = InvocationCompleted(invocation_id="i", agent_id="a", outcome="completed")
SCORED = EvalScored(task_id="t", score=1, passed=True)


def called(call_id: str = "c", tool: str = "x:y") -> ToolCall:
    return ToolCall("a", tool, call_id, {"n": 1})


def returned(call_id: str = "c", code: str | None = None, *, live: bool = False) -> ToolReturn:
    return ToolReturn("a", "x:y", call_id, code, live)


def bracket(
    *events: ToolCall | ToolReturn, completed: InvocationCompleted | None = DONE
) -> Bracket:
    made = Bracket("i")
    for sequence, event in enumerate(events):
        if isinstance(event, ToolCall):
            made.call(event, sequence)
        else:
            made.answer(event, sequence)
    made.completed = completed
    return made


def test_a_whole_bracket_is_its_calls() -> None:
    made = bracket(called(), returned())
    made.use(ProviderUsage(provider="p", model="m", input_tokens=1, output_tokens=2))

    assert made.evidence(SCORED) == TrialEvidence(
        calls=(ObservedCall("x:y", {"n": 1}, "a", 0),),
        outcome="completed",
        output=ABSENT,
        usage=Usage(1, 1, 2, None),
        scored=SCORED,
    )


def test_output_and_failure_are_read_from_our_own_extensions() -> None:
    done = InvocationCompleted.model_validate(
        {
            "invocationId": "i",
            "agentId": "a",
            "outcome": "failed",
            "x-sidecar-output": None,
            "x-sidecar-failure": "timed out after 600 s",
        }
    )
    evidence = bracket(completed=done).evidence(None)

    assert (evidence.outcome, evidence.output, evidence.failure) == (
        "failed",
        None,
        "timed out after 600 s",
    )


@pytest.mark.parametrize("failure", [7, None, {"a": 1}])
def test_a_failure_that_is_no_text_is_none(failure: object) -> None:
    done = InvocationCompleted.model_validate(
        {"invocationId": "i", "agentId": "a", "outcome": "failed", "x-sidecar-failure": failure}
    )

    assert bracket(completed=done).evidence(None).failure is None


def test_parallel_calls_are_paired_by_their_ids() -> None:
    evidence = bracket(called("c1"), called("c2"), returned("c2"), returned("c1")).evidence(None)

    assert evidence.defects == ()
    assert len(evidence.calls) == 2


@pytest.mark.parametrize(
    ("events", "misses", "closed"),
    [
        pytest.param([returned("c2", "sidecar.fixture_miss")], (1,), True, id="failed closed"),
        pytest.param([returned("c2", live=True)], (1,), False, id="answered live"),
        pytest.param([returned("c2", "mcp_error")], (), False, id="R41 an error is no miss"),
        pytest.param(
            [returned("c2", "sidecar.fixture_miss"), returned("c1", live=True)],
            (0, 1),
            True,
            id="both, by place",
        ),
    ],
)
def test_misses_are_told_by_the_returns(
    events: list[ToolReturn], misses: tuple[int, ...], *, closed: bool
) -> None:
    evidence = bracket(called("c1"), called("c2"), *events).evidence(None)

    assert (evidence.misses, evidence.failed_closed) == (misses, closed)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param(
            partial(bracket, called()),
            ["step 1 (x:y) has no return in the log"],
            id="an unpaired call",
        ),
        pytest.param(
            partial(bracket, called("c"), called("c"), returned("c")),
            ["step 2 (x:y) has no return in the log"],
            id="one return for two calls of one id",
        ),
        pytest.param(
            partial(bracket, returned()),
            ["x:y returned (event 0) without having been called"],
            id="a return without a call",
        ),
        pytest.param(
            partial(bracket, called(), returned(), returned()),
            ["x:y returned (event 2) without having been called"],
            id="two returns",
        ),
        pytest.param(
            partial(bracket, completed=None),
            ["the bracket i is not closed before its score"],
            id="an unclosed bracket",
        ),
    ],
)
def test_what_is_missing_is_named(made: Callable[[], Bracket], said: list[str]) -> None:
    assert told.texts(made().evidence(None).defects) == said


def test_a_call_is_kept_with_its_place_in_the_log() -> None:
    made = Bracket("i")
    made.call(called(), 7)

    assert made.evidence(None).calls == (ObservedCall("x:y", {"n": 1}, "a", 7),)


def test_only_so_many_unpaired_calls_are_named() -> None:
    made = bracket(*(called(f"c{at}") for at in range(100)))

    assert len(made.evidence(None).defects) == 20
