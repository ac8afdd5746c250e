"""What we say of the same."""

from collections.abc import Sequence
from fractions import Fraction

from crosscheck.peers import Call
from sidecar.cassette.arguments import ArgsMatch
from sidecar.grading import statistics
from sidecar.grading.candidates import ObservedCall
from sidecar.grading.trajectory import TrajectoryGrader
from sidecar.suite.model import ExpectedCall, Trajectory, TrajectoryMode


def matched(
    mode: TrajectoryMode, args: ArgsMatch, expected: Sequence[Call], observed: Sequence[Call]
) -> bool:
    """Say whether the path matches."""
    calls = tuple(ExpectedCall(tool=tool, args=given, args_match=args) for tool, given in expected)
    seen = [ObservedCall(tool, inputs) for tool, inputs in observed]
    return TrajectoryGrader(Trajectory(match=mode, calls=calls)).grade(seen).matched


def pass_at(trials: int, passes: int, k: int) -> float:
    """Give pass@k."""
    return float(statistics.pass_at_k(trials, passes, k))


def pass_hat(trials: int, passes: int, k: int) -> float:
    """Give pass^k."""
    return float(statistics.pass_hat_k(trials, passes, k))


def stderr(means: Sequence[float]) -> float | None:
    """Give the standard error; None of a single task."""
    return statistics.standard_error([Fraction(str(mean)) for mean in means])
