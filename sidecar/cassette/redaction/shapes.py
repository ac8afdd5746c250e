"""Secrets that are known by their own shape, whatever is around them: issuers' tokens, keys.

A token of a known issuer begins with a mark of its own (`ghp_`, `AKIA`, `xoxb-`); it is
one where a word begins, and where what follows is long and mixed enough. No rule looks
at entropy alone: hashes, UUIDs, ULIDs, slugs and base64 content are no secrets.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from collections.abc import Iterable, Iterator

from sidecar.cassette.redaction.gates import places
from sidecar.cassette.redaction.lazy_patterns import compiled
from sidecar.cassette.redaction.masking import Span
from sidecar.wire.typed import NamedTuple


class Shape(NamedTuple):
    """One kind of token.

    Attributes:
        issuer: Who gives such tokens out, and of which kind.
        marks: What it begins with, one of these.
        body: What follows the mark, as a regular expression.
    """

    issuer: str
    marks: tuple[bytes, ...]
    body: bytes


_W = rb"[A-Za-z0-9_-]"
_A = rb"[A-Za-z0-9]"
# Not words and numbers only: `sk-proj-kickoff-2026-notes`.
_NO_SLUG = rb"(?!(?:[a-z]+|[0-9]+)(?:[_-](?:[a-z]+|[0-9]+))+(?![A-Za-z0-9_-]))"
_MIXED = rb"(?=[\w-]{0,99}[0-9])(?=[\w-]{0,99}[A-Z])(?=[\w-]{0,99}[a-z])"
_NO_BASE64 = rb"(?<!\+EAA)(?<!\+EAAA)"  # the middle of other content
_UUID = rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_AUTHRESS = (
    rb"[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}"
)
_GITLAB = (
    b"glpat-", b"gldt-", b"glrt-", b"glrtr-", b"glptt-", b"glcbt-", b"glft-", b"glsoat-",
    b"glimt-", b"glagent-", b"gloas-", b"glffct-",
)  # fmt: skip
_STRIPE = (b"sk_live_", b"sk_test_", b"sk_prod_", b"rk_live_", b"rk_test_", b"rk_prod_")
_SK = (
    b"sk-ant-", b"sk-proj-", b"sk-svcacct-", b"sk-admin-", b"sk-None-", b"sk-or-", b"sk-lf-",
)  # fmt: skip
_DYNATRACE = (
    b"dt0c01.", b"dt0s01.", b"dt0s02.", b"dt0s03.", b"dt0s04.", b"dt0s06.", b"dt0s08.", b"dt0s09.",
    b"dt0s16.", b"dt0a01.",
)  # fmt: skip
_HUBSPOT = (b"pat-na1-", b"pat-na2-", b"pat-na3-", b"pat-eu1-", b"pat-ap1-")
# A Discord token begins with a number in base64.
_DISCORD = (b"MD", b"MT", b"Mj", b"Mz", b"ND", b"NT", b"Nj", b"Nz", b"OD", b"OT")

TOKENS = (
    Shape("AWS access key", (b"AKIA", b"ASIA", b"ABIA", b"ACCA"), rb"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape("GCP API key", (b"AIza",), _W + rb"{35}"),
    Shape("GCP OAuth", (b"ya29.", b"GOCSPX-"), _W + rb"{20,}[A-Za-z0-9_.-]*"),
    Shape("GitHub", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), _A + rb"{30,}"),
    Shape("GitHub, fine-grained", (b"github_pat_",), rb"[A-Za-z0-9_]{40,}"),
    Shape("GitLab", _GITLAB, _NO_SLUG + _W + rb"{18,}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?"),
    Shape("Slack", (b"xoxb-", b"xoxp-", b"xoxa-", b"xoxr-", b"xoxs-", b"xoxo-"), _W + rb"{16,}"),
    Shape("Slack, client", (b"xoxc-", b"xoxd-"), rb"[A-Za-z0-9_%+/=-]{16,}"),
    Shape("Slack, rotated", (b"xoxe-", b"xoxe."), rb"[A-Za-z0-9_.-]{16,}"),
    Shape("Slack app", (b"xapp-",), _W + rb"{20,}"),
    Shape("Stripe", _STRIPE, rb"(?=[A-Za-z]{0,99}[0-9])" + _A + rb"{12,}"),
    Shape("Stripe or Svix webhook", (b"whsec_",), rb"(?:[A-Za-z0-9+]|\\*/){20,}=*"),
    Shape("OpenAI, Anthropic, OpenRouter, Langfuse", _SK, _NO_SLUG + _W + rb"{16,}"),
    Shape("of this form", (b"sk-live-", b"sk-test-", b"sk-prod-"), _NO_SLUG + _W + rb"{10,}"),
    Shape("OpenAI, DeepSeek", (b"sk-",), _A + rb"{17,}"),
    Shape("npm", (b"npm_",), _A + rb"{30,}"),
    Shape("PyPI", (b"pypi-",), rb"AgE" + _W + rb"{40,}"),
    Shape("Hugging Face", (b"hf_",), _A + rb"{30,}"),
    Shape("SendGrid", (b"SG.",), _W + rb"{16,32}\." + _W + rb"{16,64}"),
    Shape("Twilio key", (b"SK",), rb"[0-9a-f]{32}(?![A-Za-z0-9])"),
    Shape("DigitalOcean", (b"dop_v1_", b"doo_v1_", b"dor_v1_"), rb"[0-9a-f]{40,}"),
    Shape("Shopify", (b"shpat_", b"shpca_", b"shppa_", b"shpss_"), rb"[0-9a-fA-F]{32}"),
    Shape("Mailgun", (b"key-",), rb"[0-9a-f]{32}(?![A-Za-z0-9-])"),
    Shape("Databricks", (b"dapi",), rb"[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    Shape("Vault", (b"hvs.", b"hvb.", b"hvr."), _W + rb"{20,}"),
    Shape("Docker Hub", (b"dckr_pat_", b"dckr_oat_"), _W + rb"{20,}"),
    Shape("Atlassian", (b"ATATT3", b"ATCTT3", b"ATBB"), rb"(?=\w*[0-9])[\w=-]{24,}"),
    Shape("Linear", (b"lin_api_", b"lin_oauth_"), _A + rb"{32,}"),
    Shape("Notion", (b"ntn_", b"secret_"), _A + rb"{40,}"),
    Shape("Figma", (b"figd_",), _W + rb"{32,}"),
    Shape("Groq", (b"gsk_",), _A + rb"{40,}"),
    Shape("xAI", (b"xai-",), _A + rb"{60,}"),
    Shape("Perplexity", (b"pplx-",), _A + rb"{40,}"),
    Shape("Replicate", (b"r8_",), _A + rb"{32,}"),
    Shape("LangSmith", (b"lsv2_pt_", b"lsv2_sk_"), rb"[0-9a-f]{32}_[0-9a-f]{10}"),
    Shape("Tavily", (b"tvly-",), rb"[A-Za-z0-9-]{28,}"),
    Shape("Postman", (b"PMAK-",), rb"[0-9a-f]{24}-[0-9a-f]{34}"),
    Shape("New Relic", (b"NRAK-",), rb"[A-Z0-9]{27}"),
    Shape("Grafana", (b"glsa_", b"glc_"), rb"[A-Za-z0-9_+/]{32,}=*"),
    Shape("Sentry", (b"sntrys_", b"sntryu_"), rb"[A-Za-z0-9_+/]{40,}=*"),
    Shape("Pulumi", (b"pul-",), rb"[0-9a-f]{40}"),
    Shape("RubyGems", (b"rubygems_",), rb"[0-9a-f]{48}"),
    Shape("Supabase", (b"sbp_", b"sb_secret_"), _W + rb"{30,}"),
    Shape("Square", (b"sq0atp-", b"sq0csp-"), _W + rb"{22,}"),
    Shape("Square, access", (b"EAAA",), _NO_BASE64 + _MIXED + _W + rb"{60}(?![\w+/=-])"),
    Shape("Facebook", (b"EAA",), _NO_BASE64 + _MIXED + _A + rb"{90,400}(?![\w+/=-])"),
    Shape("Fly.io", (b"fm2_",), rb"(?:[A-Za-z0-9+=-]|\\*/){40,4096}"),
    Shape("Fly.io, older", (b"fo1_",), _W + rb"{40,}"),
    Shape("CircleCI", (b"CCIPAT_", b"CCIPRJ_"), rb"[A-Za-z0-9]{16,32}_[0-9a-f]{40}"),
    Shape("PlanetScale", (b"pscale_pw_", b"pscale_tkn_", b"pscale_oauth_"), _W + rb"{32,}"),
    Shape("Heroku", (b"HRKU-",), _W + rb"{36,}"),
    Shape("Contentful", (b"CFPAT-",), _W + rb"{40,}"),
    Shape("Shippo", (b"shippo_live_", b"shippo_test_"), rb"[0-9a-fA-F]{40}"),
    Shape("NVIDIA", (b"nvapi-",), _W + rb"{60,}"),
    Shape("1Password service", (b"ops_eyJ",), rb"(?:[A-Za-z0-9+_-]|\\*/){80,8192}=*"),
    Shape("1Password", (b"A3-",), rb"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}(?![\w-])"),
    Shape("Mapbox", (b"sk.eyJ",), _W + rb"{20,}\." + _W + rb"{20,}"),
    Shape("Firecrawl", (b"fc-",), rb"[0-9a-f]{32}(?![\w-])"),
    Shape("Brave", (b"BSA",), _NO_SLUG + _MIXED + _W + rb"{28}(?![\w-])"),
    Shape("Plaid", (b"access-production-", b"access-sandbox-", b"access-development-"), _UUID),
    Shape("Doppler", (b"dp.pt.", b"dp.st.", b"dp.sa."), rb"[A-Za-z0-9._-]{40,}"),
    Shape("Airtable", (b"pat",), _A + rb"{14}\.[0-9a-f]{64}"),
    Shape("age", (b"AGE-SECRET-KEY-1",), rb"[A-Z0-9]{50,}"),
    Shape("Adobe", (b"p8e-",), rb"[a-zA-Z0-9]{32}(?![\w-])"),
    Shape("Alibaba access key", (b"LTAI",), rb"(?=[A-Za-z]{0,24}[0-9])[A-Za-z0-9]{16,24}(?![\w-])"),
    Shape("Apify", (b"apify_api_",), _A + rb"{30,}"),
    Shape("Artifactory", (b"AKCp",), _MIXED + _A + rb"{60,80}(?![\w-])"),
    Shape("Artifactory, reference", (b"cmVmdGtuO",), _A + rb"{40,80}(?![\w+/-])"),
    Shape("Authress", (b"sc_", b"ext_", b"scauth_", b"authress_"), _AUTHRESS),
    Shape("Brevo", (b"xkeysib-", b"xsmtpsib-"), rb"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Shape("Buildkite", (b"bkua_",), rb"[0-9a-f]{40}"),
    Shape("Cerebras", (b"csk-",), rb"[a-z0-9]{40,}"),
    Shape("ClickHouse", (b"4b1d",), _MIXED + _A + rb"{38}(?![\w-])"),
    Shape("Clojars", (b"CLOJARS_",), rb"[0-9a-z]{50,}"),
    Shape("Cloudflare", (b"cfk_", b"cfut_", b"cfat_"), _A + rb"{40,}"),
    Shape("Cloudflare, origin", (b"v1.0-",), rb"[0-9a-f]{24}-[0-9a-f]{140,160}"),
    Shape("Defined Networking", (b"dnkey-",), _W + rb"{26}-" + _W + rb"{52}"),
    Shape("Dropbox", (b"sl.",), rb"(?:u\.)?" + _W + rb"{100,}"),
    Shape("Duffel", (b"duffel_live_", b"duffel_test_"), _W + rb"{40,}"),
    Shape("Dynatrace", _DYNATRACE, rb"[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{60,}"),
    Shape("E2B", (b"e2b_",), rb"[0-9a-f]{40}"),
    Shape("EasyPost", (b"EZAK", b"EZTK"), _A + rb"{54}(?![\w-])"),
    Shape("Flutterwave", (b"FLWSECK_TEST-", b"FLWSECK-"), rb"[0-9a-z]{12,}(?:-X)?"),
    Shape("Frame.io", (b"fio-u-",), _W + rb"{60,}"),
    Shape("GitLab runner registration", (b"GR1348941",), _MIXED + _W + rb"{20}"),
    Shape("GoCardless, Lob", (b"live_",), rb"(?:[0-9a-f]{35}|" + _MIXED + _W + rb"{40})(?![\w-])"),
    Shape("Lob, test", (b"test_",), rb"[0-9a-f]{35}(?![\w-])"),
    Shape("Grafana, older", (b"eyJrIjoi",), rb"[A-Za-z0-9+/]{60,400}={0,2}(?![\w./-])"),
    Shape("Harness", (b"pat.", b"sat."), _W + rb"{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    Shape("HubSpot", _HUBSPOT, _UUID),
    Shape("Hugging Face, organization", (b"api_org_",), rb"[A-Za-z]{30,}"),
    Shape("Infracost", (b"ico-",), _MIXED + _A + rb"{32}(?![\w-])"),
    Shape("Intra 42", (b"s-s4t2ud-", b"s-s4t2af-"), rb"[0-9a-f]{64}"),
    Shape("LlamaCloud", (b"llx-",), _A + rb"{40,}"),
    Shape("New Relic, ingest", (b"NRII-", b"NRIQ-"), rb"(?=[\w-]{0,99}[0-9])[\w-]{32}(?![\w-])"),
    Shape("Octopus Deploy", (b"API-",), rb"(?=[A-Z]*[0-9])[A-Z0-9]{26}(?![\w-])"),
    Shape("Pinecone", (b"pcsk_",), _W + rb"{40,}"),
    Shape("Prefect", (b"pnu_", b"pnb_"), _A + rb"{36}(?!\w)"),
    Shape("ReadMe", (b"rdme_",), rb"[a-z0-9]{60,}"),
    Shape("Resend", (b"re_",), _MIXED + rb"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![\w-])"),
    Shape("Scalingo", (b"tk-us-",), _NO_SLUG + _W + rb"{48}"),
    Shape("SettleMint", (b"sm_aat_", b"sm_pat_", b"sm_sat_"), _A + rb"{16}(?![\w-])"),
    Shape("Sourcegraph", (b"sgp_",), rb"(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}(?!\w)"),
    Shape("Tailscale", (b"tskey-auth-", b"tskey-api-"), _NO_SLUG + _W + rb"{20,}"),
    Shape("Typeform", (b"tfp_",), rb"[\w.=-]{40,}"),
    Shape("Vault, older", (b"s.",), _MIXED + _A + rb"{24}(?![\w.(-])"),
    Shape("X bearer", (b"A" * 22,), rb"[A-Za-z0-9%]{8,64}%3D[A-Za-z0-9]{40,}"),
    Shape("Yandex key", (b"AQVN",), _MIXED + _W + rb"{35,38}(?![\w-])"),
    Shape("Yandex token", (b"t1.", b"y0_"), rb"(?:[\w-]+={0,2}\.)?[\w-]{50,}={0,2}"),
    Shape("JWT", (b"eyJ",), rb"[\w-]{8,}\.[\w-]{8,}\.[\w-]*(?:\.[\w-]+\.[\w-]+)?"),
    Shape("Discord bot", _DISCORD, rb"[\w-]{21,26}\.[\w-]{6}\.[\w-]{27,}"),
    Shape("Telegram bot", (b"AA",), rb"(?<=:AA)" + _W + rb"{33}(?![\w-])"),
)

# A token is looked for where a run of at least 20 of these begins.
_RUN_CHARS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LONG_RUN = b"1" * 20
_SHORT_BYTES = 32768  # of a shorter text, a search is quicker
_TO_BITS = bytes(b"01"[byte in _RUN_CHARS] for byte in range(256))
BROKEN = (b"whsec_", b"fm2_")
"""Marks of tokens whose first run may be shorter: `+` and `/` may come early in it."""

# What may be written before a token without a space, and be part of its run: an escaped
# line end, a percent-encoded sign, a colour of a terminal; and Markdown's underscores.
_LEADS = frozenset(b"\\%[;")
_EDGES = frozenset(b"_.-")
_LEAD = (
    rb"(?:\\+(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[nrtbfv0])|%(?:25)*[0-9A-Fa-f]{2}"
    rb"|[\[;][0-9;]*m|[\[;\\%])?[_.-]*"
)

_MIN_DISTINCT = 6  # bytes; `ghp_xxxx` in a manual has fewer
_MARK_BYTES = 2

# What tokens and private keys begin with in base64; what follows it there tells.
_IN_BASE64 = Shape("any, in base64", (
    b"Z2hwX", b"Z2hvX", b"Z2h1X", b"Z2hzX", b"Z2l0aHViX3Bhd", b"Z2xwYXQt", b"c2stYW50L",
    b"c2stcHJva", b"c2tfbGl2ZV", b"c2tfdGVzdF", b"cmtfbGl2ZV", b"eG94Yi", b"eG94cC", b"QUtJQ",
    b"QVNJQ", b"QUl6Y",
    b"eWEyOS", b"ZXlK", b"bnBtX", b"cHlwaS1BZ0V", b"aGZf", b"U0cu", b"ZG9wX3YxX", b"ZGNrcl9wYXRf",
    b"aHZzL", b"Z3Nr", b"bGluX2FwaV", b"LS0tLS1CRUdJTi",
), rb"[A-Za-z0-9+/_-]{20,8192}={0,2}")  # fmt: skip

_BY_PAIR: dict[bytes, list[tuple[bytes, Shape]]] = {}
for _shape in (*TOKENS, _IN_BASE64):
    for _mark in _shape.marks:
        _BY_PAIR.setdefault(_mark[:_MARK_BYTES], []).append((_mark, _shape))
# A run is worth a look if one of these is its first byte, or a lead is before it.
_PROMISING = frozenset(pair[0] for pair in _BY_PAIR) | _LEADS | _EDGES
_TO_PROMISING = bytes(b"01"[byte in _PROMISING] for byte in range(256))
_MANY = 20000  # runs; then to sort them out is quicker than to look at each


def tokens_in(data: bytes) -> list[Span]:
    """Find the tokens of known issuers in a text's UTF-8 bytes.

    The text may be JSON: a token may be behind an escaped line end there.
    """
    likely = [*_likely(data), *places(data, *BROKEN)]
    tokens = [token for at in sorted(set(likely)) if (token := _token(data, at))] if likely else []
    return [part for token in tokens for part in (token, *_rest(data, token))] if tokens else tokens


def places_of(tokens: Iterable[bytes], data: bytes) -> Iterator[Span]:
    """Find every place of tokens that are known."""
    held = (token for token in tokens if token in data)  # few of many are in any one text
    return (Span(at, at + len(token)) for token in held for at in places(data, token))


def _likely(data: bytes) -> Iterator[int]:
    """Find where a token may begin: at a long run, or behind what leads into one."""
    for at in _long_runs(data):
        if data[at : at + _MARK_BYTES] in _BY_PAIR:
            yield at
        lead = at and data[at - 1] in _LEADS
        if lead or data[at] in _EDGES:
            found = compiled(_LEAD).match(data, at - 1 if lead else at)
            if found and found.end() != at:
                yield found.end()


def _long_runs(data: bytes) -> Iterator[int]:
    """Find where runs of at least 20 bytes begin.

    All places are looked at together: the text becomes one integer, a bit a byte, and a
    shift lays each byte over its neighbour. That is ten operations, whatever the text is; a
    search for the runs, or for each mark, takes several times as long on 5 MB.
    """
    if len(data) < _SHORT_BYTES:
        yield from _few_long_runs(data)
        return
    ones = _bits(data, _TO_BITS)
    twos = ones & ones << 1  # bits where two bytes of a run begin; and so on
    fours = twos & twos << 2
    eights = fours & fours << 4
    twenties = eights & eights << 8 & fours << 16
    starts = twenties & ~(ones >> 1)
    if starts.bit_count() > _MANY:
        promising = _bits(data, _TO_PROMISING)
        starts &= promising | promising >> 1
    if starts:
        yield from places(f"{starts:0{len(data)}b}".encode(), b"1")


def _few_long_runs(data: bytes) -> Iterator[int]:
    runs = data.translate(_TO_BITS)
    at = runs.find(_LONG_RUN)
    while at >= 0:
        yield at
        end = runs.find(b"0", at)
        at = runs.find(_LONG_RUN, end) if end >= 0 else -1


def _bits(data: bytes, table: bytes) -> int:
    return int(data.translate(table) or b"0", 2)


def _token(data: bytes, at: int) -> Span | None:
    for mark, shape in _BY_PAIR.get(data[at : at + _MARK_BYTES], ()):
        if data.startswith(mark, at):
            body = compiled(shape.body).match(data, at + len(mark))
            if body and len(set(body[0])) >= _MIN_DISTINCT:
                found = Span(at, body.end())
                if shape is not _IN_BASE64 or _holds_token(data[at : body.end()]):
                    return found
    return None


# How long tokens of fixed length are, by their marks.
_CHARS = ((b"github_pat_", 93), (b"sk-ant-api03-", 108), (b"sk-ant-admin01-", 108))
_REST = rb"(?:\\+r|\r)?(?:\\+n|\n)[ \t]{0,16}([A-Za-z0-9_-]{12,90})(?![A-Za-z0-9_-])"


def _rest(data: bytes, token: Span) -> Iterator[Span]:
    """Find the rest of a long token on the next line, if it makes it as long as they are."""
    for mark, chars in _CHARS:
        if data.startswith(mark, token.start) and token.end - token.start < chars:
            rest = compiled(_REST).match(data, token.end)
            if rest and token.end - token.start + len(rest[1]) == chars:
                yield Span(*rest.span(1))


def _holds_token(encoded: bytes) -> bool:
    """Tell whether base64 is that of a token or of a private key, and of nothing before it."""
    body = encoded.translate(_TO_STANDARD).rstrip(b"=")
    try:
        decoded = a2b_base64(body + b"=" * (-len(body) % 4))
    except Error:
        return False
    if decoded.startswith(b"-----BEGIN "):
        return b"PRIVATE KEY" in decoded
    return _token(decoded, 0) is not None


_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
