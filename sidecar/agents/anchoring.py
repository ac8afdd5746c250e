"""Relative paths in a command, made absolute, for a process that starts elsewhere.

A trial's agent works in a fresh folder, yet `python agent.py` names the file in the folder
where the user typed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def anchored(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Make the words of a command that name something in `folder` absolute.

    A word does if it is the relative path of a file there, or is written with a slash (or
    as `.` or `..`) and is the path of anything there; in `--name=path` that holds for what
    stands behind the `=`. The program itself is only looked for where it is written with
    a slash: else PATH has it. All other words stay as they are.

    Args:
        words: Program and arguments.
        folder: Where relative paths begin, absolute.
    """
    program, *arguments = words
    first = str(folder / program) if "/" in program and _is_there(program, folder) else program
    return (first, *(_anchored(word, folder) for word in arguments))


def _anchored(word: str, folder: Path) -> str:
    if word.startswith("-"):
        name, equals, value = word.partition("=")
        return f"{name}={_anchored(value, folder)}" if equals and value else word
    return str(folder / word) if _names_something(word, folder) else word


def _names_something(word: str, folder: Path) -> bool:
    if not word or not _is_there(word, folder):
        return False
    return "/" in word or word in (".", "..") or (folder / word).is_file()


def _is_there(word: str, folder: Path) -> bool:
    try:
        return (folder / word).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL in it
        return False
