"""Secrets in what a config gives to a server: variables, and the words of its command.

A value may be a secret as a whole, or hold some: JSON of headers, a connection string, a
command line, a header line, a URL. Nobody writes a random text there that is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.names import secret_environment
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.redaction.value_parts import opaque_segments, password_of
from sidecar.cassette.redaction.values import is_reference, is_token_like, looks_random
from sidecar.wire.json_text import dump

_KEY_FLAGS = ("--key", "-key", "-k", "--pw", "--pass", "--bearer")
_LOGIN_FLAGS = ("--auth", "-auth", "--user", "-u", "--login", "--basic", "--basic-auth")
_LOGIN_NAMES = frozenset(("BASIC", "LOGIN", "USERPWD", "USERPASS"))
_GLUED = r"-p(\S{6,512})"
_MIN_CHARS = 6


def config_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """Return what of a config's `env` is a secret, or holds one, whatever its name, by name.

    Words, numbers, switches, paths, URLs without a password, versions, UUIDs and hexadecimal
    ids are none: they are found in answers that have nothing to do with them. A `Redactor`
    that gets a value knows the secrets in it, too.
    """
    return {
        name: value
        for name, value in variables.items()
        if is_token_like(value) or _holds_more(name, value)
    }


def _holds_more(name: str, value: str) -> bool:
    """Tell whether a secret is in a value that its name, or a URL, does not tell by itself."""
    told = secret_environment({name: value})
    return value not in told and not set(_inner(name, value)) - {""} <= set(told)


def _inner(name: str, value: str) -> Iterator[str]:
    parts = name.upper().replace("-", "_").split("_")
    if not _LOGIN_NAMES.isdisjoint(parts):
        yield password_of(value)
    if parts[-1] == "BEARER" and looks_random(value):
        yield value
    yield from _within(value)


def _within(value: str) -> Iterator[str]:
    yield from Redactor(b"").secrets_in(value)
    yield from opaque_segments(value)


def command_secrets(words: Sequence[str]) -> tuple[str, ...]:
    """Return the secrets in the words of a server's command.

    Args:
        words: The program and its arguments; may be empty.
    """
    found = dict.fromkeys(Redactor(b"").secrets_in(dump(list(words))))
    for before, word in pairwise(words):
        found.update(dict.fromkeys(_of_word(before, word)))
    return tuple(one for one in found if len(one) >= _MIN_CHARS and not is_reference(one))


def _of_word(before: str, word: str) -> Iterator[str]:
    flag, assigned, value = word.partition("=")
    option, given = (flag, value) if assigned else (before, word)
    if option in _KEY_FLAGS and looks_random(given):
        yield given
    if option in _LOGIN_FLAGS:
        yield password_of(given)
    glued = compiled(_GLUED).match(word)
    if glued and is_token_like(glued[1]):
        yield glued[1]
    yield from _within(word)
