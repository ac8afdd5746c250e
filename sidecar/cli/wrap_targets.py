"""What `wrap` tells each entry: what is said in options, else what it was told, else defaults."""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple

from sidecar.agents.config import sidecar_command
from sidecar.agents.configs.document import Document, Entry
from sidecar.agents.configs.files import keep_backup
from sidecar.agents.configs.locations import Machine, is_users_own
from sidecar.agents.configs.marks import Target, entry_id
from sidecar.agents.configs.shapes import UnfitError
from sidecar.agents.configs.wrapping import Change, Key, Plan, wrap
from sidecar.cli.options import short_path
from sidecar.errors import JournalError, UsageError
from sidecar.proxy.options import Mode
from sidecar.store import cassettes, folders
from sidecar.store.journal import Journal
from sidecar.store.settings import load_settings, project_of


class Wanted(NamedTuple):
    """What the options say; None where they do not.

    Attributes:
        mode: What is done with the traffic.
        cassette: Its name, or its path.
        serve: The URL of `serve`.
        project: The project folder, absolute.
        home: The sidecar's home.
    """

    mode: Mode | None
    cassette: str | None
    serve: str | None
    project: str | None
    home: str | None

    def change(self, document: Document, keys: set[Key]) -> Change:
        """Make the change of a config.

        Raises:
            ConfigError: If the change would lose something.
            SidecarError: If a server could not start as it would be told to.
        """

        def target(entry: Entry, told: Target | None) -> Target:
            if entry.project is not None and not os.path.isdir(entry.project):
                raise UnfitError(f"its project's folder is gone: {entry.project}")
            found = self._target(document, entry, told)
            _refuse_unusable(entry.name, found)
            return found

        change = wrap(document, Plan(target, sidecar_command(), self.serve), keys)
        self._refuse_unheard(change)
        return change

    def _refuse_unheard(self, change: Change) -> None:
        """Refuse options that no server is told, since `serve` is told them.

        Raises:
            UsageError: With the way.
        """
        done = [one for one in change.outcomes if one.state != "skipped"]
        if self.serve and (self.mode or self.cassette) and done and not any(o.target for o in done):
            raise UsageError(
                "--mode and --cassette say nothing to servers that are led to `serve`",
                place=change.before.path,
                hint="give them to `mcp-sidecar serve` itself",
            )

    def keep(self, change: Change) -> None:
        """Back up what a change replaces, where that cannot be read from the entries (W11)."""
        if any(one.state == "wrapped" for one in change.outcomes):
            home = folders.home(os.environ, self.home, self.project_of(change.before))
            keep_backup(home, change.before.path, change.before.data)

    def project_of(self, document: Document) -> str:
        """The project folder of a config's servers, absolute.

        That of a user's own config, which holds for all projects, is the working directory.
        """
        cwd = os.getcwd()
        if self.project is not None:
            return self.project
        if not is_users_own(document.path, Machine.here(cwd)):
            return folders.project_folder(document.path, cwd)
        is_root = os.path.dirname(cwd) == cwd  # where nothing of a user's is kept
        return os.path.expanduser("~") if is_root else cwd

    def _target(self, document: Document, entry: Entry, told: Target | None) -> Target:
        project, home = self.project or "", ""
        if told is not None:  # what is not said now stays as it was
            project = project or told.project
            home = told.home if self.home is None and self.project is None else ""
        if not project and entry.project is not None:
            project = os.path.abspath(entry.project)
        project = project or self.project_of(document)
        cassette = told.cassette if told else None
        if self.cassette is not None:
            cassette = folders.cassette_path(self.cassette, project)
        return Target(
            self.mode or (told.mode if told else "") or "record",
            cassette,
            home or folders.home(os.environ, self.home, project),
            project,
            entry_id(os.path.realpath(document.path), entry.section),
        )


def _refuse_unusable(name: str, target: Target) -> None:
    """Refuse what a server would only say when its client starts it, to nobody.

    Raises:
        CassetteError: If the cassette that is to answer is not there, or is broken.
        JournalError: If the journal cannot be opened, or could not be made.
        UsageError: If there is to be one and none is named, or the project's settings are
            none.
    """
    load_settings(project_of(target.home, target.project))
    _refuse_unusable_home(target.home)
    if target.mode not in ("replay", "auto"):
        return
    if target.cassette is None:
        raise UsageError(
            f"mode {target.mode} needs --cassette, and {name!r} has none yet",
            hint="name the cassette to replay",
        )
    if target.mode == "replay" or os.path.lexists(target.cassette):
        cassettes.load(target.cassette)


def _refuse_unusable_home(home: str) -> None:
    """Refuse a home that no journal can be in; nothing is made, so that a dry run can ask."""
    path = folders.journal_path(home)
    if os.path.lexists(path):
        Journal.open(path).close()
        return
    there = home
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there) or not os.access(there, os.W_OK | os.X_OK):
        what = "may not be written to" if os.path.isdir(there) else "is no folder"
        raise JournalError(
            f"the journal of what is recorded cannot be made: {there} {what}",
            place=home,
            hint="choose another folder with --home",
        )


def where_listed(target: Target) -> str:
    """The command that lists what a server recorded, from the working directory."""
    option = ""
    if folders.home(os.environ, None, os.getcwd()) != target.home:
        is_default = folders.home(os.environ, None, target.project) == target.home
        name, folder = ("project", target.project) if is_default else ("home", target.home)
        option = f" --{name} {shlex.quote(short_path(folder))}"
    return f"mcp-sidecar runs list{option}"
