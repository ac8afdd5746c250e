"""What `wrap` and `unwrap` have in common: which servers are meant, and files changed."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple, TypeVar, cast

import click

from sidecar.agents.configs.clients import CLIENTS
from sidecar.agents.configs.document import Document, Entry, read_servers
from sidecar.agents.configs.files import change_file, read_file
from sidecar.agents.configs.wrapping import Change, Key
from sidecar.errors import UsageError
from sidecar.report import clients as report
from sidecar.report.text import escaped

_F = TypeVar("_F", bound=Callable[..., object])

NOT_DONE = 2
_USER = "user"  # the scope of servers that are of no one project


class Choice(NamedTuple):
    """Which servers are meant.

    Attributes:
        only: Their names; all if empty.
        excepted: Names of those that are not.
        client: The id of the client whose configs they are, if the user says it.
        scope: `user`, or the project folder whose servers in a user's config are meant; None
            for all.
    """

    only: tuple[str, ...]
    excepted: tuple[str, ...]
    client: str | None
    scope: str | None = None

    def keys(self, document: Document) -> set[Key]:
        """The servers that are meant in a config."""
        return {
            entry.key
            for entry in self.of_scope(document)
            if entry.name not in self.excepted and (not self.only or entry.name in self.only)
        }

    def of_scope(self, document: Document) -> list[Entry]:
        """The servers of the scope, whatever their names."""
        return [entry for entry in document.entries if self._is_of_scope(entry)]

    def _is_of_scope(self, entry: Entry) -> bool:
        if self.scope is None or entry.project is None:
            return self.scope in (None, _USER)
        return os.path.realpath(entry.project) == os.path.realpath(self.scope)


def choice_options(command: _F) -> _F:
    """Give a verb FILE…, `--dry-run`, and a `Choice` of the other options, as `choice`."""

    @wraps(command)
    def choosing(
        only: tuple[str, ...],
        excepted: tuple[str, ...],
        client: str | None,
        scope: str | None,
        **given: object,
    ) -> object:
        return command(choice=Choice(only, excepted, client, scope), **given)

    made: Callable[..., object] = choosing
    for decorate in (
        click.option("--dry-run", is_flag=True, help="Show the difference; change nothing."),
        click.option(
            "--client",
            type=click.Choice([client.id for client in CLIENTS]),
            help="Whose config it is; default told by its path and content.",
        ),
        click.option(
            "--except", "excepted", multiple=True, metavar="NAME", help="Leave this server out."
        ),
        click.option(
            "--scope",
            metavar="user|DIR",
            help="Of a config with servers of several projects: those of all, or of one folder.",
        ),
        click.option("--only", multiple=True, metavar="NAME", help="Only this server."),
        click.argument("files", nargs=-1, required=True, metavar="FILE..."),
    ):
        made = decorate(made)
    return cast("_F", made)


def planned(
    files: Sequence[str], choice: Choice, make: Callable[[Document, set[Key]], Change]
) -> list[Change]:
    """Make the changes of all files; none is written yet.

    Raises:
        ConfigError: If one of them cannot be changed.
        UsageError: If a server that was named is in none of them.
    """
    documents = [_read(os.path.abspath(file), choice) for file in dict.fromkeys(files)]
    _refuse_unknown(documents, choice)
    return [make(document, choice.keys(document)) for document in documents]


def _refuse_unknown(documents: Sequence[Document], choice: Choice) -> None:
    place = ", ".join(document.path for document in documents)
    known = {entry.name for document in documents for entry in choice.of_scope(document)}
    if not known:
        scopes = {one.project or _USER for document in documents for one in document.entries}
        raise UsageError(
            f"no server is of the scope {choice.scope!r}",
            place=place,
            hint=f"there are {', '.join(sorted(scopes))}",
        )
    for name in (*choice.only, *choice.excepted):
        if name not in known:
            near = difflib.get_close_matches(name, known, 1) or sorted(known)
            raise UsageError(
                f"no server is called {name!r}",
                place=place,
                hint=f"there are {', '.join(map(repr, near))}",
            )
    if not any(map(choice.keys, documents)):
        raise UsageError(
            "--except leaves out every server that is meant", place=place, hint="leave one in"
        )


def write(
    change: Change,
    choice: Choice,
    make: Callable[[Document, set[Key]], Change],
    *,
    keep: Callable[[Change], None] | None = None,
) -> Change:
    """Write a change; it is made anew if someone else changed the file meanwhile.

    Args:
        change: What was planned.
        choice: Which servers are meant.
        make: Makes it anew.
        keep: Called with each change before it is tried, to keep what it replaces.

    Returns:
        The change that was written.

    Raises:
        ConfigError: If that is not possible.
    """
    path, made = change.before.path, [change]

    def changed(data: bytes) -> bytes:
        if data != made[-1].before.data:
            document = read_servers(path, data, client=choice.client)
            made.append(make(document, choice.keys(document)))
        if keep is not None:
            keep(made[-1])
        return made[-1].data

    change_file(path, changed)
    return made[-1]


def show(change: Change, *, dry_run: bool) -> None:
    """Show what became of a config's servers, or would."""
    document = change.before
    if dry_run:
        click.echo(report.difference(change), nl=False)
    location = f", {document.location.scope} scope" if document.location else ""
    would = "; nothing was changed" if dry_run else ""
    click.echo(f"{escaped(document.path)} ({document.client.title}{location}){would}", err=dry_run)
    click.echo(report.changed(change), nl=False, err=dry_run)


def exit_code(changes: Sequence[Change], choice: Choice) -> int:
    """The exit code: 2 if nothing was done, or a server that was named was skipped."""
    outcomes = [one for change in changes for one in change.outcomes]
    skipped = [one for one in outcomes if one.state == "skipped"]
    if len(skipped) == len(outcomes) or (choice.only and skipped):
        return NOT_DONE
    return 0


def _read(path: str, choice: Choice) -> Document:
    return read_servers(path, read_file(path), client=choice.client)
