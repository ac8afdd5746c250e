import base64
import random

import pytest

from sidecar.cassette.redaction import contexts
from sidecar.cassette.redaction.contexts import KINDS
from sidecar.cassette.redaction.gates import Context
from tests.cassette import secrets_corpus as corpus

AZURE = corpus.SHAPES["Azure client secret"](random.Random(1))
HOOKS = [
    corpus.RARER[f"{name} webhook"](random.Random(1)) for name in ("Zapier", "Make", "Mattermost")
]
SLACK = corpus.SHAPES["Slack webhook"](random.Random(1))
DISCORD = corpus.SHAPES["Discord webhook"](random.Random(1))
PEM = corpus.SHAPES["private key"](random.Random(1))
BASIC = base64.b64encode(b"ann:s3cret").decode()
TEAMS = "https://x.webhook.office.com/webhookb2/1-2@3-4/IncomingWebhook/" + "0a" * 16


def found(text: str) -> list[str]:
    data = text.encode()
    contexts = KINDS.found_in(data)
    assert [c for c in contexts if not any(gate in data for gate in c.gates)] == []
    return [data[span.start : span.end].decode() for c in contexts for span in c.find(data)]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        pytest.param("postgres://u:p4ss@h/db", ["p4ss"], id="URL"),
        pytest.param("redis://:p4ss@h:6379/0", ["p4ss"], id="URL without a user"),
        pytest.param("x://u:p@ss@h", ["p@ss"], id="URL with an at sign"),
        pytest.param("https:\\/\\/u:p4ss@h\\/", ["p4ss"], id="URL with escaped slashes"),
        pytest.param("a://u:p1@h b://u:p2@h", ["p1", "p2"], id="URLs"),
        pytest.param("Bearer abcdef0123456789", ["abcdef0123456789"], id="bearer"),
        pytest.param("bearer%20abcdef0123456789.", ["abcdef0123456789"], id="bearer in a URL"),
        pytest.param("BEARER\\tabcdef0123456789==", ["abcdef0123456789=="], id="bearer, escaped"),
        pytest.param(f"Basic {BASIC}", [BASIC], id="basic"),
        pytest.param(
            f"basic {BASIC.rstrip('=')},", [BASIC.rstrip("=")], id="basic without padding"
        ),
        pytest.param(f"a\n{PEM}\nb", [PEM], id="private key"),
        pytest.param(
            PEM.replace("\n", "\\n"), [PEM.replace("\n", "\\n")], id="private key in JSON"
        ),
        pytest.param(PEM + "\n\n" + PEM, [PEM, PEM], id="private keys"),
        pytest.param(PEM[:200] + '" and so on', [PEM[:200]], id="private key cut off"),
        pytest.param(SLACK, [SLACK.rpartition("/")[2]], id="Slack"),
        pytest.param(DISCORD, [DISCORD.rpartition("/")[2]], id="Discord"),
        pytest.param(TEAMS, ["0a" * 16], id="Teams"),
        pytest.param(f"x={AZURE};", [AZURE], id="Azure"),
    ],
)
def test_secrets_are_found_by_what_is_around_them(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "https://host:443/@scope/name", "https://user@host/x", "git@host:org/repo", "ann@x.test",
        "postgres://u:${PASSWORD}@h/db", "x://u:***@h", "x://u:[REDACTED:1]@h", "12:30 @ noon ://",
        "Bearer of bad news and more", "Bearer token_type_is_required", "the bearer",
        "bearers of x",
        "Basic functionality", "basic " + base64.b64encode(b"no colon in here").decode(),
        "basic " + base64.b64encode(b"\x00\x01:\x02binary").decode(), "basically AAAAAAAAAAAA",
        "basic abcdefghi",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----", "a PRIVATE KEY -",
        "-----BEGIN PUBLIC KEY-----\nabc", "https://hooks.slack.com/services/",
        "hooks and webhooks/1/2",
        "Q~" + "a" * 34, "abc1Q~short ~", "a~b", "",
    ],
)  # fmt: skip
def test_what_has_other_surroundings_is_no_secret(text: str) -> None:
    assert found(text) == []


def test_many_beginnings_of_keys_share_one_end() -> None:
    begin = PEM.partition("\n")[0]

    assert found(f"{begin} {begin} !") == [begin, begin]
    assert found(f"{begin} ! {PEM}") == [f"{begin} ! {PEM}"]


def test_every_context_is_looked_for() -> None:
    looked_for = [value for value in vars(contexts).values() if isinstance(value, Context)]
    plain = "a://u:p1@h Bearer abcdef0123456789 Basic"
    text = " ".join([plain, BASIC, PEM, SLACK, DISCORD, TEAMS, AZURE, *HOOKS])

    assert len(looked_for) == 11
    assert {id(c) for c in KINDS.found_in(text.encode())} == {id(c) for c in looked_for}
