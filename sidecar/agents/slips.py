"""Slips in an agent's command that would else show only as an agent that fails."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from sidecar.agents.command import TEMPLATES
from sidecar.errors import UsageError

_BRACES = re.compile(r"(?:[^=]*=)?\{([A-Za-z][A-Za-z_-]*)\}")
_LIKENESS = 0.7  # `inputfile` is as like as that to `input_file`, `answer` to none
_SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb")


def refuse_slips(words: Sequence[str], folders: Iterable[Path]) -> None:
    """Refuse a misspelt template, and a script that is not there, before anything is run.

    Args:
        words: Program and arguments.
        folders: Where a relative path may begin.

    Raises:
        UsageError: Naming the word.
    """
    for word in words:
        _refuse_misspelt(word)
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    places = [folder / script for folder in folders]
    if script.endswith(_SCRIPTS) and not any(place.exists() for place in places):
        raise UsageError(
            f"the agent command names {script!r}, which is not there",
            place=str(places[0]),
            hint="check how it is spelt; its path begins in the folder where you call this",
        )


def _refuse_misspelt(word: str) -> None:
    """Refuse a word that is nearly a template; other braces are the agent's own."""
    found = _BRACES.fullmatch(word)
    if found is None or found[1] in TEMPLATES:
        return
    near = difflib.get_close_matches(found[1].lower(), TEMPLATES, n=1, cutoff=_LIKENESS)
    if near:
        known = ", ".join(f"{{{name}}}" for name in TEMPLATES)
        raise UsageError(
            f"the agent command holds {{{found[1]}}}, which stands for nothing",
            hint=f"write {{{near[0]}}}; there are {known}",
        )
