"""What a config file is, where its path does not say."""

import pytest

from sidecar.agents.configs.detection import client_that_reads, format_of
from sidecar.errors import ConfigError

PATH = "/p/some"


@pytest.mark.parametrize(
    ("name", "text", "client"),
    [
        pytest.param("a.json", '{"mcpServers": {}}', "generic", id="mcpServers"),
        pytest.param("a.json", '{"mcpServers": [{}]}', "continue", id="a list of servers"),
        pytest.param("a.yaml", "mcpServers:\n- name: x\n", "continue", id="a list in YAML"),
        pytest.param("a.json", '{"servers": {}}', "vscode", id="servers"),
        pytest.param("a.json", '{"context_servers": {}}', "zed", id="context_servers"),
        pytest.param("a.toml", "[mcp_servers.a]\n", "codex", id="mcp_servers"),
        pytest.param("a.yml", "extensions: {}\n", "goose", id="extensions"),
        pytest.param(
            "a.json", '{"mcp": {"servers": {"a": {"command": "x"}}}}', "vscode", id="mcp.servers"
        ),
        pytest.param(
            "a.json", '{"mcp": {"a": {"command": ["x"]}}}', "opencode", id="mcp of OpenCode"
        ),
        pytest.param(
            "a.json",
            '{"mcp": {"servers": {"a": {"type": "remote"}}}}',
            "opencode",
            id="mcp.servers of OpenCode",
        ),
        pytest.param("noname", ' {"servers": {}}', "vscode", id="JSON without an ending"),
    ],
)
def test_w14_the_content_tells_the_client(name: str, text: str, client: str) -> None:
    form = format_of(f"/p/{name}", text)

    assert client_that_reads(PATH, form.parse(text), form, None).id == client


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(
            '{"mcpServers": {}, "servers": {}}',
            "could be that of generic (`mcpServers`) or vscode (`servers`)",
            id="two sections",
        ),
        pytest.param('{"a": 1}', "has no section of MCP servers", id="none"),
        pytest.param('{"extensions": {}}', "has no section of MCP servers", id="an everyday word"),
        pytest.param('{"mcp": {"allowed": []}}', "has no section of MCP servers", id="no servers"),
    ],
)
def test_w14_what_says_too_much_or_nothing_is_refused(text: str, problem: str) -> None:
    form = format_of("/p/a.json", text)

    with pytest.raises(ConfigError) as caught:
        client_that_reads(PATH, form.parse(text), form, None)

    assert problem in caught.value.problem
    assert "--client" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["servers.ini", "servers"])
def test_w14_an_unknown_format_lists_those_that_are_known(name: str) -> None:
    with pytest.raises(ConfigError, match="format is not known") as caught:
        format_of(f"/p/{name}", "x = 1")

    for known in (".jsonc", ".toml", ".yaml", "`context_servers` (Zed)", "`mcpServers` (Claude"):
        assert known in (caught.value.hint or "")
