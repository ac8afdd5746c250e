"""Whether what stands behind a secret's name is a secret, or speaks of one.

`${API_KEY}`, `<your token>`, `os.environ["TOKEN"]`, `required` and `***` are no secrets.
In running text a value must also look like one; in a structure the name is enough.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from enum import IntEnum

from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.names import CREDENTIALS, NameKind, folded, name_kind, words_of
from sidecar.cassette.redaction.placeholders import PATTERN


class Evidence(IntEnum):
    """How surely a text's value belongs to the name before it, and the name to a secret."""

    WEAK = 0  # `?key=AbC...`: only a long random value is one
    PROSE = 1  # `password: hunter2`: it may be a sentence that goes on
    TIGHT = 2  # `password=hunter2`, or a line of YAML
    QUOTED = 3  # `password = "hunter2"`
    SURE = 4  # `?password=hunter2`, `DB_PASSWORD=hunter2`, `--password=hunter2`
    MEMBER = 5  # `"password": "hunter2"`: the name is enough, as in a structure


_SCHEME = (
    r"(?:bearer|basic|token|digest|apikey|api-key|negotiate|ntlm|hmac|aws4-hmac-sha256|ssws"
    r"|splunk|genie-?key)[ \t]+(?=\S)"
)

_PLACEHOLDERS = PATTERN
_REFERENCE = (
    r"\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_]\w*|\$\$?\{?\{[^}]*\}\}?|\{\{.*\}\}|\{\w*\}|<[^<>]*>"
    r"|%\w+%|%\(\w+\)s|%[sdr]|\[[A-Za-z _-]+\]|([*xX.•·_#?-])\1{2,}"
)
_NOTHING = words_of(
    "none null nil undefined true false yes no on off required optional pass passed fail failed "
    "ok error skipped"
)
_MODES = words_of("include omit same-origin allow deny none default anonymous required")
_WORDS = words_of(
    "str string text bytes int integer number bool boolean any hidden masked redacted removed "
    "secret empty default enabled disabled invalid missing expired valid unknown unset string[] "
    "password incorrect wrong correct rotated"
)
_CODE = (
    r"(?:[A-Za-z_]+\.)+[A-Za-z_]+\Z|[A-Za-z_][\w.]*\[|(?:process|os|self|this|config|settings|env"
    r"|secrets|var|local|module|data|github|inputs)\."
)
_PATH = (
    r"(?:~|\.{1,2})?(?:/[a-z0-9_.@-]+)+/?\Z|(?:/[A-Za-z][a-z0-9_.@-]*)+/?\Z"
    r"|[A-Za-z]:\\|https?://|arn:|projects/|(?:file|vault|op|ssm|env|keyring|sops|kms|secretref):"
)
_SLUG = r"[A-Za-z]?[a-z]*(?:[-_./][a-z]+)*(?:[-_.]?v?[0-9]{1,4})?\Z"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[:/.][0-9]{1,2}"
_SPECIAL = r"[!@#$%^*+=~?]"
_CODE_DIGITS = r"[0-9]{4,10}\Z"
_CARD_DIGITS = r"[0-9]{3,4}\Z"  # a verification value of a payment card
_PLAIN_WORD = r"[A-Za-z][a-z]{4,14}\Z"
_SIGNATURE = r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_%+/=-]{12,}\Z"
_BASE64 = r"[A-Za-z0-9+/]{8,1024}={0,2}\Z"
_PUBLIC = r"(?:id|name|user|login|email|mail|uri|url|type|at|expires?|expiry|date|time|region)\Z"
_PLAIN_NAME = r"(?:x-[a-z-]{1,40}|(?:[a-z ]{0,40}[ _-])?pass)\Z"
_STAND_IN = r"(?:your|insert|enter|replace|change)[-_ ]"
_NAME = r"[A-Za-z_][A-Za-z_.-]*\Z"
_BETWEEN = " ,:;{}[]"  # what is between the members of a structure
_TRAILING = ".,;:!?)]}>"

__SCHEME_AND_VALUE = 2  # words
_MIN_CHARS = 3
_MIN_COOKIE_CHARS = 12
_MAX_WORD_CHARS = 1000  # no word, slug or path of code is longer
_MIN_PROSE_CHARS = 6
_MIN_MIXED_CHARS = 20  # letters only, but long and of both cases
_MIN_DIGITS = 6  # of a value of digits only, where the name may be followed by a count


def scheme_chars(value: str) -> int:
    """Return how many characters of an Authorization header are before the credentials."""
    scheme = compiled(_SCHEME, re.IGNORECASE).match(value)
    return scheme.end() if scheme else 0


def is_masked(value: str) -> bool:
    """Tell whether nothing but placeholders, and a scheme before them, is in a value."""
    rest = compiled(_PLACEHOLDERS).sub("", value)
    return rest != value and not compiled(_SCHEME, re.IGNORECASE).sub("", rest + "-").strip(
        " \t\r\n-\"',;.&"
    )


def is_reference(value: str) -> bool:
    """Tell whether a value stands for a secret without being one.

    Such are references to variables (`${TOKEN}`), templates (`{{token}}`, `<token>`), one
    character over and over (`***`, `xxxx`), the empty value, and words like `null`.
    """
    stripped = compiled(_SCHEME, re.IGNORECASE).sub("", value.strip(), count=1)
    return (
        not stripped
        or compiled(_REFERENCE).fullmatch(stripped) is not None
        or stripped.lower() in _NOTHING
        or compiled(_STAND_IN, re.IGNORECASE).match(stripped) is not None
    )


def is_secret(value: str, name: str, kind: NameKind, evidence: Evidence) -> bool:
    """Tell whether a value in a text, behind a secret's name, is a secret.

    Args:
        value: The value without its quotes.
        name: The name before it.
        kind: What the name says of it.
        evidence: How it stands behind the name.
    """
    if is_reference(value) or is_masked(value) or kind is NameKind.PARENT:
        return False
    if kind is NameKind.WEAK:
        evidence = Evidence.WEAK
    if kind is NameKind.CODE:
        return evidence is not Evidence.PROSE and is_code(value, name)
    if evidence is Evidence.MEMBER:
        return not _is_label(value, name) and not _is_switch(value, name)
    if compiled(_PATH).match(value) or _is_name(value, name) or not value.strip(_BETWEEN):
        return False
    is_plain = kind is NameKind.TEXT and _is_named_plainly(value, name)
    return is_plain or evidence is Evidence.SURE or _looks_secret(value, kind, evidence)


def is_code(value: str, name: str) -> bool:
    """Tell whether a value is a PIN, a one-time code or the like: a few digits."""
    is_card = folded(name).endswith(("cvv", "cvc"))
    return compiled(_CARD_DIGITS if is_card else _CODE_DIGITS).match(value) is not None


def _is_label(value: str, name: str) -> bool:
    """Tell whether a member's value is a word of a text, as in translations and parsers' output.

    `"password": "Passwort"`; `"token": "identifier"`: tokens are made by machines, and are
    no words.
    """
    if not value.isalpha():
        return False
    is_word = compiled(_PLAIN_WORD).match(value) and folded(name).endswith("token")
    return bool(is_word) or name_kind(value) >= NameKind.TEXT


def _is_named_plainly(value: str, name: str) -> bool:
    """Tell of `pass: hunter2` and `X-Token: hunter2` whether the value is no word or count."""
    is_plain = compiled(_PLAIN_NAME, re.IGNORECASE).match(name) and value.isalnum()
    return bool(is_plain) and not value.isdigit() and looks_random(value, NameKind.ANY)


def _is_switch(value: str, name: str) -> bool:
    """Tell whether a value says what is done with credentials, or is no cookie.

    `"credentials": "include"`, as of `fetch`; a cookie has a name, or is random.
    """
    word = value.lower()
    if folded(name) in CREDENTIALS:
        return word in _MODES
    is_cookie = folded(name) in ("cookie", "cookies")
    return is_cookie and value.isalpha() and len(value) < _MIN_COOKIE_CHARS


def is_credential(name: str, value: str) -> bool:
    """Tell whether a member of an object of credentials is a secret, by its looks."""
    return (
        compiled(_SIGNATURE).match(value) is not None
        and not compiled(_SLUG).match(value)
        and not compiled(_PUBLIC, re.IGNORECASE).search(name)
        and not is_masked(value)
    )


def is_user_and_password(encoded: bytes) -> bool:
    """Tell whether base64 is that of `user:password`, as of `Basic` credentials."""
    body = encoded.rstrip(b"=")
    try:
        decoded = a2b_base64(body + b"=" * (-len(body) % 4))
    except Error:
        return False
    user, colon, password = decoded.partition(b":")
    return bool(colon and (user or password)) and decoded == decoded.translate(None, _CONTROLS)


_CONTROLS = bytes(range(0x20)) + b"\x7f"


def _is_login(value: str) -> bool:
    """Tell whether a value is the `auth` of a registry: readable `user:password` in base64."""
    if not compiled(_BASE64).match(value) or not is_user_and_password(value.encode()):
        return False
    body = value.rstrip("=")
    return a2b_base64(body + "=" * (-len(body) % 4)).isascii()


def _looks_secret(value: str, kind: NameKind, evidence: Evidence) -> bool:
    if evidence is Evidence.WEAK:
        is_random = compiled(_SIGNATURE).match(value) and not compiled(_SLUG).match(value)
        return bool(is_random) or _is_login(value)
    if len(value) < _MIN_CHARS or value.lower() in _WORDS:
        return False
    quoted = evidence is Evidence.QUOTED
    return _is_quoted_secret(value) if quoted else _is_bare_secret(value, kind, evidence)


def _is_name(value: str, name: str) -> bool:
    """Tell whether a value is the name of what belongs there: `token=access_token`."""
    if not compiled(_NAME).match(value):
        return False
    if folded(value) == folded(name):
        return True
    written = any(mark in value for mark in "_.") or value[1:] != value[1:].lower()
    return written and name_kind(value) is not NameKind.NONE


def _is_quoted_secret(value: str) -> bool:
    if " " in value.strip():
        return any(char.isdigit() for char in value) and len(value.split()) == __SCHEME_AND_VALUE
    return any(char.isalnum() for char in value)


def _is_bare_secret(value: str, kind: NameKind, evidence: Evidence) -> bool:
    if len(value) >= _MAX_WORD_CHARS:
        return True
    if compiled(_CODE).match(value):
        return False
    if evidence is Evidence.PROSE:
        return looks_random(value.rstrip(_TRAILING), kind)
    if value.isdigit():
        return kind is NameKind.ANY or len(value) > _MIN_DIGITS
    return kind is NameKind.ANY or looks_random(value, kind)


MIN_TELLING_CHARS = 8
MAX_TELLING_CHARS = 4096


def is_telling(value: str) -> bool:
    """Tell whether a secret's value can be told from other words wherever it stands.

    It is long enough, and letters with digits or signs: neither a word, a number, a slug, a
    date nor a path, which would be masked where they are no secret.
    """
    return (
        MIN_TELLING_CHARS <= len(value) <= MAX_TELLING_CHARS
        and looks_random(value, NameKind.ANY)
        and not value.isdigit()
        and any(map(str.isalpha, value))
    )


def is_token_like(value: str) -> bool:
    """Tell whether a value that someone wrote into a config is a secret, by its looks alone.

    Words, numbers, switches, paths, URLs, versions, UUIDs and hexadecimal ids are none.
    """
    if not compiled(_TOKEN_LIKE).match(value) or compiled(_HEXADECIMAL).match(value):
        return False
    pieces = compiled(_SEPARATED).split(value)
    return looks_random(value, NameKind.ANY) and any(map(_is_token_piece, pieces))


def _is_token_piece(piece: str) -> bool:
    digits = sum(map(str.isdigit, piece))
    return (
        len(piece) >= _MIN_PIECE_CHARS
        and 1 < digits < len(piece) - 1
        and not compiled(_WORDS_AND_NUMBER).match(piece)
    )


_TOKEN_LIKE = r"(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+/=.~-]{12,4096}\Z"
_HEXADECIMAL = r"[0-9a-fA-F-]+\Z"
_SEPARATED = r"[-_./=+~]"
_WORDS_AND_NUMBER = r"(?:[A-Z]?[a-z]+|[A-Z]+)[0-9]{0,6}\Z|(?:[A-Z][a-z]+)+[0-9]{0,6}\Z"
_MIN_PIECE_CHARS = 10


def looks_random(value: str, kind: NameKind = NameKind.TEXT) -> bool:
    """Tell whether a word is more like a secret than like a word, a slug or a date."""
    if (
        len(value) < _MIN_PROSE_CHARS
        or compiled(_PATH).match(value)
        or compiled(_DATE).match(value)
    ):
        return False
    if value.isdigit():
        return kind is NameKind.ANY
    has_digit = any(char.isdigit() for char in value)
    if compiled(_SLUG).match(value):
        return kind is NameKind.ANY and has_digit and value.isalnum()
    if has_digit or compiled(_SPECIAL).search(value):
        return any(char.isalpha() for char in value)
    return len(value) >= _MIN_MIXED_CHARS and not value.islower() and not value.isupper()
