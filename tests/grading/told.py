"""Reasons are read by their words, and each field of one has to say what its words say.

So a test that compares texts, or codes, holds every field: `texts` and `codes` check the
reasons against the shapes that their texts have.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sidecar.grading.reasons import Reason, named

_STEP = r"step (?P<step>\d+) \((?P<tool>[^)]*)\)"
_WANTED = r"expected call \d+ \((?P<tool>[^ )]+).*\)"
_DIFFERS = (
    r": (argument (?P<pointer>\S+)|all of it) (was (?P<seen>.*?)|is missing),"
    r" expected (no such argument|(?P<expected>.*?))( \(masked in .*?\))?(; .*)?"
)
_SCORE = r"(the recorded score|the judge found \d+ of \d+ criteria met; the score)"

_SHAPES = {
    # a path
    "arguments-differ": [_STEP + _DIFFERS],
    "other-call": [r"step (?P<step>\d+) called (?P<tool>\S+), expected (?P<expected>[^ ]+).*"],
    "unexpected-call": [
        rf"\d+ calls were made, \d+ expected: {_STEP} is beyond them",
        r"step (?P<step>\d+) called (?P<tool>\S+), which no expected call allows",
    ],
    "missing-call": [rf"(\d+ calls were made, \d+ expected: )?{_WANTED} was not made"],
    "out-of-order": [
        rf"{_WANTED} came too early, at step (?P<step>\d+):"
        r" it has to come after step \d+ \(.*\), which answers expected call \d+"
    ],
    "call-taken": [
        rf"{_WANTED} has no call of its own: step (?P<step>\d+) \(.*\)"
        r" already answers expected call \d+"
    ],
    "withheld": [
        rf"the arguments of {_STEP} cannot be read from the log"
        r"(: whether they match is unknown)?"
    ],
    "forbidden": [r"step (?P<step>\d+) called (?P<tool>\S+), which is forbidden"],
    "path-matched": [
        r"exactly the expected calls were made, in order: \d+ of \d+",
        r"all \d+ expected calls were made, in (any )?order, among \d+ calls",
        r"none of \d+ calls was beyond the \d+ expected ones",
    ],
    "none-forbidden": ["no forbidden tool was called"],
    # a trial
    "score-zero": [
        "a fixture miss makes the score 0",
        "an agent that failed scores 0",
        "the path did not match: the score is 0",
    ],
    "score-met": [
        "the path matched: the score is 1",
        rf"{_SCORE}, [\d.e-]+, meets the bar(; not met: .*)?",
    ],
    "score-below": [
        rf"{_SCORE}, (?P<seen>[\d.e-]+), is below the bar of (?P<expected>[\d.e-]+)(; not met: .*)?"
    ],
    "no-score": [
        "no score of the output was recorded",
        r"the recorded judgement is none of a rubric of \d+ criteria",
        r"no eval.scored follows bracket \S+( at once)?",
    ],
    "output-matched": [r"the output is as expected \((exact|contains|json-match)\)"],
    "output-differs": [
        "the output" + _DIFFERS,
        r"the output is (?P<seen>.*), expected (?P<expected>.*)",
        r"the output does not contain (?P<expected>.*); it is (?P<seen>.*)",
        r"the output is no JSON: (?P<seen>.*)",
        "the output nests too deep to be compared",
    ],
    "agent-failed": [r"the agent (failed|refused)(: .*)?"],
    "fixture-miss": [
        r"call (?P<step>\d+) of the trial \((?P<tool>.*)\) was answered by no fixture"
    ],
    "trial-twice": [
        "the log scores this trial more than once",
        r"task \S+, trial \d+ is scored twice",
    ],
    # a task
    "not-measured": [
        r"trials? [\d, ]+ of \d+: no score in the log",
        r"\d+ of \d+ tasks were not measured whole: .*",
    ],
    "rule-met": [r"\d+ of \d+ trials passed; (all|one) must", r"the mean gating score is .*"],
    "rule-not-met": [r"\d+ of \d+ trials passed; (all|one) must", r"the mean gating score is .*"],
    "identical-trials": [r"all \d+ trials made the same calls: they tell no more than one"],
    # a suite
    "nothing-measured": ["no trial of any task was measured"],
    "agents-failed": ["the agent failed in every trial"],
    "agents-broke-off": ["the agent broke off in every trial"],
    "no-calls": [
        r"no trial made any tool call, though tasks expect some:"
        r" was the agent given the sidecar's config\?"
    ],
    "below-bar": [
        r"the gating aggregate is (?P<seen>[\d.e-]+), below the bar of (?P<expected>[\d.e-]+)"
        r"( \(ungated it is [\d.e-]+\))?"
    ],
    "bar-met": [r"the gating aggregate is [\d.e-]+, the bar [\d.e-]+"],
    "cost-unknown": [r"(maxCostUsd|the host's ceiling) is .*, but what the run cost is unknown"],
    "too-dear": [
        r"the run cost (?P<seen>[\d.e-]+) US dollars, over"
        r" (maxCostUsd|the host's ceiling), (?P<expected>[\d.e-]+)"
    ],
    "latency-unknown": [r"maxP95LatencyMs is \d+, but how long trials took is unknown"],
    "too-slow": [
        r"the 95th percentile of latency is (?P<seen>\d+) ms, over maxP95LatencyMs,"
        r" (?P<expected>\d+)"
    ],
    # a log
    "unpaired-call": [rf"{_STEP} has no return in the log"],
    "unpaired-return": [r"\S+ returned \(event \d+\) without having been called"],
    "unclosed-bracket": [r"the bracket \S+ is not closed before its score"],
    "unopened-bracket": [r"the bracket \S+ closes unopened"],
    "unclear-bracket": [
        r"no eval.scored follows bracket \S+ at once: whose score this is cannot be told"
    ],
    "no-bracket": ["no invocation bracket of the target agent comes before its score"],
    "overlap": [r"the brackets \S+ and \S+( and \S+)* of one agent overlap"],
    "sequence-gap": [r"(event \d+ is|events \d+ to \d+ are) missing from the log"],
    "sequence-twice": [r"sequence \d+ is used by two events"],
    "event-twice": [r"event \d+ is in the log twice"],
    "stray-call": [r"\S+ was called outside every trial \(event \d+\)"],
    "twice": [r"the log has more than one eval.(started|completed)"],
    "no-eval-started": ["the log has no eval.started"],
    "no-eval-completed": ["the log has no eval.completed"],
    "other-agent": [r"no bracket is of the target agent, \S+; the first is of \S+"],
    "not-judged": [r"task \S+?(, trial \d+)? was not judged: .*"],
    "unknown-task": [r"the suite has no task \S+"],
    "no-trial-index": [r"a score of task \S+ has no trialIndex, of \d+ trials"],
    "extra-trial": [r"task \S+ has a trial \d+, of \d+ trials"],
}
"""The texts of each code; where step, tool, pointer, expected and seen stand in them."""


def texts(reasons: Sequence[Reason]) -> list[str]:
    """The texts of reasons whose other fields say what the texts say."""
    _check(reasons)
    return [reason.text for reason in reasons]


def codes(reasons: Sequence[Reason]) -> list[str]:
    """The codes of reasons whose other fields say what the codes say."""
    _check(reasons)
    return [reason.code for reason in reasons]


def _check(reasons: Sequence[Reason]) -> None:
    shown = [replace(one, tool=named(one.tool)) if one.tool else one for one in reasons]
    assert shown == [_as_told(one) for one in reasons]


def _as_told(reason: Reason) -> Reason:
    """The reason that a text tells of; of its code the shapes, of these the one that fits."""
    matches = [re.fullmatch(shape, reason.text) for shape in _SHAPES[reason.code]]
    found = next((match for match in matches if match), None)
    assert found is not None, reason
    facts: dict[str, Any] = found.groupdict()
    if "pointer" in facts:
        facts["pointer"] = facts["pointer"] or ""
    if reason.code == "other-call":
        facts["seen"] = facts["tool"]
    if "step" in facts:
        facts["step"] = int(facts["step"])
    if reason.text.startswith("the output is no JSON"):
        facts["expected"] = reason.expected  # which the text leaves out
    return Reason(reason.code, reason.text, **facts)
