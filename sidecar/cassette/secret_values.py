"""Whether what stands behind a secret's name is a secret, or speaks of one.

`${API_KEY}`, `<your token>`, `os.environ["TOKEN"]`, `required` and `***` are no secrets.
In running text a value must also look like one; in a structure the name is enough.
"""

from __future__ import annotations

import re
from enum import IntEnum

from sidecar.cassette.placeholders import PATTERN
from sidecar.cassette.secret_names import NameKind, folded, name_kind, words_of


class Evidence(IntEnum):
    """How surely a text's value belongs to the name before it, and the name to a secret."""

    WEAK = 0  # `?key=AbC...`: only a long random value is one
    PROSE = 1  # `password: hunter2`: it may be a sentence that goes on
    TIGHT = 2  # `password=hunter2`, or a line of YAML
    QUOTED = 3  # `password = "hunter2"`
    SURE = 4  # `?password=hunter2`, `DB_PASSWORD=hunter2`, `--password=hunter2`
    MEMBER = 5  # `"password": "hunter2"`: the name is enough, as in a structure


SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|apikey|api-key|negotiate|ntlm|hmac|aws4-hmac-sha256|ssws"
    r"|splunk|genie-?key)[ \t]+(?=\S)",
    re.IGNORECASE,
)
"""What stands before the credentials in an Authorization header; it stays readable."""

_PLACEHOLDERS = re.compile(PATTERN)
_REFERENCE = re.compile(
    r"\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_]\w*|\$\$?\{?\{[^}]*\}\}?|\{\{.*\}\}|\{\w*\}|<[^<>]*>"
    r"|%\w+%|%\(\w+\)s|%[sdr]|\[[A-Za-z _-]+\]|([*xX.•·_#?-])\1{2,}"
)
_NOTHING = words_of(
    "none null nil undefined true false yes no on off required optional pass passed fail failed "
    "ok error skipped"
)
_WORDS = words_of(
    "str string text bytes int integer number bool boolean any hidden masked redacted removed "
    "secret empty default enabled disabled invalid missing expired valid unknown unset string[] "
    "password incorrect wrong correct rotated"
)
_CODE = re.compile(
    r"(?:[A-Za-z_]+\.)+[A-Za-z_]+\Z|[A-Za-z_][\w.]*\[|(?:process|os|self|this|config|settings|env"
    r"|secrets|var|local|module|data|github|inputs)\."
)
_PATH = re.compile(
    r"(?:~|\.{1,2})?(?:/[a-z0-9_.@-]+)+/?\Z|(?:/[A-Za-z][a-z0-9_.@-]*)+/?\Z"
    r"|[A-Za-z]:\\|https?://|arn:|projects/|(?:file|vault|op|ssm|env|keyring|sops|kms|secretref):"
)
_SLUG = re.compile(r"[A-Za-z]?[a-z]*(?:[-_./][a-z]+)*(?:[-_.]?v?[0-9]{1,4})?\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[:/.][0-9]{1,2}")
_SPECIAL = re.compile(r"[!@#$%^*+=~?]")
_SIGNATURE = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_%+/=-]{16,}\Z")
_STAND_IN = re.compile(r"(?:your|insert|enter|replace|change)[-_ ]", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_.-]*\Z")
_TRAILING = ".,;:!?)]}>"

_SCHEME_AND_VALUE = 2  # words
_MIN_CHARS = 3
_MAX_WORD_CHARS = 1000  # no word, slug or path of code is longer
_MIN_PROSE_CHARS = 6
_MIN_MIXED_CHARS = 20  # letters only, but long and of both cases
_MIN_DIGITS = 6  # of a value of digits only, where the name may be followed by a count


def is_masked(value: str) -> bool:
    """Tell whether nothing but placeholders, and a scheme before them, is in a value."""
    rest = _PLACEHOLDERS.sub("", value)
    return rest != value and not SCHEME.sub("", rest + "-").strip(" \t\r\n-\"',;.&")


def is_reference(value: str) -> bool:
    """Tell whether a value stands for a secret without being one.

    Such are references to variables (`${TOKEN}`), templates (`{{token}}`, `<token>`), one
    character over and over (`***`, `xxxx`), the empty value, and words like `null`.
    """
    stripped = SCHEME.sub("", value.strip(), count=1)
    return (
        not stripped
        or _REFERENCE.fullmatch(stripped) is not None
        or stripped.lower() in _NOTHING
        or _STAND_IN.match(stripped) is not None
    )


def is_secret(value: str, name: str, kind: NameKind, evidence: Evidence) -> bool:
    """Tell whether a value in a text, behind a secret's name, is a secret.

    Args:
        value: The value without its quotes.
        name: The name before it.
        kind: What the name says of it.
        evidence: How it stands behind the name.
    """
    if is_reference(value) or is_masked(value):
        return False
    if evidence is Evidence.MEMBER:
        return True
    if _PATH.match(value) or _is_name(value, name):
        return False
    return evidence is Evidence.SURE or _looks_secret(value, kind, evidence)


def _looks_secret(value: str, kind: NameKind, evidence: Evidence) -> bool:
    if evidence is Evidence.WEAK:
        return _SIGNATURE.match(value) is not None and not _SLUG.match(value)
    if len(value) < _MIN_CHARS or value.lower() in _WORDS:
        return False
    quoted = evidence is Evidence.QUOTED
    return _is_quoted_secret(value) if quoted else _is_bare_secret(value, kind, evidence)


def _is_name(value: str, name: str) -> bool:
    """Tell whether a value is the name of what belongs there: `token=access_token`."""
    if not _NAME.match(value):
        return False
    if folded(value) == folded(name):
        return True
    written = any(mark in value for mark in "_.") or value[1:] != value[1:].lower()
    return written and name_kind(value) is not NameKind.NONE


def _is_quoted_secret(value: str) -> bool:
    if " " in value.strip():
        return any(char.isdigit() for char in value) and len(value.split()) == _SCHEME_AND_VALUE
    return any(char.isalnum() for char in value)


def _is_bare_secret(value: str, kind: NameKind, evidence: Evidence) -> bool:
    if len(value) >= _MAX_WORD_CHARS:
        return True
    if _CODE.match(value):
        return False
    if evidence is Evidence.PROSE:
        return looks_random(value.rstrip(_TRAILING), kind)
    if value.isdigit():
        return kind is NameKind.ANY or len(value) > _MIN_DIGITS
    return kind is NameKind.ANY or looks_random(value, kind)


def looks_random(value: str, kind: NameKind = NameKind.TEXT) -> bool:
    """Tell whether a word is more like a secret than like a word, a slug or a date."""
    if len(value) < _MIN_PROSE_CHARS or _PATH.match(value) or _DATE.match(value):
        return False
    if value.isdigit():
        return kind is NameKind.ANY
    has_digit = any(char.isdigit() for char in value)
    if _SLUG.match(value):
        return kind is NameKind.ANY and has_digit and value.isalnum()
    if has_digit or _SPECIAL.search(value):
        return any(char.isalpha() for char in value)
    return len(value) >= _MIN_MIXED_CHARS and not value.islower() and not value.isupper()
