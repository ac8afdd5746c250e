"""How a wrapped entry is written, and known again.

An entry behind `proxy` holds, in its own arguments, all that is needed to bring it back:
our words, among them `--wrapped HOW`, and then the original command. One behind `serve`
holds its original URL in the fragment of the new one, which no client sends. So nothing
has to be kept elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sidecar.agents.configs.clients import Transport

VERB = "proxy"
WRAPPED = "--wrapped"
HEADER_VARIABLE = "MCP_SIDECAR_HEADER_"
FRAGMENT = "#mcp-sidecar="

OUR_WORDS = frozenset((WRAPPED, "--config-entry"))
"""Options that `wrap` alone writes."""

_MODULE = ("-m", "sidecar")


@dataclass(frozen=True, slots=True)
class Target:
    """What an entry is told, but for what it was.

    Attributes:
        mode: What its proxy does.
        cassette: The cassette's file, absolute; None for the journal alone.
        home: The sidecar's home, absolute.
        project: The project folder, absolute.
        entry: The id of the entry, by which its proxy's sessions are known; empty if it has
            none.
    """

    mode: str
    cassette: str | None
    home: str
    project: str
    entry: str = ""


@dataclass(frozen=True, slots=True)
class How:
    """How an entry was before it was wrapped.

    Attributes:
        had_args: Whether it had arguments of its own.
        url: The member that held its URL; None for one that was started.
        kind: The member that said its kind, and what it said.
        headers: The member that held its headers.
    """

    had_args: bool = True
    url: str | None = None
    kind: tuple[str, str] | None = None
    headers: str | None = None

    def written(self) -> str:
        """Write it as one word."""
        if self.url is None:
            return "args" if self.had_args else "no-args"
        kind = f",kind:{self.kind[0]}:{self.kind[1]}" if self.kind else ""
        return f"url:{self.url}{kind}" + (f",headers:{self.headers}" if self.headers else "")

    @classmethod
    def read(cls, word: str) -> How | None:
        """Read what `written` wrote; None for anything else."""
        said = dict(part.partition(":")[::2] for part in word.split(","))
        if word not in ("args", "no-args") and not said.get("url"):
            return None
        key, colon, kind = said.get("kind", "").partition(":")
        return cls(
            had_args=word != "no-args",
            url=said.get("url"),
            kind=(key, kind) if colon else None,
            headers=said.get("headers"),
        )


@dataclass(frozen=True, slots=True)
class Mark:
    """What the words of a wrapped entry say.

    Attributes:
        count: How many of the words are ours.
        options: The options, without their dashes; the last of each name.
        headers: Each header's name by the variable that holds its value.
        how: How the entry was.
    """

    count: int
    options: dict[str, str]
    headers: dict[str, str]
    how: How

    @property
    def target(self) -> Target:
        """What the entry is told."""
        return Target(
            self.options.get("mode", ""),
            self.options.get("cassette"),
            self.options.get("home", ""),
            self.options.get("project", ""),
            self.options.get("config-entry", ""),
        )


def words_of(name: str, target: Target, how: How, masked: Sequence[str] = ()) -> list[str]:
    """Write our words for an entry, up to where its own command begins.

    Args:
        name: The entry's name.
        target: What it is told.
        how: How it was.
        masked: Its variables whose values are secrets.
    """
    words = [VERB, "--server", name, "--mode", target.mode]
    if target.cassette is not None:
        words += ["--cassette", target.cassette]
    words += ["--home", target.home, "--project", target.project]
    if target.entry:
        words += ["--config-entry", target.entry]
    words += [word for variable in masked for word in ("--mask-env", variable)]
    return [*words, WRAPPED, how.written()]


def url_words(transport: Transport | None, headers: Sequence[str]) -> list[str]:
    """Write our further words for an entry with a URL, up to the URL itself."""
    words = ["--transport", transport] if transport else []
    for number, header in enumerate(headers, 1):
        words += ["--header-env", f"{header}={HEADER_VARIABLE}{number}"]
    return [*words, "--url"]


def entry_id(path: str, section: Sequence[str]) -> str:
    """Make the id of a section's entries: servers of one name in two configs differ by it.

    Args:
        path: The config's real path.
        section: The path of names to the section.
    """
    written = "\0".join([path, *section])
    return hashlib.sha256(written.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def mark_of(words: Sequence[str]) -> Mark | None:
    """Know a wrapped entry by its arguments; None for any other.

    The program's name does not matter: it may have moved. What another tool wrapped, or a
    person by hand, lacks `--wrapped`.
    """
    at = len(_MODULE) if tuple(words[: len(_MODULE)]) == _MODULE else 0
    if tuple(words[at : at + 1]) != (VERB,):
        return None
    at += 1
    options: dict[str, str] = {}
    headers: dict[str, str] = {}
    while at + 1 < len(words) and words[at].startswith("--"):
        name, value = words[at][2:], words[at + 1]
        if name == "header-env":
            header, _, variable = value.rpartition("=")
            headers[variable] = header
        options[name] = value
        at += 2
        if name == "url":  # the last of ours
            break
    if WRAPPED[2:] not in options:
        return None
    how = How.read(options[WRAPPED[2:]])
    if how is None or (how.url is not None and "url" not in options):
        return None
    if how.url is None:
        at += 1  # the original command
    return Mark(at, options, headers, how) if at <= len(words) else None


def served_url(base: str, name: str, transport: Transport | None) -> str:
    """The URL at which `serve` has a server, up to where the original URL follows."""
    return f"{base.rstrip('/')}/{quote(name, safe='')}/{transport_path(transport)}{FRAGMENT}"


def transport_path(transport: Transport | None) -> str:
    """The end of a URL of `serve`, for the transport that the client will speak (E10)."""
    return "sse" if transport == "sse" else "mcp"


def original_url(url: str) -> str | None:
    """The URL that an entry had before it was led to `serve`; None if it was not."""
    _, found, original = url.partition(FRAGMENT)
    return original if found else None
