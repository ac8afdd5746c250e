"""The labelled corpus: secrets within tool traffic, and what only looks like one.

Everything is made from pieces with fixed seeds, so that no credential stands in the
repository and every run sees the same ones.
"""

import base64
import hashlib
import json
import random
import re
import string
import urllib.parse
import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase
URL_SAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Labelled(NamedTuple):
    """A secret within a message.

    Attributes:
        kind: Of the secret.
        place: Where in the message it is.
        secret: What must be in nothing that is kept.
        text: The message, or a part of it, JSON.
    """

    kind: str
    place: str
    secret: str
    text: str


class Harmless(NamedTuple):
    """A message that holds no secret."""

    kind: str
    text: str


def _take(source: random.Random, alphabet: str, count: int) -> str:
    return "".join(source.choices(alphabet, k=count))


def _b64url(value: object) -> str:
    data = json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _jwt(source: random.Random) -> str:
    head = _b64url({"alg": "RS256", "typ": "JWT"})
    body = _b64url({"sub": source.randrange(10**9), "iat": source.randrange(10**9)})
    return f"{head}.{body}." + _take(source, URL_SAFE, 86)


def _pem(source: random.Random) -> str:
    label = source.choice(["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED "]) + "PRIVATE KEY"
    lines = [_take(source, ALNUM + "+/", 64) for _ in range(4)] + [_take(source, ALNUM, 20) + "=="]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


Make = Callable[[random.Random], str]


def _mark(mark: str, alphabet: str, count: int, end: str = "") -> Make:
    return lambda source: "".join(mark.split("|")) + _take(source, alphabet, count) + end


def _digits(source: random.Random, count: int) -> str:
    return source.choice("123456789") + _take(source, string.digits, count - 1)


# Told by their own shape, wherever they are. A `|` cuts a mark in two in this file only.
SHAPES: dict[str, Make] = {
    "AWS access key": _mark("AK|IA", UPPER, 16),
    "AWS temporary key": _mark("AS|IA", UPPER, 16),
    "GCP API key": _mark("AI|za", URL_SAFE, 35),
    "GCP OAuth token": _mark("ya|29.", URL_SAFE, 120),
    "GCP client secret": _mark("GOC|SPX-", URL_SAFE, 28),
    "Azure client secret": lambda s: (
        _take(s, ALNUM, 3) + _take(s, string.digits, 1) + "Q~" + _take(s, ALNUM, 34)
    ),
    "GitHub personal token": _mark("gh|p_", ALNUM, 36),
    "GitHub app token": _mark("gh|s_", ALNUM, 36),
    "GitHub fine-grained token": lambda s: (
        "github" + "_pat_" + _take(s, ALNUM, 22) + "_" + _take(s, ALNUM, 59)
    ),
    "GitLab token": _mark("gl|pat-", URL_SAFE, 20),
    "Slack bot token": lambda s: (
        "xo" + "xb-" + _digits(s, 12) + "-" + _digits(s, 13) + "-" + _take(s, ALNUM, 24)
    ),
    "Slack user token": lambda s: (
        "xo" + "xp-" + "-".join(_digits(s, 12) for _ in range(3)) + "-" + _take(s, HEX, 32)
    ),
    "Slack app token": lambda s: (
        "xa" + "pp-1-A" + _take(s, UPPER, 10) + "-" + _digits(s, 13) + "-" + _take(s, HEX, 64)
    ),
    "Slack webhook": lambda s: (
        "https://hooks.slack.com/services/"
        f"T{_take(s, UPPER, 10)}/B{_take(s, UPPER, 10)}/{_take(s, ALNUM, 24)}"
    ),
    "Discord webhook": lambda s: (
        f"https://discord.com/api/webhooks/{_digits(s, 18)}/{_take(s, URL_SAFE, 68)}"
    ),
    "Discord bot token": lambda s: (
        base64.b64encode(_digits(s, 18).encode()).decode()
        + "."
        + _take(s, URL_SAFE, 6)
        + "."
        + _take(s, URL_SAFE, 38)
    ),
    "Stripe secret key": _mark("sk|_live_", ALNUM, 24),
    "Stripe restricted key": _mark("rk|_live_", ALNUM, 99),
    "Stripe webhook secret": _mark("wh|sec_", ALNUM, 32),
    "OpenAI key": lambda s: (
        "sk" + "-" + _take(s, ALNUM, 20) + "T3Blbk" + "FJ" + _take(s, ALNUM, 20)
    ),
    "OpenAI project key": _mark("sk|-proj-", URL_SAFE, 120),
    "Anthropic key": _mark("sk|-ant-api03-", URL_SAFE, 93, "AA"),
    "OpenRouter key": _mark("sk|-or-v1-", HEX, 64),
    "npm token": _mark("np|m_", ALNUM, 36),
    "PyPI token": _mark("py|pi-AgEIcHlwaS5vcmc", URL_SAFE, 120),
    "SendGrid key": lambda s: "S" + "G." + _take(s, URL_SAFE, 22) + "." + _take(s, URL_SAFE, 43),
    "Twilio API key": _mark("S|K", HEX, 32),
    "Telegram bot token": lambda s: f"{_digits(s, 10)}:A" + "A" + _take(s, URL_SAFE, 33),
    "JWT": _jwt,
    "private key": _pem,
    "Hugging Face token": _mark("h|f_", string.ascii_letters, 34),
    "DigitalOcean token": _mark("do|p_v1_", HEX, 64),
    "Shopify token": _mark("sh|pat_", HEX, 32),
    "Databricks token": _mark("da|pi", HEX, 32),
    "Vault token": _mark("hv|s.", URL_SAFE, 90),
    "Docker Hub token": _mark("dc|kr_pat_", URL_SAFE, 27),
    "Atlassian token": _mark("AT|ATT3xFfGF0", URL_SAFE, 170, "=6AB3C1D9"),
    "Linear key": _mark("li|n_api_", ALNUM, 40),
    "Notion token": _mark("nt|n_", ALNUM, 46),
    "Groq key": _mark("gs|k_", ALNUM, 52),
    "Grafana token": lambda s: "gl" + "sa_" + _take(s, ALNUM, 32) + "_" + _take(s, HEX, 8),
    "Square access token": lambda s: "EA" + "AA" + _take(s, ALNUM, 57) + "a7Z",
    "Facebook token": lambda s: "EA" + "ACEd" + _take(s, ALNUM, 150) + "a7Z",
    "Fly.io token": lambda s: "fm" + "2_lJPECAAA" + _take(s, ALNUM + "+/", 200),
    "Fly.io older token": _mark("fo|1_", URL_SAFE, 43),
    "CircleCI token": lambda s: "CCI" + "PAT_" + _take(s, ALNUM, 22) + "_" + _take(s, HEX, 40),
    "PlanetScale password": _mark("pscale|_pw_", URL_SAFE, 43),
    "PlanetScale token": _mark("pscale|_tkn_", URL_SAFE, 43),
    "Heroku key": _mark("HR|KU-AA", URL_SAFE, 58),
    "Contentful token": _mark("CF|PAT-", URL_SAFE, 43),
    "Shippo token": _mark("ship|po_live_", HEX, 40),
    "NVIDIA key": _mark("nv|api-", URL_SAFE, 64),
    "1Password service token": _mark("op|s_eyJ", ALNUM, 250),
    "1Password secret key": lambda s: (
        "A" + "3-" + "-".join(_take(s, UPPER, count) for count in (6, 11, 5, 5, 5))
    ),
    "Mapbox token": lambda s: "sk" + ".eyJ1Ijoi" + _take(s, ALNUM, 50) + "." + _take(s, ALNUM, 22),
    "Firecrawl key": _mark("f|c-", HEX, 32),
    "Brave key": lambda s: "BS" + "A" + _take(s, ALNUM, 25) + "a7Z",
    "Plaid token": lambda s: "access-" + "production-" + _uuid(s),
    "HashiCorp token": lambda s: (
        _take(s, ALNUM, 14) + ".atlas" + "v1." + _take(s, URL_SAFE, 63) + "a"
    ),
    "Mailchimp key": lambda s: _take(s, HEX, 32) + "-us" + "12",
    "Asana token": lambda s: f"2/1{_digits(s, 15)}/1{_digits(s, 15)}:" + _take(s, HEX, 32),
    "Google refresh token": _mark("1/|/0", URL_SAFE, 60),
    "password hash": lambda s: "$apr1$" + _take(s, ALNUM, 8) + "$" + _take(s, ALNUM, 22),
    "shadow hash": lambda s: "$6$" + _take(s, ALNUM, 16) + "$" + _take(s, ALNUM, 86),
    "token in a URL": lambda s: f"https://{_take(s, HEX, 39)}7@github.test/o/r.git",
    "Sentry key": lambda s: f"https://{_take(s, HEX, 31)}7@o1.ingest.sentry.test/12",
    "password with a slash in a URL": lambda s: (
        f"postgres://app:{_take(s, ALNUM, 9)}/{_take(s, ALNUM, 9)}@db.test/orders"
    ),
    "short bearer token": lambda s: "Bearer " + _take(s, ALNUM, 11) + "7",
    "tail of a private key": lambda s: "\n".join(
        [_take(s, ALNUM + "+/", 64), _take(s, ALNUM, 20) + "==", "-----END PRIVATE" + " KEY-----"]
    ),
    "bearer token": lambda s: "Bearer " + _take(s, URL_SAFE, 43),
    "basic credentials": lambda s: (
        "Basic " + base64.b64encode(f"svc-user:{_take(s, ALNUM + '!$', 18)}".encode()).decode()
    ),
    "password in a URL": lambda s: (
        f"postgresql://app:{_take(s, ALNUM + '!%$', 16)}@db.internal:5432/orders"
    ),
}

# Of issuers that are met less often: in fewer places.
RARER: dict[str, Make] = {
    "Adobe client secret": _mark("p8|e-", LOWER + string.digits, 32),
    "Alibaba access key": lambda s: "LT" + "AI5t" + _take(s, ALNUM, 17) + "a7Z",
    "Apify token": _mark("apify|_api_", ALNUM, 36),
    "Artifactory key": lambda s: "AK" + "Cp8" + _take(s, ALNUM, 66) + "aZ",
    "Artifactory reference token": lambda s: (
        base64.b64encode(b"reftkn:01:0000000000:" + _take(s, ALNUM, 27).encode()).decode()
    ),
    "Authress key": lambda s: (
        "sc" + f"_{_take(s, ALNUM, 12)}.{_take(s, ALNUM, 5)}.acc_{_take(s, LOWER, 12)}."
        + _take(s, ALNUM, 50)
    ),
    "Brevo key": lambda s: "xkey" + "sib-" + _take(s, HEX, 64) + "-" + _take(s, ALNUM, 16),
    "Buildkite token": _mark("bk|ua_", HEX, 40),
    "Cerebras key": _mark("cs|k-", LOWER + string.digits, 48),
    "ClickHouse key": lambda s: "4b" + "1d" + _take(s, ALNUM, 35) + "a7Z",
    "Clojars token": _mark("CLOJ|ARS_", HEX, 60),
    "Cloudflare token": _mark("cf|ut_", ALNUM, 48),
    "Cloudflare origin key": lambda s: "v1" + ".0-" + _take(s, HEX, 24) + "-" + _take(s, HEX, 146),
    "Defined Networking key": lambda s: (
        "dn" + "key-" + _take(s, UPPER, 26) + "-" + _take(s, UPPER, 52)
    ),
    "Dropbox token": _mark("s|l.", URL_SAFE, 135),
    "Duffel token": _mark("duffel|_live_", URL_SAFE, 43),
    "Dynatrace token": lambda s: "dt" + "0c01." + _take(s, UPPER, 24) + "." + _take(s, UPPER, 64),
    "E2B key": _mark("e2|b_", HEX, 40),
    "EasyPost key": _mark("EZ|AK", ALNUM, 54),
    "Flutterwave key": _mark("FLW|SECK_TEST-", HEX, 32, "-X"),
    "Frame.io token": _mark("fi|o-u-", URL_SAFE, 64),
    "GitLab runner registration": lambda s: "GR" + "1348941" + _take(s, ALNUM, 17) + "a7Z",
    "GoCardless token": lambda s: "li" + "ve_" + _take(s, ALNUM, 37) + "a7Z",
    "Lob key": _mark("te|st_", HEX, 35),
    "Grafana key of old": lambda s: (
        base64.b64encode(f'{{"k":"{_take(s, ALNUM, 32)}","n":"ci","id":1}}'.encode()).decode()
    ),
    "Harness token": lambda s: (
        "pa" + f"t.{_take(s, URL_SAFE, 22)}.{_take(s, HEX, 24)}.{_take(s, ALNUM, 20)}"
    ),
    "HubSpot token": lambda s: "pat" + "-na1-" + _uuid(s),
    "Hugging Face organization": _mark("api|_org_", string.ascii_letters, 34),
    "Infracost key": lambda s: "ic" + "o-" + _take(s, ALNUM, 29) + "a7Z",
    "Intra 42 secret": _mark("s-s4t2|ud-", HEX, 64),
    "LlamaCloud key": _mark("ll|x-", ALNUM, 48),
    "MaxMind key": lambda s: _take(s, ALNUM, 6) + "_" + _take(s, ALNUM, 29) + "_m" + "mk",
    "New Relic ingest key": lambda s: "NR" + "II-" + _take(s, ALNUM, 31) + "7",
    "Octopus key": lambda s: "AP" + "I-" + _take(s, UPPER, 25) + "7",
    "OpenShift token": _mark("sha|256~", URL_SAFE, 43),
    "Pinecone key": _mark("pc|sk_", ALNUM, 64),
    "Prefect key": _mark("pn|u_", ALNUM, 36),
    "ReadMe key": _mark("rd|me_", LOWER + string.digits, 70),
    "Resend key": lambda s: "re" + f"_{_take(s, ALNUM, 5)}a7Z_{_take(s, ALNUM, 24)}",
    "Scalingo token": _mark("tk|-us-", ALNUM, 48),
    "SettleMint token": _mark("sm|_aat_", ALNUM, 16),
    "Sourcegraph token": lambda s: "sg" + f"p_{_take(s, HEX, 16)}_{_take(s, HEX, 40)}",
    "Stripe key of few characters": lambda s: "sk" + "_test_" + _take(s, ALNUM, 13) + "7",
    "Tailscale key": lambda s: (
        "tskey" + f"-auth-{_take(s, ALNUM, 12)}-{_take(s, ALNUM, 32)}"
    ),
    "Typeform token": _mark("tf|p_", URL_SAFE, 44),
    "Vault token of old": lambda s: "s" + "." + _take(s, ALNUM, 21) + "a7Z",
    "X bearer token": lambda s: "A" * 21 + f"A{_take(s, ALNUM, 30)}%3D{_take(s, ALNUM, 50)}",
    "Yandex key": lambda s: "AQ" + "VN" + _take(s, URL_SAFE, 33) + "a7Z",
    "Yandex token": _mark("t1|.9euelZ", URL_SAFE, 90),
    "GitHub token in base64": lambda s: base64.b64encode(
        ("gh" + "p_" + _take(s, ALNUM, 36)).encode()
    ).decode(),
    "private key in base64": lambda s: base64.b64encode(_pem(s).encode()).decode(),
    "GitHub token with an escape": _mark("gh|p%5F", ALNUM, 36),
    "Zapier webhook": lambda s: (
        f"https://hooks.zapier.com/hooks/catch/{_digits(s, 7)}/{_take(s, LOWER, 6)}7/"
    ),
    "Make webhook": lambda s: (
        f"https://hook.eu2.make.com/{_take(s, LOWER + string.digits, 32)}"
    ),
    "Mattermost webhook": lambda s: (
        f"https://chat.test/hooks/{_take(s, LOWER + string.digits, 26)}"
    ),
    "code of a login": lambda s: (
        f"https://app.test/cb?state=1&code={_take(s, ALNUM, 19)}a7Z"
    ),
}  # fmt: skip
RARER_PLACES = ("a tool's text", "JSON within a string", "arguments")


def secret_of(kind: str, made: str) -> str:
    """Return the part of what a maker made that is the secret itself."""
    cut = _PARTS.get(kind)
    return cut(made) if cut else made


_PARTS: dict[str, Callable[[str], str]] = {
    "Zapier webhook": lambda made: made.split("/")[-2],
    "Make webhook": lambda made: made.rpartition("/")[2],
    "Mattermost webhook": lambda made: made.rpartition("/")[2],
    "code of a login": lambda made: made.rpartition("=")[2],
    "Slack webhook": lambda made: made.rpartition("/")[2],
    "Discord webhook": lambda made: made.rpartition("/")[2],
    "bearer token": lambda made: made.partition(" ")[2],
    "short bearer token": lambda made: made.partition(" ")[2],
    "token in a URL": lambda made: made.partition("://")[2].partition("@")[0],
    "Sentry key": lambda made: made.partition("://")[2].partition("@")[0],
    "password with a slash in a URL": lambda made: made.partition("://app:")[2].partition("@")[0],
    "tail of a private key": lambda made: made.split("\n")[0],
    "basic credentials": lambda made: made.partition(" ")[2],
    "Telegram bot token": lambda made: made.partition(":")[2],
    "password in a URL": lambda made: made.partition("://app:")[2].partition("@")[0],
    "private key": lambda made: made.split("\n")[2],
}


def _text(text: str) -> object:
    return {"content": [{"type": "text", "text": text}], "isError": False}


def _coloured(secret: str) -> str:
    return f"\x1b[1;33m{secret}\x1b[0m"


PLACES: dict[str, Callable[[str], object]] = {
    "a tool's text": lambda s: _text(f"Created. Use {s} from now on; it is shown once."),
    "a log line": lambda s: _text(f"2026-03-01T10:00:00Z INFO client up ({s}) in 12 ms\nready"),
    "JSON within a string": lambda s: _text(json.dumps({"id": 7, "note": s, "ok": True}, indent=2)),
    "JSON twice within strings": lambda s: _text(json.dumps({"body": json.dumps({"value": s})})),
    "arguments": lambda s: {"name": "http_get", "arguments": {"url": "https://x.test", "with": s}},
    "an error's message": lambda s: {"code": -32000, "message": f"401 for {s!s}: rejected"},
    "an error's data": lambda s: {"code": -32000, "message": "no", "data": {"tried": [s, 1, None]}},
    "a member's name": lambda s: {"structuredContent": {"seen": {s: 3, "other": 1}}},
    "the beginning of a line": lambda s: _text(f"found:\n{s}\n\tnext line"),
    "Markdown": lambda s: _text(f"| name | value |\n|---|---|\n| main | `{s}` |"),
    "colours of a terminal": lambda s: _text(_coloured(s)),
    "a description in a schema": lambda s: {
        "tools": [{"name": "t", "inputSchema": {"type": "object", "description": f"e.g. {s}"}}]
    },
}

# Told by the name before them; `S` stands for the secret.
NAMED: dict[str, list[str]] = {
    "a member": [
        '{"api_key": "S"}', '{"apiKey": "S", "q": "x"}', '{"x-api-key": "S"}',
        '{"auth": {"user": "a", "password": "S"}}', '{"clientSecret": "S"}',
        '{"data": {"access_token": "S", "expires_in": 3600}}', '{"refreshToken": "S"}',
        '{"Authorization": "Token S"}', '{"headers": {"X-Auth-Token": "S"}}',
        '{"AWS_SECRET_ACCESS_KEY": "S"}', '{"private_key": "S"}', '{"db.passwd": "S"}',
        '{"session_token": "S"}', '{"credentials": {"secret": "S"}}', '{"webhookSecret": "S"}',
        '{"SecretString": "S"}', '{"encryption_key": "S"}', '{"api_keys": ["S"]}',
        '{"passwort": "S"}', '{"secret_key_base": "S"}',
        '{"text": "{ :secret_key_base => \'S\' }"}',
    ],
    "a member that may be something else": [
        '{"tokens": ["S", "second"]}', '{"tokens": {"access": "S"}}', '{"auth": "S"}',
        '{"auth": {"key": "S"}}', '{"openai": {"key": "S"}}', '{"basic_auth": ["bob", "S"]}',
        '{"auths": {"r.test": {"auth": "S"}}}', '{"text": "//r.test/npm/:_auth=S"}',
    ],
    "typed into a page": [
        '{"element": "Password field", "ref": "e12", "text": "S"}',
        '{"fields": [{"name": "Password", "type": "textbox", "value": "S"}]}',
    ],
    "a netrc file": [
        '{"text": "machine h.test\\n  login ann\\n  password S\\n"}',
        '{"text": "machine h.test login ann password S"}',
    ],
    "a table": [
        '{"text": "user,password,role\\nbob,S,admin\\n"}',
        '{"text": "| user | password |\\n|---|---|\\n| bob | S |\\n"}',
        '{"text": " id | api_key\\n----+--------\\n  1 | S\\n(1 row)"}',
        '{"columns": ["id", "password"], "rows": [[1, "S"]]}',
    ],
    "Kubernetes": [
        '{"kind": "Secret", "data": {"main": "S"}}',
        '{"text": "apiVersion: v1\\nkind: Secret\\nstringData:\\n  main: S\\n"}',
        '{"text": "apiVersion: v1\\ndata:\\n  main: \\"S\\"\\nkind: Secret\\nmetadata: {}\\n"}',
    ],
    "a variable without a sign": [
        '{"text": "STRIPE_API_KEY    S\\nPORT  80\\n"}', '{"cmd": "export API_KEY S"}',
    ],
    "a field and its value": [
        '{"field": "password", "val": "S"}', '{"field": "api_key", "value": "S"}',
    ],
    "a key of few": ['{"deploy_key": "S"}', '{"sentry_key": "S"}', '{"CLOUDFLARE_KEY": "S"}'],
    "a session": ['{"text": "_gitlab_session=S"}', '{"text": "connect.sid=S; Path=/"}'],
    "a sentence": [
        '{"text": "Hi all, the wifi password is S. Bye."}',
        '{"text": "Your new API key is `S`, keep it."}',
        '{"text": "{\\"note\\": \\"the password is S\\"}"}',
    ],
    "an option that its command tells": [
        '{"cmd": "mysql -h db -u root -pS shop"}', '{"cmd": "mysqldump -uroot -p\'S\' shop"}',
        '{"argv": ["mysql", "-uroot", "-pS"]}', '{"command": "mysql", "args": ["-pS", "shop"]}',
        '{"cmd": "redis-cli -h cache -a S ping"}', '{"cmd": "sshpass -p S ssh a@h uptime"}',
        '{"cmd": "docker login -u ci -p S r.test"}', '{"cmd": "ldapsearch -x -w S -b dc=x"}',
        '{"cmd": "az login --service-principal -u a -p S"}', '{"args": ["curl", "-u", "api:S"]}',
        '{"cmd": "unzip -P S a.zip"}', '{"cmd": "smbclient //h/s -U ann%S"}',
    ],
    "Markdown": [
        '{"text": "| api_key | S |\\n"}', '{"text": "**Password:** S"}',
        '{"text": "**API key**: `S`"}',
    ],
    "YAML of several lines": [
        '{"text": "- name: DB_PASSWORD\\n  value: S\\n"}', '{"text": "password: |\\n  S\\n"}',
        '{"text": "Password:\\nS\\n"}', '{"text": "Username: bob\\nPassword: S"}',
    ],
    "a shell's command": [
        '{"cmd": "aws configure set aws_secret_access_key S"}', '{"cmd": "setx API_KEY S"}',
        '{"cmd": "echo S | docker login -u ci --password-stdin"}',
        '{"cmd": "gh secret set NPM --body S"}', '{"cmd": "openssl enc -aes256 -pass pass:S"}',
    ],
    "SQL": [
        '{"sql": "CREATE USER a IDENTIFIED BY \'S\'"}',
        '{"sql": "ALTER USER a WITH PASSWORD \'S\';"}',
    ],
    "a page": [
        '{"html": "<input type=\\"password\\" name=\\"p\\" value=\\"S\\">"}',
        '{"html": "{&quot;password&quot;:&quot;S&quot;}"}', '{"body": "next=%2F&password%3DS"}',
    ],
    "a list or an object of credentials": [
        '{"credentials": {"x": "S"}}', '{"text": "set \\"API_KEY\\": [\\"S\\"] there"}',
        '{"header": ["Authorization", "Bearer S"]}',
    ],
    "a login": [
        '{"body": "client_assertion=S"}', '{"body": "code_verifier=S"}',
        '{"body": "SAMLResponse=S"}', '{"text": "JSESSIONID=S; Path=/"}', '{"PHPSESSID": "S"}',
        '{"url": "https://x.test/?auth=S"}', '{"url": "https://x.test/?pw=S"}', '{"pw": "S"}',
        '{"text": "db.test:5432:orders:ann:S"}', '{"text": "X-Token: S"}', '{"text": "pass: S"}',
        '{"kty": "EC", "crv": "P-256", "d": "S"}',
    ],
    "a cookie": [
        '{"cookie": "sid=S"}', '{"cookies": {"sid": "S"}}', '{"Set-Cookie": ["sid=S; Path=/"]}',
        '{"text": "> Cookie: theme=dark; sid=S\\n> Accept: */*"}',
    ],
    "name and value": [
        '{"env": [{"name": "API_KEY", "value": "S"}]}',
        '{"headers": [{"value": "S", "name": "Authorization"}]}',
        '{"vars": [{"key": "DB_PASSWORD", "type": "plain", "value": "S"}]}',
    ],
    "a command line": [
        '{"args": ["serve", "--api-key", "S"]}', '{"args": ["--token=S", "-v"]}',
        '{"cmd": "srv --api-key S --verbose"}', '{"cmd": "curl -u admin:S https://x.test"}',
        '{"cmd": "curl -H \\"X-Api-Key: S\\" https://x.test"}',
        '{"cmd": "docker run -e API_KEY=S img"}', '{"cmd": "PGPASSWORD=S psql -h db"}',
        '{"cmd": "wget --user=bob --password=S https://x.test"}',
        '{"argv": ["x", "--db-password", "S", "run"]}',
    ],
    "a settings file": [
        '{"text": "PORT=80\\nDB_PASSWORD=S\\nDEBUG=1"}',
        '{"text": "export OPENAI_API_KEY=\\"S\\""}',
        '{"text": "db:\\n  user: app\\n  password: S\\n"}',
        '{"text": "[default]\\naws_secret_access_key = S\\n"}',
        '{"text": "password = \\"S\\" # local"}',
        '{"text": "<server><password>S</password></server>"}',
        '{"text": "<add key=\\"ApiKey\\" value=\\"S\\" />"}',
        '{"text": "Server=db;Database=x;Password=S;Timeout=5"}',
        '{"text": "AccountName=x;AccountKey=S;EndpointSuffix=core"}',
        '{"text": "FROM node:20\\nENV NPM_TOKEN S\\nRUN npm ci"}',
        '{"text": "spring.datasource.password=S"}', '{"text": "machine: x\\nsmtp:\\n  pass: S\\n"}',
    ],
    "source code": [
        '{"text": "client = Client(api_key=\\"S\\", timeout=3)"}',
        '{"text": "const config = { apiKey: \'S\', region: \'eu\' };"}',
        '{"text": "os.environ[\\"API_KEY\\"] = \\"S\\""}',
        '{"text": "define(\'DB_PASSWORD\', \'S\');"}', '{"text": "setenv(\\"API_KEY\\", \\"S\\")"}',
        '{"text": "req.setHeader(\'X-Api-Key\', \'S\')"}',
        '{"text": "requests.get(url, headers={\'Authorization\': \'Bearer S\'})"}',
    ],
    "a log": [
        '{"text": "login failed: password=S user=ann"}', '{"text": "token=S expires=3600"}',
        '{"text": "api key: S"}', '{"text": "> Authorization: Bearer S\\n> Host: x"}',
        '{"text": "got {\\"access_token\\": \\"S\\", \\"ttl\\": 5} from auth"}',
        '{"text": "Client Secret: S (copy it now)"}',
        '{"text": "{\'password\': \'S\', \'user\': \'ann\'}"}',
    ],
    "a URL's query": [
        '{"url": "https://x.test/cb?access_token=S&state=1"}',
        '{"url": "https://x.test/?api_key=S"}', '{"body": "grant_type=password&password=S"}',
        '{"url": "https://x.blob.test/c?sv=2024&sig=S&se=2026"}',
        '{"url": "https://s3.test/b/k?X-Amz-Signature=S"}', '{"url": "https://x.test/v1?key=S"}',
    ],
}  # fmt: skip
# A few digits; `9999` stands for them.
CODES: dict[str, list[str]] = {
    "PIN": [
        '{"pin": "9999"}', '{"card": {"pin": 9999, "name": "a"}}', '{"pin_code": "9999"}',
        '{"element": "PIN", "ref": "e1", "text": "9999"}',
        '{"text": "cut off: {\\"pin\\": 9999, \\"na"}',
    ],
    "one-time code": [
        '{"otp": "9999"}', '{"mfa_code": 9999}', '{"verification_code": "9999"}',
        '{"text": "Your verification code is 9999. It expires."}',
        '{"text": "G-9999 is your Acme login code."}', '{"text": "The passcode is 9999"}',
    ],
}  # fmt: skip
VALUES_A_TEMPLATE = 2


def _values(source: random.Random) -> Iterator[str]:
    """Make values that no shape tells: only the name before them does."""
    yield _take(source, ALNUM, 12) + "7x" + _take(source, ALNUM, 8)
    yield _take(source, HEX, 31) + "a"


def secrets(seed: str = "") -> list[Labelled]:
    """Return the secrets: every shape in every place, and every template of a name.

    Args:
        seed: Of the values: with another one the messages are the same but for the secrets.
    """
    found = [
        _placed(kind, make, place, seed)
        for shapes, places in ((SHAPES, PLACES), (RARER, RARER_PLACES))
        for kind, make in shapes.items()
        for place in places
    ]
    for kind, templates in NAMED.items():
        for template in templates:
            for value in _values(random.Random(template + seed)):
                found.append(
                    Labelled(
                        kind,
                        template,
                        value,
                        template.replace("S", value, 1)
                        if template.count("S") == 1
                        else _filled(template, value),
                    )
                )
    return found + list(_codes(seed))


def _placed(kind: str, make: Make, place: str, seed: str) -> Labelled:
    made = make(random.Random(f"{kind} in {place}"))
    text, secret = json.dumps(PLACES[place](made)), secret_of(kind, made)
    if seed:  # another secret; what is around it stays
        other = secret_of(kind, make(random.Random(f"{kind} in {place}{seed}")))
        text, secret = text.replace(secret, other), other
    return Labelled(kind, place, secret, text)


def _codes(seed: str) -> Iterator[Labelled]:
    for kind, templates in CODES.items():
        for template in templates:
            source = random.Random(template + seed)
            for _ in range(VALUES_A_TEMPLATE):
                code = _digits(source, 6)
                yield Labelled(kind, template, code, template.replace("9999", code))


def _filled(template: str, value: str) -> str:
    # The `S` that stands alone: not one within a name such as `SecretString`.
    parts = [f"{mark}S" for mark in "\"'=:; (>,`"] + ["-pS", "%S"]
    for part in parts:
        at = template.rfind(part)
        end = at + len(part)
        after = template[end : end + 1]
        if at >= 0 and not after.isalnum() and after not in "_-":
            return template[: end - 1] + value + template[end:]
    raise AssertionError(template)


def _png(source: random.Random, size: int) -> str:
    head = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    return base64.b64encode(head + source.randbytes(size)).decode()


def _uuid(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))


def _sha(name: str, source: random.Random) -> str:
    return hashlib.new(name, source.randbytes(8)).hexdigest()


# What a value may look like without being a secret.
VALUES: dict[str, Make] = {
    "UUID": _uuid,
    "UUID without hyphens": lambda s: _uuid(s).replace("-", ""),
    "MD5": lambda s: _sha("md5", s),
    "SHA-1": lambda s: _sha("sha1", s),
    "SHA-256": lambda s: _sha("sha256", s),
    "SHA-512": lambda s: _sha("sha512", s),
    "ULID": lambda s: "01" + _take(s, CROCKFORD, 24),
    "KSUID": lambda s: "2" + _take(s, ALNUM, 26),
    "object id": lambda s: _take(s, HEX, 24),
    "image digest": lambda s: f"registry.test/app@sha256:{_sha('sha256', s)}",
    "subresource hash": lambda s: "sha512-" + base64.b64encode(s.randbytes(64)).decode(),
    "temporary path": lambda s: f"/tmp/tmp{_take(s, 'abcdefgh0123456789_', 8)}/out-{_uuid(s)}.json",
    "path": lambda s: f"/srv/src/token_store/{_take(s, LOWER, 9)}/secrets.py",
    "Windows path": lambda s: f"C:\\Users\\ann\\AppData\\Local\\keys\\{_take(s, ALNUM, 20)}.log",
    "slug": lambda s: f"task-force-{_take(s, LOWER, 9)}-risk-review-2026",
    "locale slug": lambda s: f"sk-{_take(s, LOWER, 8)}-translation-keys-v2",
    "identifier": lambda s: f"max_{_take(s, LOWER, 8)}_tokens_per_request_v3",
    "price": lambda s: f"${s.randrange(10**6):,}.{s.randrange(100):02}",
    "phone number": lambda s: f"+49 30 {s.randrange(10**7):07}",
    "time": lambda s: f"2026-0{s.randrange(1, 9)}-1{s.randrange(9)}T10:{s.randrange(10, 59)}:00Z",
    "version": lambda s: f"v{s.randrange(9)}.{s.randrange(99)}.0-rc.1+build.{_take(s, HEX, 8)}",
    "ARN": lambda s: (
        f"arn:aws:secretsmanager:eu-west-1:{_digits(s, 12)}:secret:app-{_take(s, ALNUM, 6)}"
    ),
    "e-mail address": lambda s: f"{_take(s, LOWER, 9)}.basic@auth.example.test",
    "URL": lambda s: (
        f"https://token.example.test:8443/@scope/pkg/{_uuid(s)}?page=2&key=PROJ-{s.randrange(99)}"
    ),
    "ssh URL": lambda s: f"ssh://git@code.example.test:2222/{_take(s, LOWER, 9)}.git",
    "commit link": lambda s: f"https://code.example.test/o/r/commit/{_sha('sha1', s)}#L7",
    "call id": lambda s: f"call_{_take(s, ALNUM, 24)}",
    "completion id": lambda s: f"chatcmpl-{_take(s, ALNUM, 29)}",
    "customer id": lambda s: f"cus_{_take(s, ALNUM, 14)}",
    "payment id": lambda s: f"pi_{_take(s, ALNUM, 24)}",
    "publishable key": lambda s: "pk" + f"_live_{_take(s, ALNUM, 24)}",
    "account SID": lambda s: f"AC{_take(s, HEX, 32)}",
    "node id": lambda s: base64.b64encode(f"04:User{s.randrange(10**7)}".encode()).decode(),
    "cursor": lambda s: base64.b64encode(f'{{"offset":{s.randrange(999)}}}'.encode()).decode(),
    "entity tag": lambda s: f'W/"{_take(s, HEX, 32)}"',
    "trace context": lambda s: f"00-{_take(s, HEX, 32)}-{_take(s, HEX, 16)}-01",
    "public key": lambda s: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_take(s, ALNUM, 43)} ann@host",
    "certificate": lambda s: (
        f"-----BEGIN CERTIFICATE-----\nMII{_take(s, ALNUM, 60)}\n-----END CERTIFICATE-----"
    ),
    "colour": lambda s: f"#{_take(s, HEX, 6)}",
    "letters in base64": lambda s: base64.b64encode(_take(s, LOWER + " ", 40).encode()).decode(),
    "certificate in base64": lambda s: base64.b64encode(
        f"-----BEGIN CERTIFICATE-----\nMII{_take(s, ALNUM, 60)}\n".encode()
    ).decode(),
    "text with escapes": lambda s: f"{_take(s, LOWER, 12)}%5F{_take(s, LOWER, 9)}%2D",
    "test of a name": lambda s: f"test_that_{_take(s, LOWER, 9)}_lives_in_2026_or_later",
    "client key": lambda s: f"live_{_take(s, LOWER, 12)}_streams_v2_of_the_house",
    "discount code": lambda s: f"https://shop.test/?code=SUMMER{s.randrange(99)}SALE&key=size",
    "hash in base64": lambda s: "sha256=" + base64.urlsafe_b64encode(s.randbytes(32)).decode()[:43],
    "search query": lambda s: f"basic authentication bearer of bad news {s.randrange(99)}",
}  # fmt: skip
HARMLESS_EACH = 8

# Whole messages with names that speak of secrets, or sound like it.
TRAFFIC = [
    '{"max_tokens": 4096, "page_token": "CAUQAA", "next_page_token": "abc123def456"}',
    '{"usage": {"input_tokens": 12, "output_tokens": 3, "cached_tokens": 0, "token_count": 15}}',
    '{"_meta": {"progressToken": "tok-1"}, "name": "t", "arguments": {}}',
    '{"progressToken": 7, "progress": 1, "total": 3, "message": "reading token 3 of 9"}',
    '{"author": "bob7", "secretary": "alice8", "tokenizer": "bpe50k", "keyboard": "us101"}',
    '{"key": "PROJ-1234567", "primary_key": "id12345678", "sort_key": "created_at_2"}',
    '{"secret_name": "prod-db-1", "password_hint": "dog1", "token_type": "bearer"}',
    '{"has_password": true, "password": null, "token": "", "secret": false, "otp": 0}',
    '{"api_key": "${API_KEY}", "token": "{{ token }}", "password": "<your password>"}',
    '{"authorization": "Bearer ${TOKEN}", "secret": "********", "x-api-key": "$API_KEY"}',
    '{"public_key": "abc123", "idempotency_key": "k-1", "cache_key": "u:1", "foreign_key": "f1"}',
    '{"stop_token": "</s>", "eos_token": "<|end|>", "pad_token": "[PAD]", "sep_token": "[SEP]"}',
    '{"password_policy": {"min": 8}, "reset_password_url": "https://x.test/r", "keys": ["a1"]}',
    '{"continuationToken": "eyJvZmZzZXQiOjF9", "nextToken": "AAAA1111", "syncToken": "CPDAlvW7"}',
    '{"cursor": "eyJvZmZzZXQiOjEwMH0=", "nextCursor": "b2Zmc2V0OjEw"}',
    '{"pwd": "/home/ann/project", "env": {"PWD": "/srv/app1", "HOME": "/root"}}',
    '{"text": "the password: must be at least 8 characters"}',
    '{"text": "token: the token to use\\nsecret: see section 4.2\\npassword: required"}',
    '{"text": "def login(password: str, api_key: str = None, token: Optional[str] = None):"}',
    '{"text": "api_key=os.environ[\\"API_KEY\\"], token=get_token(), secret=settings.SECRET"}',
    '{"text": "usage: srv [--token TOKEN] [--password PASSWORD]\\n  --api-key KEY  the key"}',
    '{"text": "Use --password to set it, and --token for the rest."}',
    '{"text": "if token == \\"abc\\": pass\\nconst token = req.headers.token;"}',
    '{"text": "password: process.env.DB_PASSWORD,\\n  apiKey: config.apiKey"}',
    '{"text": "interface A { password: string; token?: string; secret: Buffer }"}',
    '{"text": "self.token = token\\npassword = password or None\\nsecret = client_secret"}',
    '{"text": "access_token: <your access token>\\napiKey: YOUR_API_KEY"}',
    '{"text": "Cookies: we use cookies. cookie: chocolate chip"}',
    '{"text": "env:\\n  - name: DB_PASSWORD\\n    valueFrom: {secretKeyRef: {name: db, key: pw}}"}',
    '{"text": "password: ${{ secrets.DB_PASSWORD }}\\ntoken: $(TOKEN)"}',
    '{"text": "Authorization: required. The authorization: header is missing"}',
    '{"text": "SELECT token, password FROM users WHERE secret = ? AND key = :key"}',
    '{"text": "Bearer token required; WWW-Authenticate: Bearer error=\\"invalid_token\\""}',
    '{"text": "Basic functionality works; basically, Basic support is there"}',
    '{"text": "tokens=1024 tokens_per_second=55.2 token_limit=8000 num_tokens=12"}',
    '{"text": "curl -sS -o out.json https://x.test/a:b -H \\"Accept: text/html\\""}',
    '{"text": "secret: arn:aws:secretsmanager:eu:1:secret:x\\ntoken: /var/run/secrets/token"}',
    '{"text": "Enter your password: \\nPassword: \\npassword: ********"}',
    '{"name": "API_KEY", "required": true, "value": null, "description": "the key of the API"}',
    '{"name": "color", "value": "red1234567"}',
    '{"token": {"type": "string", "description": "A token"}, "password": {"$ref": "#/x"}}',
    '{"tokens": 812, "model": "m"}',
    '{"tokens": 90817263, "max_tokens": 4000000, "token_count": 9081726, "token": 812}',
    '{"cookie": "oat"}',
    '{"credentials": "include"}',
    '{"credentials": {"type": "service", "client_id": "a1b2c3d4e5f60718"}}',
    '{"text": "| setting | as it is |\\n| token_count | 90817263 |"}',
    '{"text": "**Password:** required\\n**Token:** see below"}',
    '{"text": "password: |\\n  ${PASSWORD}\\ntoken: >\\n  <token>"}',
    '{"text": "- name: LOG_LEVEL\\n  value: debug12345\\n"}',
    '{"text": "Username: string\\nPassword: string"}',
    '{"text": "pass: 128\\nfail: 3\\n12 pass: 100%"}',
    '{"pw": 120, "ph": 80}',
    '{"html": "<input type=\\"password\\" placeholder=\\"your password\\">"}',
    '{"text": "echo $TOKEN | docker login --password-stdin"}',
    '{"kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx", "e": "AQAB"}',
    '{"url": "http://proxy.test:8080/a/b@c"}',
    '{"tokens": ["the", "quick", "brown", "word2vec"]}',
    '{"tokens": [{"text": "Hello", "pos": "INTJ"}]}',
    '{"token": "identifier", "line": 3}',
    '{"auth": false}',
    '{"auth": "oauth2", "auth_method": "client_credentials"}',
    '{"auth": null}',
    '{"auth": {"type": "basic", "client_id": "abcdef0123456789abcdef"}}',
    '{"auth": ["read", "a1"]}',
    '{"pin": 13, "value": 1}',
    '{"pin": false, "pinned": true, "pin_count": 30000}',
    '{"text": "got {\\"pin\\": 13, \\"pin_count\\": 30000, \\"code\\": 40401} and"}',
    '{"otp_enabled": true, "otp": ""}',
    '{"code": 40401, "error_code": "12345678"}',
    '{"key": "user:42:theme", "value": "dark-mode-with-contrast"}',
    '{"key": "Control+Shift+KeyP"}',
    '{"Bucket": "logs", "Key": "2026/11/30/app-7f9c2d1b.log.gz"}',
    '{"key": "created_at", "desc": 1}',
    '{"api": "v1", "openai": {"model": "gpt-4o"}, "stripe": {"key": "acct"}}',
    '{"login.password": "Passwort", "login.forgotPassword": "Passwort vergessen?"}',
    '{"cmd": "mysql -h db -u root -p shop"}',
    '{"cmd": "mysql -P3306 --protocol=tcp"}',
    '{"cmd": "mkdir -p /srv/mysql/releases/20261130 && cp -pr a b"}',
    '{"cmd": "ssh -p 2222 d@h uptime; docker run -p 8080:80 nginx1"}',
    '{"cmd": "docker login -u ci --password-stdin r.test"}',
    '{"cmd": "zip -r a1.zip dir1 -P"}',
    '{"command": "git", "args": ["log", "-p", "abc123def"]}',
    '{"args": ["-pretty", "-a", "x1y2z3"]}',
    '{"text": "export TOKEN=${TOKEN}\\nexport API_KEY=<your-api-key>"}',
    '{"text": "The password is required. The password is stored hashed with bcrypt2."}',
    '{"text": "the secret is base64-encoded; the token is sha256-hashed; the key is id2345"}',
    '{"text": "The exit code is 137429. Your verification code was sent to b***@x.test."}',
    '{"text": "1234567 is your order number. This is your code review."}',
    '{"text": "machine learning: the password policies of machine 12 login pages"}',
    '{"text": "id,name,token_count,key\\n1,alpha1,120,north-west1\\n"}',
    '{"text": "the token, the password, a key\\nand so, on, x1y2\\n"}',
    '{"columns": ["id", "key", "token_count"], "rows": [[1, "a1b2c3d4", 3]]}',
    '{"element": "Search box", "ref": "e3", "text": "keyboard 104 keys"}',
    '{"element": "Forgot password link", "ref": "e4"}',
    '{"kind": "ConfigMap", "data": {"main": "blue-7f9c2d1b"}}',
    '{"text": "kind: ConfigMap\\ndata:\\n  main: blue-7f9c2d1b\\n---\\nkind: Secret\\nname: a\\n"}',
    '{"kind": "Secret", "metadata": {"name": "db-credentials-7f9c"}, "type": "Opaque"}',
    '{"text": "kind: Secret\\ndata:\\n  main: ${MAIN}\\n"}',
    '{"text": "The API_KEY variable is required; see API_KEY documentation-2026"}',
    '{"text": "PRIMARY_KEY aB3xK9mQ2zW7pLd4"}',
    '{"field": "password", "value": "required"}',
    '{"field": "password", "message": "too short 8"}',
    '{"field": "api_key", "val": "missing"}',
    '{"ssh_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIaB3xK9mQ2z ann@host"}',
    '{"ssh_key": "work-laptop", "deploy_key": "production"}',
    '{"ssh_key": 512189}',
    '{"text": "the password is \\"incorrect\\". The password is \'weak\'."}',
    '{"text": "the primary key is `created`; the token is `identifier`"}',
    '{"text": "s.replaceAllThePlaceholders24(a); re_compiled_pattern_of_24_words()"}',
    '{"url": "https://hooks.zapier.com/", "text": "GET /hooks/ and /hooks/pre-commit"}',
    '{"text": "width: 30%5px; 100%2 and 50%30s"}',
    '{"text": "ENV NODE_ENV production1\\nENV PATH /usr/bin1:/bin"}',
    "{\"text\": \"config.set('theme', 'dark1'); define('DB_PASSWORD', getenv('X1'))\"}",
    '{"url": "https://x.test/?key=PROJ-1234&appid=12&code=abc123"}',
]

SCHEMAS = [
    {"type": "object", "properties": {"api_key": {"type": "string"}, "token": {"type": "string"}}},
    {
        "type": "object",
        "required": ["password", "client_secret"],
        "properties": {
            "password": {"type": "string", "description": "api_key=abc123 is an example"},
            "client_secret": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "nested": {"type": "object", "properties": {"authorization": {"$ref": "#/$defs/a"}}},
        },
        "$defs": {"a": {"type": "string", "enum": ["basic", "bearer"]}, "secret": {}},
    },
    {"type": "array", "items": {"type": "object", "properties": {"cookie": True}}},
]


def harmless() -> list[Harmless]:
    """Return the look-alikes: values in several places, whole messages, schemas, images."""
    found = []
    for kind, make in VALUES.items():
        for index in range(HARMLESS_EACH):
            value = make(random.Random(f"{kind} {index}"))
            message = _HARMLESS_PLACES[index % len(_HARMLESS_PLACES)](value)
            found.append(Harmless(kind, json.dumps(message, ensure_ascii=index % 2 == 0)))
    found += [Harmless("traffic", text) for text in TRAFFIC]
    for schema in SCHEMAS:
        found.append(
            Harmless("schema", json.dumps({"tools": [{"name": "t", "inputSchema": schema}]}))
        )
        found.append(Harmless("schema", json.dumps({"requestedSchema": schema, "message": "?"})))
        found.append(Harmless("schema", json.dumps({"text": json.dumps(schema, indent=2)})))
    for size in (100, 1000, 10_000, 50_000):
        image = _png(random.Random(size), size)
        block = {"type": "image", "mimeType": "image/png", "data": image}
        found.append(Harmless("image", json.dumps({"content": [block]})))
        resource = {"uri": "file:///a.png", "mimeType": "image/png", "blob": image}
        found.append(Harmless("image", json.dumps({"contents": [resource]})))
        found.append(
            Harmless("image", json.dumps({"html": f"<img src='data:image/png;base64,{image}'>"}))
        )
    return found


_HARMLESS_PLACES: list[Callable[[str], object]] = [
    lambda value: {"id": value, "author": "ann"},
    lambda value: _text(f"Found {value} in 3 ms."),
    lambda value: _text(json.dumps({"ref": value, "key": value})),
    lambda value: {"arguments": {"q": value, "list": [value, value]}},
    lambda value: _text(f"line one\n{value}\n\tindented"),
    lambda value: {"message": f"no such object: {value}", "code": -32602},
    lambda value: _text(f"- `{value}`\n- **{value}**"),
    lambda value: {value: {"count": 1}},
]


def encodings(value: str) -> dict[str, str]:
    """Return the ways in which a known value may be written."""
    raw = value.encode()
    return {
        "raw": value,
        "percent": urllib.parse.quote(value, safe=""),
        "percent, slashes kept": urllib.parse.quote(value),
        "percent, small": re.sub("%..", lambda found: found[0].lower(), urllib.parse.quote(value)),
        "percent, twice": urllib.parse.quote(urllib.parse.quote(value, safe=""), safe=""),
        "form": urllib.parse.quote_plus(value),
        "JSON": json.dumps(value)[1:-1],
        "JSON, readable": json.dumps(value, ensure_ascii=False)[1:-1],
        "JSON, slashes escaped": json.dumps(value)[1:-1].replace("/", "\\/"),
        "JSON within JSON": json.dumps(json.dumps(value))[1:-1],
        "basic, one alignment": base64.b64encode(b"u:" + raw).decode(),
        "basic, another": base64.b64encode(b"us:" + raw).decode(),
        "basic, the third": base64.b64encode(b"usr:" + raw + b"!").decode(),
        "base64url": base64.urlsafe_b64encode(b"<<??" + raw).decode().rstrip("="),
        "HTML": value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;"),
    }
