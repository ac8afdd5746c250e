"""`mcp-sidecar cassette`: shows, validates, saves and redacts cassettes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import click

from sidecar.cassette.interaction import Cassette, Interaction
from sidecar.cassette.multi_round import rounds_by_call
from sidecar.cassette.redacting import Redacted, redacted, unfound
from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cli.options import (
    Places,
    mask_option,
    places,
    places_options,
    present_journal,
    say,
    short_path,
    shown_width,
)
from sidecar.cli.sources import find_run, saved_cassette
from sidecar.errors import UsageError
from sidecar.report.interactions import COLUMNS, cells
from sidecar.report.tables import table
from sidecar.report.text import counted, escaped
from sidecar.store import cassettes, runs
from sidecar.store.journal import Journal
from sidecar.store.masking import masks_for, value_of
from sidecar.store.settings import FILE, Rules, load_settings

_FAILED = 1
_SALT_BYTES = 16


@click.group("cassette")
def command() -> None:
    """Show, validate, save and redact cassettes.

    C is a name, which means cassettes/NAME.jsonl in the project, or a path that ends in
    .jsonl. A cassette that was recorded and not saved yet is saved first.
    """


@command.command("show")
@click.argument("cassette", metavar="C")
@click.option("--whole", is_flag=True, help="Show arguments and answers whole.")
@places_options
def show(*, cassette: str, whole: bool, project: str | None, home: str | None) -> None:
    """Show what a cassette holds: requests and their answers, in order."""
    path, found = _loaded(cassette, places(project, home))
    click.echo(f"{escaped(short_path(path))}: {_summary(found)}")
    for name, server in found.servers.items():
        click.echo(f"  {escaped(name)}: {escaped(server.protocol) or 'never answered'}")
    if found.interactions:
        rows = [
            cells(number, item, whole=whole) for number, item in enumerate(found.interactions, 1)
        ]
        click.echo("\n" + table(COLUMNS, rows, width=shown_width()), nl=False)


@command.command("validate")
@click.argument("cassette", metavar="C")
@places_options
def validate(*, cassette: str, project: str | None, home: str | None) -> int:
    """Check a cassette: 0 if it is whole, 1 if the recording is not complete, 2 if it is broken."""
    path, found = _loaded(cassette, places(project, home))
    click.echo(f"{escaped(short_path(path))}: {_summary(found)}")
    unanswered = [
        f"{number} ({item.state})"
        for number, item in enumerate(found.interactions, 1)
        if item.response is None
    ]
    if unanswered:
        click.echo(f"without an answer: {', '.join(unanswered)}")
    return 0 if found.complete else _FAILED


@command.command("save")
@click.argument("run")
@click.option("--cassette", metavar="C", help="Where to; default where the run was to be saved.")
@click.option("--overwrite", is_flag=True, help="Replace the cassette of another run.")
@places_options
def save(
    *, run: str, cassette: str | None, overwrite: bool, project: str | None, home: str | None
) -> None:
    """Save a RUN of the journal as a cassette: an id, the beginning of one, or `last`."""
    where = places(project, home)
    with present_journal(where) as journal:
        run_id = find_run(journal, run)
        path = where.cassette(cassette) if cassette else _place_of(journal, run_id)
        saved = cassettes.save_run(journal, run_id, path, overwrite=overwrite, extend=False)
    if saved.refused:
        raise UsageError(saved.refused)
    say(f"run {run_id} is saved as {short_path(path)}")


@command.command("redact")
@click.argument("cassette", metavar="C")
@mask_option("--value-from-env", "NAME", "Mask the value of this variable.")
@mask_option("--key", "NAME", "Mask the values of this name.")
@mask_option("--pattern", "RE", "Mask what this matches, or its first group.")
@places_options
def redact(  # noqa: PLR0913  # one parameter an option
    *,
    cassette: str,
    value_from_env: tuple[str, ...],
    key: tuple[str, ...],
    pattern: tuple[str, ...],
    project: str | None,
    home: str | None,
) -> None:
    """Mask secrets in a cassette that is there, by the rules of now and by those given.

    The file is written whole or not at all; one in which nothing is to be masked stays as it
    is. Each option may be given again.
    """
    where = places(project, home)
    path = saved_cassette(where, cassette)
    given = Rules(key, pattern, value_from_env)
    before, settings = _whole(path), load_settings(where.project).redaction
    found = redacted(before, _by_rule(given, settings))
    if any(found.masked.values()):
        values = [value_of(name, os.environ) for name in value_from_env]
        cassettes.save(path, found.cassette, Redactor(b"", known_values=values))
    _tell_masked(path, found)
    if any(count for name, count in found.in_requests.items() if name.startswith("--")):
        in_replay = masks_for("", os.environ, settings)
        _tell_requests(given, unfound(before, found.cassette, in_replay))


def _whole(path: str) -> Cassette:
    return cassettes.in_place(path) or cassettes.load(path).cassette


def _by_rule(given: Rules, settings: Rules) -> dict[str, Redactor]:
    """Make a redactor of each rule, so that it can be told what each has masked."""
    salt = os.urandom(_SALT_BYTES)
    named = (os.environ[name] for name in settings.environment if os.environ.get(name))
    known = (*secret_environment(os.environ), *named)
    rules = {
        "what is known to be a secret": Redactor(salt, known_values=known),
        "the settings": Redactor(salt, key_names=settings.keys, patterns=settings.patterns),
    }
    for name in given.environment:
        value = value_of(name, os.environ)
        rules[f"--value-from-env {name}"] = Redactor(salt, known_values=[value])
    rules |= {f"--key {name}": Redactor(salt, key_names=[name]) for name in given.keys}
    rules |= {f"--pattern {one}": Redactor(salt, patterns=[one]) for one in given.patterns}
    return rules


def _tell_masked(path: str, found: Redacted) -> None:
    total = sum(found.masked.values())
    kept = "" if total else ", and the file is as it was"
    click.echo(f"{escaped(short_path(path))}: masked {counted(total, 'value')}{kept}")
    for name, count in found.masked.items():
        if count or name.startswith("--"):
            click.echo(f"  {count} by {escaped(name)}")
    if total:
        click.echo(
            "note: the journal, what was promoted from this, and copies, as in git's history, "
            "still hold what they held"
        )


def _tell_requests(given: Rules, unfound_calls: Sequence[int]) -> None:
    """Say what masked arguments mean for a replay, and how to mask its requests, too."""
    if unfound_calls:
        first, *more = (place + 1 for place in unfound_calls)
        others = f" and {len(more)} more" if more else ""
        text = (
            f"a replay finds interaction {first}{others} by the same rules alone, since a masked "
            f"number is 0: write this into {FILE}"
        )
    else:
        text = (
            "a replay still finds those calls, but to mask what it keeps of its own, and all "
            f"that is recorded, write this into {FILE}"
        )
    click.echo(f"note: arguments of calls are among them; {text}")
    for line in _as_settings(given):
        click.echo(f"  {escaped(line)}")


def _as_settings(rules: Rules) -> list[str]:
    lines = [
        f"{name} = [{', '.join(json.dumps(value) for value in values)}]"
        for name, values in zip(Rules._fields, rules, strict=True)
        if values
    ]
    return ["[redaction]", *lines]


def _place_of(journal: Journal, run_id: str) -> str:
    place = runs.one_run(journal, run_id).cassette
    if place is None:
        raise UsageError(
            f"run {run_id} was recorded without a cassette", hint="name one with --cassette"
        )
    return place


def _loaded(spec: str, where: Places) -> tuple[str, Cassette]:
    path = saved_cassette(where, spec)
    loaded = cassettes.load(path)
    for warning in loaded.warnings:
        say(warning)
    return path, loaded.cassette


def _summary(cassette: Cassette) -> str:
    calls = rounds_by_call(cassette.interactions)
    errors = sum(1 for *_, last in calls if _failed(cassette.interactions[last]))
    parts = [
        "complete" if cassette.complete else "not complete",
        f"run {escaped(cassette.run)}" if cassette.run else "of no run",
        counted(len(cassette.servers), "server"),
        counted(len(cassette.interactions), "interaction"),
        counted(len(calls), "call"),
        counted(errors, "error"),
    ]
    return ", ".join(parts)


def _failed(call: Interaction) -> bool:
    """Whether a call counts as an error, as in `runs list`: it failed, or had no answer."""
    return call.is_error or call.state == "unanswered"
