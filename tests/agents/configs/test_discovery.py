"""Finding the configs of a machine."""

import json
from pathlib import Path

from sidecar.agents.configs.discovery import Found, Server, find, is_remote, overriding
from sidecar.agents.configs.locations import Machine
from sidecar.agents.configs.marks import Target
from tests.agents.configs.samples import BY_PATH, SERVE, document, plan, wrapped


def placed(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def found_in(tmp_path: Path) -> list[Found]:
    machine = Machine(tmp_path / "home", tmp_path / "project", {}, "linux")
    return list(find(machine))


def test_e09_the_servers_of_every_scope_are_found_wrapped_or_not(tmp_path: Path) -> None:
    claude = BY_PATH["/home/u/.claude.json"]
    half = wrapped(document(BY_PATH["/home/u/.codeium/windsurf/mcp_config.json"]))
    files = [
        placed(tmp_path, "project/.mcp.json", '{"mcpServers": {"db": {"command": "x"}}}'),
        placed(tmp_path, "home/.claude.json", claude.text),
        placed(tmp_path, "home/.codeium/windsurf/mcp_config.json", half.text),
    ]
    target = Target("record", "/p/cassettes/checkout.jsonl", "/p/.sidecar", "/p")

    assert found_in(tmp_path) == [
        Found("claude-code", files[0], (Server("db", "project", None, "stdio"),)),
        Found(
            "claude-code",
            files[1],
            (
                Server("db", "local", "/home/u/one", "stdio"),
                Server("db", "user", None, "stdio"),
            ),
        ),
        Found(
            "windsurf",
            files[2],
            (
                Server("git", "user", None, "stdio", target),
                Server("web", "user", None, "url", target),
            ),
        ),
    ]


def test_a_broken_config_is_found_with_what_is_wrong_and_one_without_servers_is_not(
    tmp_path: Path,
) -> None:
    broken = placed(tmp_path, "project/.mcp.json", '{"mcpServers": {,}}')
    placed(tmp_path, "project/.vscode/settings.json", '{"editor.fontSize": 13}')
    placed(tmp_path, "home/.cursor/mcp.json", '{"mcpServers": {}}')
    (tmp_path / "home" / ".gemini").mkdir()
    (tmp_path / "home" / ".gemini" / "settings.json").symlink_to("nowhere")

    first, second = found_in(tmp_path)

    assert (first.client, first.path, first.servers) == ("claude-code", broken, ())
    assert first.problem.startswith(f"{broken}:1:17: the config is no JSON")
    assert first.title == "Claude Code"
    assert "symbolic link" in second.problem


def test_a_server_that_is_led_to_serve_is_wrapped_and_one_of_the_clients_own_is_not(
    tmp_path: Path,
) -> None:
    sample = BY_PATH["/home/u/.config/zed/settings.json"]
    served = wrapped(document(sample), plan(serve=SERVE)).text
    placed(tmp_path, "home/.config/zed/settings.json", served)

    (found,) = found_in(tmp_path)

    assert [(one.name, one.how, one.is_served, one.is_wrapped) for one in found.servers] == [
        ("new", "stdio", False, True),
        ("older", "stdio", False, True),
        ("extension", "client", False, False),
        ("web", "url", True, True),
    ]


def test_e09_of_servers_of_one_name_that_of_the_nearest_scope_counts() -> None:
    def server(scope: str, project: str | None = None) -> Server:
        return Server("db", scope, project, "stdio")

    local, elsewhere, users = server("local", "/p"), server("local", "/q"), server("user")
    other = Server("other", "user", None, "stdio")
    found = [
        Found("claude-code", "/p/.mcp.json", (server("project"),)),
        Found("claude-code", "/h/.claude.json", (local, elsewhere, users, other)),
        Found("windsurf", "/h/w.json", (server("project"), users)),
    ]

    assert overriding(found, "/p") == {
        ("/p/.mcp.json", server("project")): "/h/.claude.json",
        ("/h/.claude.json", users): "/h/.claude.json",
    }
    assert overriding(found, "/other") == {("/h/.claude.json", users): "/p/.mcp.json"}


def test_a_url_with_or_without_headers_is_known() -> None:
    entries = {
        "a": {"command": "x"},
        "b": {"url": "https://x"},
        "c": {"url": "https://x", "headers": {}},
        "d": 1,
    }
    sample = BY_PATH["/p/.mcp.json"]
    read = document(sample, json.dumps({"mcpServers": entries}))

    bare, with_headers = (
        [entry.name for entry in read.entries if is_remote(read, entry, with_headers=headers)]
        for headers in (False, True)
    )

    assert (bare, with_headers) == (["b"], ["c"])
