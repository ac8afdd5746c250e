"""Which names say that their value is a secret: of JSON members, headers, variables, flags.

Names are read as whole words, however they are written (`api_key`, `apiKey`, `X-Api-Key`,
`APIKEY`). The last word decides, the one before it qualifies: `max_tokens`,
`next_page_token`, `primary_key`, `secret_name`, `tokenizer` and `author` are no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise

from sidecar.cassette.redaction.lazy_patterns import compiled

MAX_NAME_CHARS = 128
"""Longer words are no names."""


class NameKind(IntEnum):
    """What a name says of its value."""

    NONE = 0
    PARENT = 1  # an object has a `key` that is a secret if it looks so: `api`, `openai`
    WEAK = 2  # a string is a secret if it looks so: `auth`, `tokens`
    CODE = 3  # a few digits are a secret, be they a string or a number: `pin`, `otp`
    TEXT = 4  # a string is a secret; a number would be a count or an id
    ANY = 5  # a number is a secret, too: passwords and passcodes
    DEEP = 6  # strings are secrets, those directly within an object, too: cookies


_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_ODD = r"[^A-Za-z0-9_. /-]"
_TRAILING = r"[^A-Za-z0-9\"'`\\,{}\[\]]{1,3}\Z"
_NOT_ALNUM = r"[^a-z0-9]"


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, as a set to look up in."""
    return frozenset(text.split())


# By the last word, whatever is before it; see `_QUESTIONS`.
_LAST = {
    "password": NameKind.ANY,
    "passwords": NameKind.DEEP,
    "passwd": NameKind.ANY,
    "pwd": NameKind.ANY,
    "passphrase": NameKind.ANY,
    "passcode": NameKind.ANY,
    "secret": NameKind.ANY,
    "secrets": NameKind.DEEP,
    "mnemonic": NameKind.TEXT,
    "cookie": NameKind.DEEP,
    "cookies": NameKind.DEEP,
    "authorization": NameKind.TEXT,
    "credential": NameKind.TEXT,
    "credentials": NameKind.TEXT,
    "pat": NameKind.TEXT,
    "seedphrase": NameKind.TEXT,
    "secretstring": NameKind.TEXT,
    "secretvalue": NameKind.TEXT,
    "passwort": NameKind.ANY,
    "kennwort": NameKind.ANY,
    "contrasena": NameKind.ANY,
    "wachtwoord": NameKind.ANY,
    "senha": NameKind.ANY,
    "auth": NameKind.WEAK,
    "jsessionid": NameKind.TEXT,
    "phpsessid": NameKind.TEXT,
    "pin": NameKind.CODE,
    "pins": NameKind.CODE,
    "otp": NameKind.CODE,
    "cvv": NameKind.CODE,
    "cvc": NameKind.CODE,
    "api": NameKind.PARENT,
    "openai": NameKind.PARENT,
    "anthropic": NameKind.PARENT,
    "stripe": NameKind.PARENT,
}
# Written without a break: `apikey`, `DBPASSWORD`, `clientsecret`.
_GLUED = (
    "password", "passwd", "passphrase", "secret", "authorization",
    "apikey", "secretkey", "privatekey", "accesskey", "authkey", "signingkey", "encryptionkey",
    "accountkey", "masterkey", "subscriptionkey", "sharedkey", "functionskey", "licensekey",
    "sessionkey", "servicekey", "storagekey", "webhookkey",
)  # fmt: skip
_LAST_TWO = {
    ("seed", "phrase"): NameKind.TEXT,
    ("recovery", "phrase"): NameKind.TEXT,
    ("recovery", "code"): NameKind.ANY,
    ("recovery", "codes"): NameKind.ANY,
    ("backup", "code"): NameKind.ANY,
    ("backup", "codes"): NameKind.ANY,
    ("secret", "string"): NameKind.TEXT,
    ("secret", "value"): NameKind.TEXT,
    ("key", "pem"): NameKind.TEXT,
    ("key", "base"): NameKind.TEXT,  # Rails: `secret_key_base`
    ("ssh", "key"): NameKind.WEAK,  # mostly a public one, or its name
    ("deploy", "key"): NameKind.WEAK,
    ("gitlab", "session"): NameKind.TEXT,
    ("laravel", "session"): NameKind.TEXT,
    ("connect", "sid"): NameKind.TEXT,
    ("client", "assertion"): NameKind.TEXT,
    ("code", "verifier"): NameKind.TEXT,
    ("pin", "code"): NameKind.CODE,
    ("otp", "code"): NameKind.CODE,
    ("mfa", "code"): NameKind.CODE,
    ("verification", "code"): NameKind.CODE,
    ("security", "code"): NameKind.CODE,
    ("password", "confirm"): NameKind.ANY,
    ("password", "confirmation"): NameKind.ANY,
}
# `has_password`, `requirePassword`, `reset-password`: a question or a deed, not the password.
_QUESTIONS = words_of(
    "has is needs need require requires required use uses show hide enable allow forgot reset "
    "change no"
)
# A token is a secret unless it is one of these: a place in a list or a text, or a word of a
# model's vocabulary.
_HARMLESS_TOKENS = words_of(
    "page nextpage prevpage previouspage next prev previous continuation nextcontinuation "
    "continue progress sync nextsync start end begin first last current eos bos unk pad sep cls "
    "mask stop special cancel cancellation change delta skip cursor resume position lookahead "
    "peek syntax lexer parse word per max min num text input output prompt completion cached "
    "reasoning total design color theme idempotency clientrequest marker scroll is has use "
    "image audio"
)
# A key is a secret only if it is one of these; so are several of them.
SECRET_KEYS = words_of(
    "api secret private access auth authentication encryption encrypt decryption signing "
    "signature master account shared storage subscription functions service role session hmac "
    "cipher crypto aes symmetric preshared license webhook server admin root app application "
    "consumer write ingest ingestion integration client rest bot openai anthropic claude gemini "
    "groq mistral cohere deepseek openrouter perplexity replicate stripe sendgrid "
    "mailgun mailchimp twilio aws gcp google azure github gitlab slack maps firebase supabase "
    "algolia datadog newrelic pinecone tavily serpapi serper brave exa notion airtable linear "
    "elevenlabs deepgram langsmith langfuse virustotal anon fcm "
    "adafruit adobe alibaba artifactory asana beamer bitbucket bittrex browserbase cloudflare "
    "codecov coinbase confluent contentful discord dropbox droneci etsy facebook fastly finicity "
    "finnhub firecrawl flickr freshbooks gitter heroku hubspot intercom jfrog kraken kucoin "
    "launchdarkly linkedin lob mapbox mattermost meraki messagebird netlify nytimes okta plaid "
    "postman privateai rapidapi sendbird sendinblue sentry shodan shopify snyk sonar squarespace "
    "sumologic telegram travis twitch twitter vercel yandex zapier zendesk"
)
_PASSES = words_of(
    "db database smtp user mail email redis mysql postgres pg ftp ssh admin root basic auth login"
)
# Parameters of a URL's query that are secrets there and nowhere else.
_QUERY = words_of("sig signature xamzsignature xgoogsignature")


FOLDERS = frozenset(("pwd", "oldpwd"))
"""Folded names that a shell gives its working folder; a path of theirs is no password."""

CREDENTIALS = frozenset(("credential", "credentials", "creds"))
"""Folded names of objects whose members are secrets if they look so."""
NUMBER_TOKENS = frozenset((
    "token", "accesstoken", "authtoken", "apitoken", "refreshtoken", "sessiontoken", "bearertoken",
    "securitytoken", "logintoken", "usertoken",
))  # fmt: skip
"""Folded names of which a number may be a secret, too; `max_tokens` and the like count."""
MIN_TOKEN_NUMBER = 100_000
"""A smaller number is a place in a text or a vocabulary."""


@lru_cache(maxsize=4096)  # a text of a thousand records has few names
def name_kind(name: str) -> NameKind:
    """Tell whether a name says that its value is a secret, and of which kind."""
    # What follows other signs is the name: `key` of `(api)key`; a few may be behind it.
    end = name[-4 * MAX_NAME_CHARS :].removesuffix("]")
    own = compiled(_ODD).split(compiled(_TRAILING).sub("", end))[-1]
    if len(own) - max(own.rfind(" "), own.rfind("/")) > MAX_NAME_CHARS:
        return NameKind.NONE
    parts = words(own)
    if parts and parts[-1].isdigit():
        parts.pop()
    if not parts:
        return NameKind.NONE
    before, last = parts[-2] if len(parts) > 1 else "", parts[-1]
    kind = _LAST_TWO.get((before, last)) or _LAST.get(last) or _qualified(before, last)
    asks = kind is not NameKind.TEXT and not _QUESTIONS.isdisjoint((parts[0], before))
    return NameKind.NONE if asks else kind


def typed_kind(element: str) -> NameKind:
    """Tell whether what is typed into a field of a page is a secret, by the field's label."""
    found = compiled(_FIELD, re.IGNORECASE).search(element)
    if not found:
        return NameKind.NONE
    return NameKind.CODE if found[1].lower() in _CODE_FIELDS else NameKind.ANY


_FIELD = r"\b(password|passphrase|passcode|passwort|kennwort|pin|otp|cvv|cvc)\b"
_CODE_FIELDS = frozenset(("pin", "otp", "cvv", "cvc"))


def _qualified(before: str, last: str) -> NameKind:
    if last.endswith("token"):
        harmless = (last.removesuffix("token") or before) in _HARMLESS_TOKENS
        return NameKind.NONE if harmless else NameKind.TEXT
    if last == "tokens":
        return NameKind.NONE if before in _HARMLESS_TOKENS else NameKind.WEAK
    if last.endswith(_GLUED):
        return NameKind.TEXT if last.endswith("key") else NameKind.ANY
    known = (last in ("key", "keys") and before in SECRET_KEYS) or (
        last == "pass" and (not before or before in _PASSES)
    )
    return NameKind.TEXT if known else NameKind.NONE


def is_query_secret(name: str) -> bool:
    """Tell whether a URL's query parameter is a secret (`sig`, `X-Amz-Signature`)."""
    return folded(name) in _QUERY or name_kind(name) is not NameKind.NONE


def words(name: str) -> list[str]:
    """Split a name into its words, small."""
    return [word.lower() for word in compiled(_WORD).findall(name)]


def folded(name: str) -> str:
    """Write a name in small letters and digits only, so that spellings compare equal."""
    return compiled(_NOT_ALNUM).sub("", name.lower())


# Secrets of a variable's name may stand anywhere in it: `TOKEN_GITHUB`, `SECRET_KEY_BASE`.
_VARIABLE_WORDS = words_of(
    "TOKEN SECRET PASSWORD PASSWD PASSPHRASE PASSCODE PWD CREDENTIAL CREDENTIALS APIKEY PAT "
    "AUTHTOKEN ACCESSTOKEN AUTHORIZATION COOKIE"
)
_VARIABLE_PAIRS = frozenset(
    (f"{word.upper()}", "KEY") for word in SECRET_KEYS if word not in {"rest", "role", "server"}
)
# `PASSWORD_FILE`, `TOKEN_URL`, `SECRET_NAME`, `TOKEN_TTL`: about a secret, not one.
_ABOUT = words_of(
    "FILE PATH DIR URL URI ENDPOINT HOST PORT NAME ID TYPE TTL LENGTH COUNT LIMIT TIMEOUT "
    "ENABLED POLICY EXPIRY EXPIRES REGION VERSION ISSUER AUDIENCE HEADER PREFIX"
)
_MIN_VALUE_CHARS = 6
_URL_PASSWORD = r"^[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s@/]+)@"
_PLAIN_VALUE = r"(?:[0-9]{1,7}|true|false|(?:/|\./|~/)[^\s]*)\Z"


def secret_environment(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the variables that are secrets by their names.

    A password within a URL is one, whatever the variable's name. Values of fewer than 6
    characters, switches, small numbers and paths are none: they would be found everywhere.

    Args:
        environ: Names and values, as of `os.environ` or a config's `env` and `headers`.

    Returns:
        Distinct values, in the order of `environ`.
    """
    found: dict[str, None] = {}
    for name, value in environ.items():
        inside = compiled(_URL_PASSWORD).match(value)
        if inside:
            found[inside[1]] = None
        elif _is_secret_variable(name):
            found[_without_scheme(value)] = None
    return tuple(
        value
        for value in found
        if len(value) >= _MIN_VALUE_CHARS and not compiled(_PLAIN_VALUE, re.IGNORECASE).match(value)
    )


@lru_cache(maxsize=1024)  # each request over HTTP has the headers of the last one
def _is_secret_variable(name: str) -> bool:
    parts = name.upper().replace("-", "_").split("_")
    if len(parts) > 1 and parts[-1] in _ABOUT:
        return False
    pairs = pairwise(parts)
    return (
        name_kind(name) is not NameKind.NONE
        or not _VARIABLE_WORDS.isdisjoint(parts)
        or not _VARIABLE_PAIRS.isdisjoint(pairs)
    )


def _without_scheme(value: str) -> str:
    scheme, space, rest = value.strip().partition(" ")
    return rest.strip() if space and scheme.isalpha() and " " not in rest.strip() else value.strip()


_VALUES = frozenset(("value", "Value"))
_INNER = frozenset(("key", "access", "refresh", "bearer", "id_token", "session"))


def is_own(name: str, kind: NameKind) -> bool:
    """Tell whether a member of an object under a secret's name is the secret itself."""
    if kind is NameKind.DEEP or name in _VALUES:
        return True
    return kind in (NameKind.PARENT, NameKind.WEAK) and name.lower() in _INNER
