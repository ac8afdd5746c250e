"""What several verbs have in common: where things lie, which run is meant, and how to say it."""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

import click

from sidecar.errors import UsageError
from sidecar.proxy.tape import agent_id_of
from sidecar.report.text import escaped
from sidecar.store import folders
from sidecar.store.journal import Journal
from sidecar.store.settings import Rules

_F = TypeVar("_F", bound=Callable[..., object])

AGENT_WORDS = {"allow_interspersed_args": False}
"""Context settings of verbs whose arguments are a command: options end where it begins."""


def _agent_id(_context: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """Refuse here what each proxy would refuse, when the agent already works."""
    if text is not None and text != agent_id_of(text):
        raise click.BadParameter("use 1 to 128 letters, digits, `.`, `_`, `~`, `:` and `-`")
    return text


def mask_option(name: str, metavar: str, text: str) -> Callable[[_F], _F]:
    """Make an option that masks, and may be given again."""
    return click.option(name, multiple=True, metavar=metavar, callback=_with_texts, help=text)


def _with_texts(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse a rule that would mask nothing, so that nobody relies on it."""
    if not all(text.strip() for text in texts):
        raise click.BadParameter("it is empty, and would mask nothing")
    return texts


agent_id_option = click.option(
    "--agent-id",
    metavar="ID",
    callback=_agent_id,
    help="Of the events; default the client's own name.",
)
home_option = click.option(
    "--home",
    metavar="DIR",
    help="Folder of the journal; default MCP_SIDECAR_HOME, else .sidecar in the project.",
)
project_option = click.option(
    "--project",
    metavar="DIR",
    help="Folder that cassettes/ and .sidecar/ are in; default the working directory.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class FiniteRange(click.FloatRange):
    """A number within bounds; click itself takes `nan` for one that is within any."""

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the number."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is no number to compare with.", param, ctx)
        return number


class Places(NamedTuple):
    """Where things lie.

    Attributes:
        project: The project folder, absolute.
        home: The folder of the journal, absolute.
    """

    project: str
    home: str

    @property
    def journal(self) -> str:
        """The journal's file."""
        return folders.journal_path(self.home)

    def cassette(self, spec: str) -> str:
        """The file that a cassette's name or path means.

        Raises:
            UsageError: If it means none (C07).
        """
        return folders.cassette_path(spec, self.project)


def places_options(command: _F) -> _F:
    """Give a verb `--home` and `--project`."""
    return home_option(project_option(command))


def masking_options(command: _F) -> _F:
    """Give a verb `--mask-key`, `--mask-pattern` and `--mask-env`, as one value `redaction`."""

    @functools.wraps(command)
    def taking_rules(**given: object) -> object:
        rules = Rules(*(cast("tuple[str, ...]", given.pop(f"mask_{one}")) for one in _MASKED))
        return command(**given, redaction=rules)

    helps = (
        "Mask the values of this NAME: of members, variables, parameters. May be given again.",
        "Mask what this regular expression matches, or its first group. May be given again.",
        "Mask the value of this environment variable. May be given again.",
    )
    options = zip(_MASKED, ("NAME", "RE", "NAME"), helps, strict=True)
    for name, metavar, text in reversed(list(options)):
        mask_option(f"--mask-{name}", metavar, text)(taking_rules)
    return cast("_F", taking_rules)


_MASKED = ("key", "pattern", "env")


def places(project: str | None, home: str | None) -> Places:
    """Find where things lie: options win over the environment.

    Raises:
        UsageError: If the project folder is none.
    """
    folder = folders.project_folder(None, os.path.join(os.getcwd(), project or ""))
    if not os.path.isdir(folder):
        raise UsageError("the project folder is no folder", place=folder, hint="check --project")
    return Places(folder, folders.home(os.environ, home, folder))


def present_journal(where: Places) -> Journal:
    """Open the journal to read it; none is made.

    Raises:
        JournalError: If it cannot be opened.
        UsageError: If there is none.
    """
    if not os.path.lexists(where.journal):
        raise UsageError(
            "nothing is recorded here yet: there is no journal",
            place=where.journal,
            hint="record a run, or say with --project or --home where it was recorded",
        )
    return Journal.open(where.journal)


def short_path(path: str) -> str:
    """Write an absolute path from the working directory, if it lies below that."""
    inside = os.path.join(os.getcwd(), "")
    return path.removeprefix(inside)


def say(text: str) -> None:
    """Tell the user something, on standard error, escaped."""
    click.echo(f"mcp-sidecar: {escaped(text)}", err=True)


def shown_width() -> int | None:
    """The width of tables in columns; None where no terminal shows them."""
    if not sys.stdout.isatty():
        return None
    return os.get_terminal_size(sys.stdout.fileno()).columns or None
