"""Adding a task to a suite: a new suite, one task more, or the same as before."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sidecar.cassette.arguments import canonical
from sidecar.errors import PromotionError
from sidecar.suite.documents import suite_from_json
from sidecar.suite.model import AgentEvalSuite, Task
from sidecar.suite.model_base import wire_value
from sidecar.wire.json_text import JsonValue

FIRST_VERSION = "1.0.0"
PASS_SCORE = 1

Change: TypeAlias = Literal["created", "added", "replaced", "unchanged"]

_OUTPUT_MODES = frozenset({"golden", "adversarial", "regression"})


class Addition(NamedTuple):
    """A suite with a task in it.

    Attributes:
        suite: The suite.
        change: What became of it; `unchanged`: the same task was there already.
    """

    suite: AgentEvalSuite
    change: Change


def with_task(
    suite: AgentEvalSuite | None, task: Task, *, suite_id: str, replaces: bool, place: str
) -> Addition:
    """Put a task into a suite.

    Args:
        suite: The suite; None makes a new one.
        task: The task.
        suite_id: Id of a new suite.
        replaces: Whether another task of the same id is replaced.
        place: The suite's file, for errors.

    Raises:
        PromotionError: If another task has the id, and is not to be replaced (P02).
        SuiteError: If `suite_id` is none.
    """
    if suite is None:
        return Addition(_new_suite(task, suite_id, place), "created")
    value = wire_value(suite)
    index = next((n for n, one in enumerate(suite.tasks) if one.task_id == task.task_id), None)
    if index is None:
        changed = {**value, "modes": _modes(value), "tasks": [*value["tasks"], wire_value(task)]}
        return Addition(suite_from_json(changed, name=place), "added")
    if canonical(value["tasks"][index]) == canonical(wire_value(task)):
        return Addition(suite, "unchanged")
    if not replaces:
        raise PromotionError(
            f"there is another task {task.task_id!r} already",
            place=f"{place} /tasks/{index}",
            hint="choose another --task, or give --replace to put this one in its place",
        )
    tasks = [*value["tasks"][:index], wire_value(task), *value["tasks"][index + 1 :]]
    changed = {**value, "modes": _modes(value), "tasks": tasks}
    return Addition(suite_from_json(changed, name=place), "replaced")


def suite_id_of(name: str) -> str:
    """Derive a suite's id from its file's name, without folder and suffix."""
    return f"local.evals.{_fitted(name) or 'suite'}"


def task_id_of(name: str) -> str:
    """Derive a task's id from a cassette's name; empty if nothing of it fits."""
    return _fitted(name)


def _fitted(name: str) -> str:
    letters = (letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower())
    return "-".join(filter(None, "".join(letters).split("-")))


def _new_suite(task: Task, suite_id: str, place: str) -> AgentEvalSuite:
    value: dict[str, JsonValue] = {
        "suiteId": suite_id,
        "version": FIRST_VERSION,
        "modes": ["golden"],  # for kind `trajectory` too: no mode of its own exists (RFC 0244)
        "thresholds": {"passScore": PASS_SCORE},
        "tasks": [wire_value(task)],
    }
    return suite_from_json(value, name=place)


def _modes(suite: dict[str, JsonValue]) -> list[JsonValue]:
    modes: list[JsonValue] = suite["modes"]
    return modes if _OUTPUT_MODES.intersection(modes) else [*modes, "golden"]
