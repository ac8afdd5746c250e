"""What the other graders say, through their own public interfaces."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from agentevals.trajectory.match import create_trajectory_match_evaluator
from google.adk.evaluation.eval_case import IntermediateData, Invocation
from google.adk.evaluation.eval_metrics import EvalMetric, ToolTrajectoryCriterion
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator
from google.genai import types
from inspect_ai.scorer import SampleScore, Score, pass_at, pass_k, stderr

Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""

AdkMode = Literal["EXACT", "IN_ORDER", "ANY_ORDER"]
ArgsMode = Literal["exact", "ignore", "subset", "superset"]


def adk(
    mode: AdkMode, expected: Sequence[Call], observed: Sequence[Call], *, ignore_args: bool
) -> bool:
    """Ask google-adk's tool_trajectory_avg_score of one turn."""
    criterion = ToolTrajectoryCriterion(
        threshold=1.0,
        match_type=ToolTrajectoryCriterion.MatchType[mode],
        ignore_args=ignore_args,
    )
    metric = EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
    evaluator = TrajectoryEvaluator(eval_metric=metric)
    found = evaluator.evaluate_invocations([_turn(observed)], [_turn(expected)])
    return bool(found.overall_score == 1.0)


def agentevals_superset(args: ArgsMode, expected: Sequence[Call], observed: Sequence[Call]) -> bool:
    """Ask agentevals' trajectory match, mode `superset`: its nearest to any-order."""
    evaluator = create_trajectory_match_evaluator(
        trajectory_match_mode="superset", tool_args_match_mode=args
    )
    found = evaluator(outputs=_messages(observed), reference_outputs=_messages(expected))
    return bool(found["score"])


def inspect_pass_at(trials: int, passes: int, k: int) -> float:
    """Ask inspect-ai's reducer `pass_at(k)`."""
    return float(pass_at(k)(_scores(trials, passes)).as_float())


def inspect_pass_hat(trials: int, passes: int, k: int) -> float:
    """Ask inspect-ai's reducer `pass_k(k)`."""
    return float(pass_k(k)(_scores(trials, passes)).as_float())


def inspect_stderr(means: Sequence[float]) -> float:
    """Ask inspect-ai's metric `stderr()` of the scores that the tasks came to."""
    return float(stderr()([SampleScore(score=Score(value=mean)) for mean in means]))


def _turn(calls: Sequence[Call]) -> Invocation:
    uses = [types.FunctionCall(name=tool, args=args) for tool, args in calls]
    said = types.Content(role="user", parts=[types.Part(text="do it")])
    return Invocation(user_content=said, intermediate_data=IntermediateData(tool_uses=uses))


def _messages(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Write calls as a chat: one in each message, as an agent makes them one by one."""
    chat: list[dict[str, Any]] = [{"role": "user", "content": "do it"}]
    for number, (tool, args) in enumerate(calls):
        function = {"name": tool, "arguments": json.dumps(args)}
        call = {"id": f"c{number}", "type": "function", "function": function}
        chat.append({"role": "assistant", "content": "", "tool_calls": [call]})
        chat.append({"role": "tool", "tool_call_id": f"c{number}", "content": "ok"})
    return [*chat, {"role": "assistant", "content": "done"}]


def _scores(trials: int, passes: int) -> list[Score]:
    return [Score(value=1.0 if number < passes else 0.0) for number in range(trials)]
