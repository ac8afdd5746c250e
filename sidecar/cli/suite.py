"""`mcp-sidecar suite`: validates suites, lints them, and holds them against a host."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import click

from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cli.options import json_option, places
from sidecar.errors import SuiteError
from sidecar.grading.refusal import Refusal, refusal
from sidecar.report.text import counted, escaped
from sidecar.store import suites
from sidecar.store.masking import masks_for
from sidecar.store.settings import Rules, load_settings
from sidecar.suite.capabilities import IMPLEMENTED, EvalSuiteCapability, parse_host
from sidecar.suite.documents import parse_suite, suite_problems
from sidecar.suite.leaks import unmasked_by
from sidecar.suite.lints import lint_suite
from sidecar.suite.model import AgentEvalSuite
from sidecar.suite.validation import Problem
from sidecar.wire.json_text import JsonValue

_REFUSED = 1
_NOT_VALID = 2
_SHOWN = 3  # problems of one kind; the others are counted
_TASK = re.compile(r"^/tasks/\d+/(?=.)")
_INDEX = re.compile(r"/(\d+)(?=/|$)")


@click.group("suite")
def command() -> None:
    """Check suites."""


@command.command("check")
@click.argument("suite")
@click.option(
    "--host",
    metavar="DOCUMENT",
    help="A host's capability document; default: what this grader implements.",
)
@json_option
def check(*, suite: str, host: str | None, as_json: bool) -> int:
    """Check a SUITE: is it valid, is it wise, and can a host grade it?

    What is unwise is told and changes nothing. What a host does not implement is told as the
    host has to tell it: with --json, the error body is on standard output.

    Exit codes: 0 the host can grade it; 1 it lacks a feature that the suite uses; 2 the suite
    or the document is broken.
    """
    capability = IMPLEMENTED if host is None else parse_host(suites.read(host), name=host)
    text = suites.read(suite)
    problems = suite_problems(text, name=suite)
    if problems:
        _tell(suite, problems, as_json=as_json)
        if as_json:
            click.echo(_json(invalid_body(problems)))
        return _NOT_VALID
    return _held_against(suite, parse_suite(text, name=suite), capability, as_json=as_json)


def refuse(found: Refusal | None, *, name: str, as_json: bool) -> None:
    """Refuse a suite that uses what this grader does not implement (R49).

    With `as_json` the error body goes to standard output.

    Raises:
        SuiteError: If there is something to refuse, naming the first place of it.
    """
    if found is None:
        return
    if as_json:
        click.echo(_json(found.body))
    first = found.features[0]
    raise SuiteError(
        f"{first.field} uses agents.evalSuite.{first.facet}, which is not implemented here"
        + _others(len(found.features) - 1),
        place=f"{name} {first.path}",
        hint="take it out; `mcp-sidecar capabilities` shows what is implemented",
    )


def lints_of(suite: AgentEvalSuite, rules: Rules) -> tuple[Problem, ...]:
    """List what is unwise in a suite, secrets that are left included.

    Args:
        suite: The suite.
        rules: What is a secret, besides what is known to be one.
    """
    return lint_suite(suite, unmasked=unmasked_by(finding_masks(rules)))


def finding_masks(rules: Rules) -> Redactor:
    """Make what finds secrets that are left, those of this environment included.

    Which key it has does not matter: what it would mask is told, not masked.

    Args:
        rules: What else is a secret.
    """
    return masks_for("", os.environ, rules)


def few_of_each(problems: Iterable[Problem], told: Callable[[Problem], str]) -> Iterator[str]:
    """Tell a few problems of each kind, and count the others: a long run has many.

    Args:
        problems: What was found.
        told: Says one of them.
    """
    by_code: dict[str, list[Problem]] = {}
    for problem in problems:
        by_code.setdefault(problem.code, []).append(problem)
    for code, found in by_code.items():
        yield from map(told, found[:_SHOWN])
        if len(found) > _SHOWN:
            yield f"and {counted(len(found) - _SHOWN, 'more note')} of this kind ({code})"


def problem_text(name: str, problem: Problem) -> str:
    """Say what is wrong or unwise, and where.

    Args:
        name: The suite's file.
        problem: What was found.
    """
    hint = f"; {problem.hint}" if problem.hint else ""
    place = f"{name} {problem.pointer}".rstrip()
    return f"{place}: {problem.code}: {problem.message}{hint}"


def invalid_body(problems: Sequence[Problem]) -> dict[str, JsonValue]:
    """Make the error body of a suite that is none, in the form of R49's."""
    first = problems[0]
    fields: list[JsonValue] = [
        {"field": _short(one.pointer), "path": one.pointer, "code": one.code} for one in problems
    ]
    return {
        "error": "validation_error",
        "message": first.message,
        "details": {"field": _short(first.pointer), "path": first.pointer, "fields": fields},
    }


def _held_against(
    name: str, suite: AgentEvalSuite, host: EvalSuiteCapability | None, *, as_json: bool
) -> int:
    lints = lints_of(suite, load_settings(places(None, None).project).redaction)
    _tell(name, lints, as_json=as_json)
    found = refusal(suite, host)
    if found is not None:
        for feature in found.features:
            text = f"{name} {feature.path}: {feature.field} needs agents.evalSuite.{feature.facet}"
            click.echo(escaped(text), err=as_json)
        click.echo(_json(found.body) if as_json else f"REFUSED: {found.body['message']}")
        return _REFUSED
    click.echo(_json(_good(suite, lints)) if as_json else f"OK: {_said(suite, lints)}")
    return 0


def _tell(name: str, problems: Sequence[Problem], *, as_json: bool) -> None:
    for one in problems:
        click.echo(escaped(problem_text(name, one)), err=as_json)


def _good(suite: AgentEvalSuite, lints: Sequence[Problem]) -> dict[str, JsonValue]:
    return {
        "suiteId": suite.suite_id,
        "version": suite.version,
        "taskCount": len(suite.tasks),
        "lints": [
            {"code": one.code, "path": one.pointer, "message": one.message, "hint": one.hint}
            for one in lints
        ],
    }


def _said(suite: AgentEvalSuite, lints: Sequence[Problem]) -> str:
    tasks = counted(len(suite.tasks), "task")
    return f"{suite.suite_id} {suite.version}, {tasks}, {counted(len(lints), 'lint')}"


def _others(more: int) -> str:
    return f" (and {counted(more, 'more field')})" if more else ""


def _short(pointer: str) -> str:
    """Write a place as the RFCs do: without its task, such as `fixtures.toolResponses[0].args`."""
    inner = _TASK.sub("/", pointer)
    return _INDEX.sub(r"[\1]", inner).replace("/", ".").lstrip(".")


def _json(value: JsonValue) -> str:
    return json.dumps(value, indent=2)
