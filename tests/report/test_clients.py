"""Agents' MCP configs, shown."""

import json

from sidecar.agents.configs.discovery import Found, Server
from sidecar.agents.configs.document import read_servers
from sidecar.agents.configs.marks import Target
from sidecar.agents.configs.wrapping import unwrap
from sidecar.report.clients import Seen, as_json, changed, difference, listed
from sidecar.store.connected import Connected
from tests.agents.configs.samples import BY_PATH, SERVE, document, plan, wrapped

TARGET = Target("record", "/p/cassettes/checkout.jsonl", "/p/.sidecar", "/p")
FOUND = Found("claude-code", "/p/.mcp.json")


def test_what_became_of_each_server_is_told() -> None:
    text = (
        '{"mcpServers": {"a": {"command": "x"}, "longer": {"url": "https://x", "oauth": {}},'
        ' "\\u001b[31m": {"url": "https://y"}}}'
    )
    first = wrapped(read_servers("/p/.mcp.json", text.encode()), plan("auto", None))
    served = wrapped(read_servers("/p/.mcp.json", text.encode()), plan(serve=SERVE))
    back = unwrap(read_servers("/p/.mcp.json", first.data))

    assert changed(first) == (
        "  a         wrapped: auto, journal only\n"
        "  longer    skipped: the client logs in to it by itself (`oauth`)\n"
        "  \\x1b[31m  wrapped: auto, journal only\n"
    )
    assert "  \\x1b[31m  wrapped: led to serve\n" in changed(served)
    assert changed(back) == (
        "  a         unwrapped\n  longer    is not wrapped\n  \\x1b[31m  unwrapped\n"
    )


def test_the_scope_of_a_projects_own_server_is_told() -> None:
    told = changed(wrapped(document(BY_PATH["/home/u/.claude.json"])))

    first, second = told.splitlines()
    assert first.endswith("checkout.jsonl (local scope of /home/u/one)")
    assert second.endswith("checkout.jsonl")


def test_a_difference_shows_no_secret_and_no_other_context_than_its_lines() -> None:
    text = """{"mcpServers": {"a": {
  "url": "https://a.example/mcp",\r
  "headers": {"X-Odd": "hunter2hunter2", "Authorization": "Bearer abcdefgh12345678"},
  "timeout": 5
}}}
"""
    change = wrapped(read_servers("/p/.mcp.json", text.encode()))

    shown = difference(change)

    lines = shown.splitlines()
    assert lines[:2] == ["--- /p/.mcp.json", "+++ /p/.mcp.json"]
    assert '-  "url": "https://a.example/mcp",' in lines
    assert '   "timeout": 5' in lines
    assert "hunter2" not in shown
    assert "abcdefgh12345678" not in shown
    assert '"MCP_SIDECAR_HEADER_1": "[REDACTED]"' in shown
    wrapped_now = read_servers("/p/.mcp.json", change.data)
    assert difference(wrapped(wrapped_now)) == ""
    back = difference(unwrap(wrapped_now))
    assert '-  "env": {"MCP_SIDECAR_HEADER_1": "[REDACTED]"' in back
    assert "hunter2" not in back


def test_x08_a_difference_hides_what_it_says_is_masked_and_shows_the_names() -> None:
    random = "q8Zx1KfPq92LmnTRwY4sd0Jh"
    text = f'{{"mcpServers": {{"s": {{"command": "x", "env": {{"RND": "{random}"}}}}}}}}'

    shown = difference(wrapped(read_servers("/p/.mcp.json", text.encode())))

    assert random not in shown
    assert '"--mask-env", "RND"' in shown
    assert shown.count('"env": {"RND": "[REDACTED]"}') == 2


def test_servers_are_listed_with_how_they_are_wrapped_and_when_they_connected() -> None:
    rows = [
        Seen(
            FOUND,
            Server("git", "project", None, "stdio", TARGET),
            Connected("2026-11-30T12:00:00.123Z"),
        ),
        Seen(FOUND, Server("new", "local", "/home/u/one", "stdio", TARGET)),
        Seen(FOUND, Server("web", "user", None, "url", is_served=True)),
        Seen(FOUND, Server("plain", "user", None, "stdio"), overridden="/p/.mcp.json"),
    ]

    shown = [line.split("  ") for line in listed(rows, width=None).splitlines()]

    cells = [[cell.strip() for cell in line if cell.strip()] for line in shown]
    assert cells == [
        ["client", "scope", "server", "sidecar", "last connected", "config"],
        [
            *("Claude Code", "project", "git", "record, checkout.jsonl", "2026-11-30 12:00:00"),
            "/p/.mcp.json",
        ],
        [
            *("Claude Code", "local", "new", "record, checkout.jsonl", "never"),
            "/p/.mcp.json (/home/u/one)",
        ],
        ["Claude Code", "user", "web", "by serve", "/p/.mcp.json"],
        ["Claude Code", "user (overridden)", "plain", "/p/.mcp.json"],
    ]


def test_a_config_is_read_by_programs() -> None:
    server = Server("git", "project", None, "stdio", TARGET)

    assert json.loads(json.dumps(as_json(FOUND, [Seen(FOUND, server, Connected("2026"))]))) == {
        "client": "claude-code",
        "path": "/p/.mcp.json",
        "problem": None,
        "servers": [
            {
                "name": "git",
                "scope": "project",
                "project": None,
                "reachedBy": "stdio",
                "wrapped": True,
                "served": False,
                "mode": "record",
                "cassette": "/p/cassettes/checkout.jsonl",
                "home": "/p/.sidecar",
                "lastConnected": "2026",
                "overriddenBy": None,
            }
        ],
    }
