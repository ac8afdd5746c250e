"""Whether what stands behind a secret's name is a secret, or speaks of one.

`${API_KEY}`, `<your token>`, `os.environ["TOKEN"]`, `required` and `***` are no secrets.
In running text a value must also look like one; in a structure the name is enough.
"""

from __future__ import annotations

import re
from enum import IntEnum

from sidecar.cassette.lazy_patterns import compiled
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
_SIGNATURE = r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_%+/=-]{16,}\Z"
_STAND_IN = r"(?:your|insert|enter|replace|change)[-_ ]"
_NAME = r"[A-Za-z_][A-Za-z_.-]*\Z"
_BETWEEN = " ,:;{}[]"  # what is between the members of a structure
_TRAILING = ".,;:!?)]}>"

__SCHEME_AND_VALUE = 2  # words
_MIN_CHARS = 3
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
    if is_reference(value) or is_masked(value):
        return False
    if evidence is Evidence.MEMBER:
        return True
    if compiled(_PATH).match(value) or _is_name(value, name) or not value.strip(_BETWEEN):
        return False
    return evidence is Evidence.SURE or _looks_secret(value, kind, evidence)


def _looks_secret(value: str, kind: NameKind, evidence: Evidence) -> bool:
    if evidence is Evidence.WEAK:
        return compiled(_SIGNATURE).match(value) is not None and not compiled(_SLUG).match(value)
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
