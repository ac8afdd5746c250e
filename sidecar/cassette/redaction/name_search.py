"""Tells quickly, of a text of any size, whether names of secrets may be in it, and which.

A name counts where something is assigned to it: `"api_key": …`, `api_key=…`, `<password>`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.names import SECRET_KEYS, NameKind, folded, name_kind, words

# Folding leaves only these letters, small, and a colon for each sign of an assignment. The
# letters left out are those that no ending needs; fewer bytes, less to search.
_LETTERS = b"abcdeghiklmnoprstuvwxyz"
_SIGNS = b":=>"


def _table() -> bytes:
    table = bytearray(range(256)).lower()
    for sign in _SIGNS:
        table[sign] = ord(":")
    return bytes(table)


_FOLD = _table()
_LEFT_OUT = bytes(byte for byte in range(256) if _FOLD[byte] not in _LETTERS and byte not in _SIGNS)


def fold(data: bytes) -> bytes:
    """Reduce a text to what names of secrets consist of, and colons; see `_LETTERS`."""
    return data.translate(_FOLD, _LEFT_OUT)


def near_signs(data: bytes) -> bytes:
    """Reduce a text with few signs of assignment to what is before each; else the same text."""
    if len(data) <= _SAMPLE_BYTES:
        return data
    sample = data[:_SAMPLE_BYTES]
    if sum(map(sample.count, _EACH_SIGN)) * _SPARSE > len(sample):
        return data
    pieces: list[bytes] = []
    for sign in _EACH_SIGN:
        at = data.find(sign)
        while at >= 0:
            pieces.append(data[max(0, at - _BEFORE_SIGN) : at + 1])
            at = data.find(sign, at + 1)
            if len(pieces) * _SPARSE > len(data):
                return data
    return b" ".join(pieces)


_SAMPLE_BYTES = 32768
_EACH_SIGN = (b":", b"=", b">")
_SPARSE = 512  # bytes a sign, at least
_BEFORE_SIGN = 128  # bytes: a name, or a name's label and the name of its value


def unescaped(data: bytes) -> bytes:
    r"""Write out the escapes of ASCII characters in a JSON text: `\u0041` is `A`.

    Some writers escape `<`, `>`, `&`, `'` or `+` so; a search must see through it.
    """
    if b"\\" not in data or b"\\u00" not in data:  # one byte is found at once
        return data
    first, *rest = data.split(b"\\u00")
    return b"".join((first, *map(_written_out, rest)))


def without_content(data: bytes) -> bytes:
    """Leave out long strings of base64 from a JSON text, such as images: no names, no tokens.

    They are looked for at the text's beginning only, up to the thousandth quote.
    """
    if len(data) < _MIN_CONTENT_BYTES:
        return data
    kept: list[bytes] = []
    done = start = 0
    for _ in range(_MAX_QUOTES):
        end = data.find(b'"', start)
        if end < 0:
            break
        if end - start >= _MIN_CONTENT_BYTES and _is_content(data, start, end):
            kept.append(data[done:start])
            done = end
        start = end + 1
    return b"".join((*kept, data[done:])) if kept else data


def _is_content(data: bytes, start: int, end: int) -> bool:
    sample = data[start : start + _SMALLER_BYTES]
    return not sample.translate(None, _BASE64) and not data[start:end].translate(None, _BASE64)


_MIN_CONTENT_BYTES = 8192
_SMALLER_BYTES = 256
_MAX_QUOTES = 1000
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="


def _written_out(piece: bytes) -> bytes:
    try:
        code = int(piece[:_HEX_DIGITS], 16)
    except ValueError:
        code = _FIRST_NOT_ASCII
    if code >= _FIRST_NOT_ASCII:
        return b"\\u00" + piece
    return bytes((code,)) + piece[_HEX_DIGITS:]


_HEX_DIGITS = 2  # of an ASCII character, behind `\\u00`
_FIRST_NOT_ASCII = 0x80

# What a secret's name ends with, without separators, and the word of it that is searched
# for in a text. Every name that `names.name_kind` knows ends with one of these.
_ENDINGS = {
    "token": "token", "tokens": "token", "secret": "secret", "secrets": "secret",
    "passwort": "passwort", "kennwort": "kennwort", "contrasena": "contrasena",
    "wachtwoord": "wachtwoord", "senha": "senha",
    "auth": "auth", "pin": "pin", "pins": "pin", "otp": "otp", "cvv": "cvv", "cvc": "cvc",
    "pincode": "code", "otpcode": "code", "mfacode": "code", "verificationcode": "code",
    "securitycode": "code", "keybase": "key",
    "api": "api", "openai": "openai", "anthropic": "anthropic", "stripe": "stripe",
    "jsessionid": "jsessionid", "phpsessid": "phpsessid", "clientassertion": "assertion",
    "codeverifier": "verifier", "sshkey": "key", "deploykey": "key",
    "gitlabsession": "session", "laravelsession": "session", "connectsid": "sid",
    "secretvalue": "secret", "secretstring": "secret",
    "password": "password", "passwords": "password",
    "passwordconfirm": "password", "passwordconfirmation": "password",
    "passwd": "passwd", "pwd": "pwd", "passcode": "passcode",
    "passphrase": "phrase", "seedphrase": "phrase", "recoveryphrase": "phrase",
    "recoverycode": "code", "recoverycodes": "code", "backupcode": "code", "backupcodes": "code",
    "cookie": "cookie", "cookies": "cookie", "authorization": "authorization",
    "credential": "credential", "credentials": "credential",
    "pat": "pat", "pass": "pass", "mnemonic": "mnemonic", "sig": "sig", "signature": "signature",
    **{qualifier + key: "key" for qualifier in SECRET_KEYS for key in ("key", "keys", "keypem")},
}  # fmt: skip
_WORDS = frozenset(_ENDINGS.values())
_LENGTHS = (3, 4, 5, 6)  # of an ending, how much is looked at
_LONGEST = max(_LENGTHS)
_SHORTEST = min(_LENGTHS)


class NameSearch:
    """Looks for names of secrets.

    Args of the constructor:
        names: Further names that are secrets as a whole.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        endings = dict(_ENDINGS)
        for name in names:
            parts = words(name)
            if parts:
                endings[folded(name)] = parts[-1]
        self._endings: dict[bytes, set[str]] = {}
        for ending, word in endings.items():
            end = fold(ending.encode())[-_LONGEST:]
            self._endings.setdefault(end, set()).add(word)
        self._lasts = frozenset(end[-_SHORTEST:] for end in self._endings)
        # A name of few of these letters, or of none, cannot be told from any other.
        short = (end for end in self._endings if len(end) < _SHORTEST)
        self._always = frozenset(word for end in short for word in self._endings[end])

    def words_in(self, text: bytes) -> set[str]:
        """Find the deciding words of names in a folded text.

        Names are those that something is assigned to, and those that are the value of a
        `name` with a `value` near. More are found than are there (`sort_key` for
        `api_key`), never fewer.
        """
        tails = {piece[-_LONGEST:] for piece in _pieces(text)}
        likely = [tail for tail in tails if tail[-_SHORTEST:] in self._lasts]
        assigned = set(self._always)
        for tail in likely:
            for length in _LENGTHS:
                assigned.update(self._endings.get(tail[-length:], ()))
        has_labels = _VALUE in text or _VAL in text or _ELEMENT in text
        return assigned | _labels(text) if has_labels else assigned


def _pieces(text: bytes) -> set[bytes]:
    """Split at each colon; rows of them, as of a ruler of `=`, count as one."""
    while _MANY_SIGNS in text:
        text = text.replace(_MANY_SIGNS, b":")
    pieces = text.split(b":")
    pieces.pop()  # nothing is assigned to what follows the last sign
    return set(pieces)


_MANY_SIGNS = b":" * 8
_VALUE = b"lue:"  # the end of a folded `value`
_VAL = b"val:"
_ELEMENT = b"element:"
_NAMES = (b"name:", b"key:", b"ield:", _ELEMENT)  # folded, `field` has no `f`
_LABEL = (
    b"(token|secret|password|passwort|kennwort|passwd|pwd|phrase|passcode|pin|otp|cvv|cvc|cookie"
    b"|authorization|credential|key)"
)
_MAX_BESIDE = 200  # bytes from a name to the next sign


_FLAG = rb"--([A-Za-z][A-Za-z0-9_-]{1,62})(?:[ \t]|\\*[\"'][ \t]*,)"


def flag_words(data: bytes) -> set[str]:
    """Find the deciding words of options whose value is the next word of a command line.

    Args:
        data: A text's UTF-8 bytes, not folded.
    """
    found: set[str] = set()
    at = data.find(b"--")
    while at >= 0:
        flag = compiled(_FLAG).match(data, at)
        name = flag[1].decode() if flag else ""
        if name and name_kind(name) is not NameKind.NONE:
            found |= {word for word in _WORDS if word in name.lower()}
        at = data.find(b"--", at + 2)
    return found


def _labels(text: bytes) -> set[str]:
    """Find the words of secrets' names that are the value of a `name` or a `key`."""
    following: set[bytes] = set()
    for name in _NAMES:
        at = text.find(name)
        while at >= 0:
            at += len(name)
            following.add(text[at : at + _MAX_BESIDE].partition(b":")[0])
            at = text.find(name, at)
    words_of = compiled(_LABEL).findall
    return {word.decode() for piece in following for word in words_of(piece)}
