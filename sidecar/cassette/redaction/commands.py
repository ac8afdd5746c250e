"""Secrets in command lines that only the command's own options tell: `mysql -pS`.

Options with long names tell by themselves (`--api-key S`); short ones mean what the command
makes of them. Read are a command line in a text, as of a shell, and a list of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sidecar.cassette.redaction.gates import places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.values import is_masked, is_reference, is_token_like
from sidecar.wire.typed import NamedTuple


class _Command(NamedTuple):
    """What a command's options say.

    Attributes:
        apart: Options whose next word is a secret.
        glued: Options that a secret follows in the same word.
        users: Options of `user:password`, in the next word or the same one.
        needs: A word without which the options mean something else; empty for none.
    """

    apart: tuple[str, ...] = ()
    glued: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    needs: str = ""


_MYSQL = _Command(glued=("-p",))
_MONGO = _Command(apart=("-p",))
_LDAP = _Command(apart=("-w",))
_LOGIN = _Command(apart=("-p",), needs="login")
_BROKER = _Command(apart=("-P",))
_COMMANDS = {
    "mysql": _MYSQL, "mysqldump": _MYSQL, "mysqladmin": _MYSQL, "mysqlimport": _MYSQL,
    "mariadb": _MYSQL, "mariadb-dump": _MYSQL, "mariadb-admin": _MYSQL,
    "mongo": _MONGO, "mongosh": _MONGO, "mongodump": _MONGO, "mongorestore": _MONGO,
    "mongoexport": _MONGO, "mongoimport": _MONGO,
    "ldapsearch": _LDAP, "ldapadd": _LDAP, "ldapmodify": _LDAP, "ldapwhoami": _LDAP,
    "docker": _LOGIN, "podman": _LOGIN, "nerdctl": _LOGIN, "helm": _LOGIN, "az": _LOGIN,
    "oras": _LOGIN, "buildah": _LOGIN, "skopeo": _LOGIN, "cf": _LOGIN, "oc": _LOGIN,
    "redis-cli": _Command(apart=("-a",)),
    "sshpass": _Command(apart=("-p",), glued=("-p",)),
    "mosquitto_pub": _BROKER, "mosquitto_sub": _BROKER,
    "sqlcmd": _BROKER, "bcp": _BROKER, "zip": _BROKER, "unzip": _BROKER,
    "smbclient": _Command(users=("-U",)),
    "curl": _Command(users=("-u", "--user", "-U", "--proxy-user")),
}  # fmt: skip
GATES = (
    b"mysql", b"mariadb", b"mongo", b"ldap", b"login", b"redis-cli", b"sshpass", b"mosquitto",
    b"sqlcmd", b"bcp ", b"zip", b"smbclient", b"curl",
)  # fmt: skip
"""One of these is in every text that names one of the commands with a secret's option."""

_ANY_NAME = (
    rb"(?:(?<![A-Za-z0-9_.-])|(?<=\\[nrt]))(?:mysql(?:dump|admin|import)?|mariadb(?:-dump|-admin)?|mongo(?:sh|dump|restore"
    rb"|export|import)?|ldap(?:search|add|modify|whoami)|docker|podman|nerdctl|helm|az|oras|buildah"
    rb"|skopeo|cf|oc|redis-cli|sshpass|mosquitto_[ps]ub|sqlcmd|bcp|unzip|zip|smbclient|curl)"
    rb"(?:\.exe)?(?![\w.-])"
)
_NAME = _ANY_NAME + rb"(?=[ \t])"
_ANY_OPTION = rb"-[-apPuUw]"
_OPTION = rb"[\s\S]{0,2000}?[\s\"'](?:-[apPuUw]|--user|--proxy-user)"
_LINE = rb"(?:\\\r?\n|[^\n;|&]|&(?!&)){0,2000}"
_WORD = rb"(?:[^\s\"']|\"[^\"\n]*\"|'[^'\n]*')+"
_QUOTES = "\"'"
_SEPARATORS = (":", "%")
_MIN_CHARS = 3
_NAME_BYTES = 24  # a name's length, and more
_LINE_BYTES = 2000
_LOGIN_WORD = rb"login(?![\w.-]|\\*[\"']?[ \t]{0,4}[:=])"  # and no member of an object


def may_be_in(data: bytes) -> bool:
    """Tell of a text's UTF-8 bytes, which may be JSON, whether `in_text` or `in_words` may find."""
    if b"-" not in data:  # one byte is found at once
        return False
    if compiled(_ANY_OPTION).search(data) is None:
        return False
    option = compiled(_OPTION)
    return any(option.match(data, name.end()) for name in _names(data))


def _names(data: bytes) -> Iterator[re.Match[bytes]]:
    """Find the names of commands: around each gate, or before the word that one needs."""
    any_name = compiled(_ANY_NAME)
    for gate in GATES:
        for at in places(data, gate):
            if gate != b"login":
                yield from any_name.finditer(data, max(0, at - _NAME_BYTES), at + _NAME_BYTES)
            elif compiled(_LOGIN_WORD).match(data, at):
                yield from any_name.finditer(data, max(0, at - _LINE_BYTES), at)


def in_text(data: bytes) -> Iterator[Span]:
    """Find the secrets of command lines in a text's UTF-8 bytes."""
    for start in sorted({name.start() for name in _names(data) if name.end() < len(data)}):
        name = compiled(_NAME).match(data, start)
        line = compiled(_LINE).match(data, start) if name else None
        found = list(compiled(_WORD).finditer(data, start, line.end() if line else start))
        words = [one[0].decode("utf-8", "surrogateescape") for one in found]
        for index, begin in in_words(words):
            text = words[index]
            opens = text[begin : begin + 1] in ("'", '"')
            closes = text[-1] in _QUOTES and text.count(text[-1]) > 1
            first = found[index].start() + len(text[:begin].encode("utf-8", "surrogateescape"))
            yield Span(first + opens, found[index].end() - closes)


def in_words(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Find the secrets of a command line that is a list of words.

    Yields:
        The index of a word, and where in it a secret begins; it ends with the word.
    """
    command = _COMMANDS.get(_basename(words[0])) if words else None
    if command is None or (command.needs and command.needs not in words):
        return
    for index, word in enumerate(words):
        starts = _start_in(command, words[index - 1] if index else "", word)
        if starts is not None and _is_one(word[starts:]):
            yield index, starts


def _basename(word: str) -> str:
    return compiled(r"[/\\]").split(word.strip(_QUOTES))[-1].removesuffix(".exe")


def _start_in(command: _Command, before: str, word: str) -> int | None:
    """Tell where in a word a secret begins; None if there is none."""
    if before in command.apart:
        return 0
    if before in command.users:
        return _password_start(word, 0)
    for option in command.users:
        if word.startswith(option) and not word.startswith("--"):
            return _password_start(word, len(option))
        if word.startswith(option + "="):
            return _password_start(word, len(option) + 1)
    glued = next((option for option in command.glued if word.startswith(option)), None)
    return None if glued is None else len(glued)


def _password_start(word: str, start: int) -> int | None:
    found = [at for mark in _SEPARATORS if (at := word.find(mark, start)) >= 0]
    at = min(found, default=-1)
    if (
        at >= 0
        and not word[at + 1 :].strip(_QUOTES)
        and is_token_like(word[start:at].strip(_QUOTES))
    ):
        return start  # a key is the user, and there is no password: `curl -u KEY:`
    return at + 1 if at >= 0 else None


def _is_one(value: str) -> bool:
    bare = value.strip(_QUOTES)
    return (
        len(bare) >= _MIN_CHARS
        and not bare.startswith(("-", "//", "$", "%", "\\"))
        and not is_reference(bare)
        and not is_masked(bare)
    )
