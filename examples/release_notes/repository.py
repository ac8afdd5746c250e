"""Make the small git repository that the example agents work on.

    python repository.py repo

Names and dates are fixed and the settings of this machine left out, so that each one made has
the same commit ids.
"""

import os
import subprocess
import sys
from pathlib import Path

_AUTHOR = ("Ada Example", "ada@example.org")
_RELEASE_BRANCH = "release-1.0"

# Day of the commit, its message, and the file it writes.
_BEFORE_RELEASE = (
    ("2026-03-02", "Add the price list", "prices.py", b"PRICES = {'tea': 3.10, 'cake': 4.25}\n"),
    ("2026-03-09", "Add totals", "totals.py", b"def total(prices):\n    return sum(prices)\n"),
)
_AFTER_RELEASE = (
    (
        "2026-04-06",
        "Round totals to cents",
        "totals.py",
        b"def total(prices):\n    return round(sum(prices), 2)\n",
    ),
    ("2026-04-13", "Add a discount for members", "discount.py", b"MEMBERS = 0.05\n"),
    ("2026-04-20", "Say in the README what a member is", "README.md", b"Members pay 5 % less.\n"),
)


def make_repository(folder: Path) -> None:
    """Make the repository in a folder that does not exist yet.

    Raises:
        FileExistsError: If the folder is there already.
        FileNotFoundError: If git is not installed.
        subprocess.CalledProcessError: If git fails.
    """
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", day="2026-03-02")
    _git(folder, "symbolic-ref", "HEAD", "refs/heads/main", day="2026-03-02")
    for change in _BEFORE_RELEASE:
        _commit(folder, *change)
    _git(folder, "branch", _RELEASE_BRANCH, day="2026-03-09")
    for change in _AFTER_RELEASE:
        _commit(folder, *change)


def _commit(folder: Path, day: str, message: str, file: str, content: bytes) -> None:
    (folder / file).write_bytes(content)
    _git(folder, "add", file, day=day)
    _git(folder, "commit", "--quiet", "--message", message, day=day)


def _git(folder: Path, *words: str, day: str) -> None:
    name, email = _AUTHOR
    when = f"{day}T10:00:00+0000"
    # What a user has set for git (signatures, hooks, line ends) would make other commits, and
    # variables such as GIT_DIR, set where a git hook runs us, another repository.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    settings = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "GIT_COMMITTER_DATE": when,
    }
    subprocess.run(["git", *words], cwd=folder, env={**kept, **settings}, check=True)


if __name__ == "__main__":
    make_repository(Path(sys.argv[1]))
