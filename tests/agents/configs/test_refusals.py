"""Entries that stay as they are."""

import json

import pytest

from sidecar.agents.configs.document import read
from tests.agents.configs.samples import plan, wrapped

URL = "https://a.example/mcp"
UUID = "550e8400-e29b-41d4-a716-446655440000"


def reason(entry: object, *, client: str = "claude-code", serve: str | None = None) -> str:
    section = "mcp" if client == "opencode" else "mcpServers"
    found = read("/p/a.json", json.dumps({section: {"a": entry}}).encode(), client=client)
    (outcome,) = wrapped(found, plan(serve=serve)).outcomes
    assert (outcome.state == "skipped") == bool(outcome.reason)
    return outcome.reason


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        pytest.param({"command": " "}, "its command is empty", id="no command"),
        pytest.param({"command": "-x"}, "its command begins with a dash", id="a dash"),
        pytest.param(
            {"command": "/x/mcp-sidecar", "args": ["proxy", "--server", "a", "npx"]},
            "as written by hand",
            id="W11 by hand",
        ),
        pytest.param({"url": URL, "oauth": {}}, "logs in to it by itself (`oauth`)", id="OAuth"),
        pytest.param({"url": URL, "auth": "oauth"}, "logs in to it by itself (`auth`)", id="auth"),
        pytest.param({"url": URL, "args": ["x"]}, "a URL, and `args` as well", id="both"),
        pytest.param({"url": URL, "env": {"A": "b"}}, "a URL, and `env` as well", id="env"),
        pytest.param({"url": "unix:///s"}, "its URL is none of http or https", id="a socket"),
        pytest.param(
            {"url": "https://u:pw@a.example"}, "its URL holds a secret", id="a password"
        ),
        pytest.param({"url": f"{URL}?token=${{T}}"}, "its URL holds a secret", id="a token"),
        pytest.param({"url": f"{URL}?key=abc"}, "its URL holds a secret", id="a key"),
        pytest.param(
            {"url": f"{URL}/sk-proj-{'a1B2' * 8}"}, "holds what may be a secret", id="a shape"
        ),
        pytest.param(
            {"url": f"{URL}/sk-ak-{'1a2b3' * 4}/sse"}, "holds what may be a secret", id="an unknown"
        ),
        pytest.param(
            {"url": "https://a.example/s/NzM4ZmE0ZTctMjQ5Yy00YjY1LWI1/mcp"},
            "holds what may be a secret",
            id="an opaque segment",
        ),
        pytest.param(
            {"url": f"{URL}/{UUID}/sse"}, "holds what may be a secret", id="an id that opens"
        ),
        pytest.param(
            {"url": f"{URL}/x%2Fy?u={UUID}"}, "holds what may be a secret", id="as a parameter"
        ),
        pytest.param(
            {"url": f"{URL}/${{API_KEY}}"}, "the variable `API_KEY`, a secret", id="a variable"
        ),
        pytest.param(
            {"url": URL, "headers": {"A": 1}}, "its header 'A' is no text", id="a number"
        ),
        pytest.param({"url": URL, "headers": []}, "its `headers` cannot be moved", id="a list"),
        pytest.param({"url": URL, "headersHelper": "x"}, "makes headers of its", id="a helper"),
    ],
)  # fmt: skip
def test_what_the_sidecar_could_not_do_as_the_client_does_is_left_alone(
    entry: object, why: str
) -> None:
    assert why in reason(entry)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"url": URL, "oauth": False}, id="no OAuth"),
        pytest.param({"url": f"{URL}?page_token=1&x=${{X}}"}, id="a harmless parameter"),
        pytest.param({"url": "${BASE}/mcp"}, id="a variable"),
        pytest.param({"url": "https://a.example/v1/teams/my-long-team-2024/mcp"}, id="a path"),
        pytest.param({"url": "https://a.example/getUserProfileInformationV2"}, id="a name"),
        pytest.param({"url": URL, "env": {}}, id="no variable"),
        pytest.param({"url": URL, "requestOptions": {"timeout": 5, "headers": {}}}, id="no header"),
        pytest.param({"url": URL, "note": "needs a token", "trust": True}, id="a note"),
    ],
)
def test_what_only_looks_so_is_wrapped(entry: object) -> None:
    assert reason(entry) == ""


@pytest.mark.parametrize(
    ("members", "name"),
    [
        pytest.param(
            {"requestOptions": {"headers": {"A": "b"}}}, "requestOptions.headers", id="Continue"
        ),
        pytest.param(
            {"requestInit": {"headers": {"A": "b"}}}, "requestInit.headers", id="of fetch"
        ),
        pytest.param({"http_headers": {"A": "b"}}, "http_headers", id="Codex's elsewhere"),
        pytest.param({"bearerToken": "t"}, "bearerToken", id="a token"),
        pytest.param({"apiKey": "k"}, "apiKey", id="a key"),
        pytest.param({"x": [{"authorization": "b"}]}, "x.authorization", id="in a list"),
        pytest.param({"x": "Authorization: Bearer abcdef12345"}, "x", id="by what it says"),
    ],
)
@pytest.mark.parametrize("client", ["continue", "claude-code", "generic"])
def test_w13_a_member_that_may_authenticate_is_never_dropped(
    client: str, members: dict[str, object], name: str
) -> None:
    entry = {"type": "streamable-http", "url": URL, **members}

    assert reason(entry, client=client) == (
        f"its `{name}` may say how to authenticate, and would be lost: use --via-serve"
    )
    assert reason(entry, client=client, serve="http://127.0.0.1:1") == ""


@pytest.mark.parametrize(
    ("client", "value", "is_moved"),
    [
        pytest.param("claude-code", "${T}", True, id="replaced in both places"),
        pytest.param("vscode", "${input:t}", True, id="VS Code"),
        pytest.param("cline", "${T}", True, id="replaced in neither"),
        pytest.param("generic", "${T}", False, id="nobody knows"),
        pytest.param("generic", "{env:T}", False, id="nobody knows OpenCode's either"),
        pytest.param("generic", "plain", True, id="no variable"),
    ],
)
def test_w13_a_header_is_moved_only_where_its_variables_are_replaced_alike(
    client: str, value: str, *, is_moved: bool
) -> None:
    section = "servers" if client == "vscode" else "mcpServers"
    entry = {"url": URL, "headers": {"X-Key": value}}
    found = read("/p/a.json", json.dumps({section: {"a": entry}}).encode(), client=client)

    (outcome,) = wrapped(found).outcomes

    assert (outcome.state == "wrapped") == is_moved
    assert is_moved or "holds a variable" in outcome.reason


def test_w13_words_of_ours_that_would_be_taken_for_variables_are_refused() -> None:
    found = read("/p/a.json", b'{"mcpServers": {"${x}": {"command": "y"}}}', client="claude-code")

    (outcome,) = wrapped(found).outcomes

    assert outcome.reason == "Claude Code would take a part of '${x}' for a variable"
    goose = read("/p/a.yaml", b"extensions: {$x: {cmd: y}}", client="goose")
    assert [one.state for one in wrapped(goose).outcomes] == ["wrapped"]


def test_a_server_without_a_name_is_left_alone() -> None:
    found = read("/p/a.json", b'{"mcpServers": {"": {"command": "y"}}}', client="claude-code")

    assert [one.reason for one in wrapped(found).outcomes] == ["it has no name"]


def test_by_way_of_serve_headers_and_secrets_stay_where_they_are_but_a_login_does_not() -> None:
    serve = "http://127.0.0.1:1"

    assert reason({"url": f"{URL}?token=x", "headersHelper": "h"}, serve=serve) == ""
    assert (
        reason({"type": "remote", "url": URL, "oauth": False}, client="opencode", serve=serve) == ""
    )
    assert "logs in" in reason({"url": URL, "oauth": {}}, serve=serve)
    assert "none of http" in reason({"url": "unix:///s"}, serve=serve)


@pytest.mark.parametrize(
    ("client", "url", "is_refused"),
    [
        pytest.param("vscode", "https://${input:host}/mcp", True, id="an input"),
        pytest.param("cursor", f"{URL}/${{workspaceFolder}}${{input:x}}", True, id="two"),
        pytest.param("gemini", "https://$HOST/mcp", False, id="without braces"),
        pytest.param("opencode", "https://{env:HOST}/mcp", False, id="OpenCode"),
        pytest.param("opencode", "https://{file:host}/mcp", True, id="a file"),
        pytest.param("continue", "https://${{ secrets.HOST }}/mcp", True, id="a secret"),
        pytest.param("vscode", "https://${env:HOST}/mcp", False, id="of the environment"),
        pytest.param("claude-code", "https://${HOST:-a.example}/mcp", False, id="with a default"),
        pytest.param("cline", "https://a.example/$x", False, id="a client that replaces nothing"),
    ],
)
def test_w13_by_way_of_serve_a_url_that_only_the_client_could_fill_in_is_left_alone(
    client: str, url: str, *, is_refused: bool
) -> None:
    section = {"vscode": "servers", "opencode": "mcp"}.get(client, "mcpServers")
    kind = {"type": "remote"} if client == "opencode" else {}
    entry = {**kind, "url": url, "headers": {"Authorization": "Bearer ${input:token}"}}
    found = read("/p/a.json", json.dumps({section: {"a": entry}}).encode(), client=client)

    (outcome,) = wrapped(found, plan(serve="http://127.0.0.1:1")).outcomes

    assert (outcome.state == "skipped") == is_refused
    assert ("a variable that only" in outcome.reason) == is_refused
